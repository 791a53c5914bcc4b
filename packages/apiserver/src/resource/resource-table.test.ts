import './kind-parts.fixture.js';
import { describe, expect, test } from 'vitest';
import { builtInResources } from './built-in/built-in-resource.js';
import type { Resource } from './resource.js';
import { ServedResources } from './resource-table.js';

const builtIn = builtInResources();
const model = builtIn.find(({ plural }) => plural === 'configmaps') as Resource;
const custom = (group: string, version: string, plural: string): Resource => ({ ...model, group, version, plural });

describe('the table of resources', () => {
  test('lists built-in resources, the core group first', () => {
    const table = new ServedResources(builtIn);
    expect(table.groups()[0]).toEqual({ name: '', versions: ['v1'], custom: false });
    expect(table.group('autoscaling')?.versions).toEqual(['v2', 'v1']);
    expect(table.find('', 'v1', 'configmaps')).toBe(model);
    expect(table.find('', 'v2', 'configmaps')).toBeUndefined();
    const names = table.resources('', 'v1').map(({ plural }) => plural);
    expect(names).toEqual([...names].sort());
  });

  test('adds and removes custom resources, and counts the changes', () => {
    const table = new ServedResources(builtIn);
    const before = table.generation;
    table.setCustom('foos.b.example', [custom('b.example', 'v1beta1', 'foos'), custom('b.example', 'v2', 'foos')]);
    table.setCustom('bars.a.example', [custom('a.example', 'v1', 'bars')]);
    expect(table.generation).toBe(before + 2);
    expect(table.groups().slice(-2)).toEqual([
      { name: 'a.example', versions: ['v1'], custom: true },
      { name: 'b.example', versions: ['v2', 'v1beta1'], custom: true },
    ]);
    table.setCustom('foos.b.example', [custom('b.example', 'v2', 'foos')]);
    expect(table.group('b.example')?.versions).toEqual(['v2']);
    table.setCustom('foos.b.example', []);
    expect([table.group('b.example'), table.find('b.example', 'v2', 'foos')]).toEqual([undefined, undefined]);
    const { generation } = table;
    table.setCustom('foos.b.example', []);
    expect(table.generation).toBe(generation);
  });

  test('never replaces built-in resources', () => {
    const table = new ServedResources(builtIn);
    table.setCustom('x', [custom('', 'v1', 'configmaps'), custom('apps', 'v1', 'foos')]);
    expect(table.find('', 'v1', 'configmaps')).toBe(model);
    expect(table.group('apps')?.custom).toBe(false);
    expect(table.find('apps', 'v1', 'foos')).toBeDefined();
  });
});
