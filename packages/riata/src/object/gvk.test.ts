import { describe, expect, test } from 'vitest';
import {
  apiVersionOf,
  equalGvk,
  equalGvr,
  formatGroupKind,
  formatGroupResource,
  formatGvk,
  formatGvr,
  gvkOf,
  parseApiVersion,
  parseGroupKind,
  parseGroupResource,
  parseKindArg,
  parseResourceArg,
  setGvk,
  splitApiVersion,
} from './gvk.js';
import { lossOf, markLossy } from './value/lossy.js';

describe('apiVersion', () => {
  test.each([
    ['v1', { group: '', version: 'v1' }],
    ['apps/v1', { group: 'apps', version: 'v1' }],
    ['a.b.example.com/v1beta1', { group: 'a.b.example.com', version: 'v1beta1' }],
    ['', { group: '', version: '' }],
    ['/', { group: '', version: '' }],
    ['apps/', { group: 'apps', version: '' }],
    ['/v1', { group: '', version: 'v1' }],
  ])('%j is read', (text, expected) => {
    expect(parseApiVersion(text)).toEqual(expected);
  });

  test.each(['a/b/c', '//', 'apps/v1/'])('%j has too many slashes', (text) => {
    expect(() => parseApiVersion(text)).toThrow(`apiVersion "${text}" has more than one slash`);
  });

  test('is written back', () => {
    for (const text of ['v1', 'apps/v1']) expect(apiVersionOf(parseApiVersion(text))).toBe(text);
  });
});

describe('gvkOf and setGvk', () => {
  const pod = Object.freeze({ kind: 'Pod', apiVersion: 'v1', metadata: { name: 'a' }, spec: {} });

  test('reads the kind of an object', () => {
    expect(gvkOf(pod)).toEqual({ group: '', version: 'v1', kind: 'Pod' });
    expect(gvkOf({ apiVersion: 'apps/v1', kind: 'Deployment' })).toEqual({
      group: 'apps',
      version: 'v1',
      kind: 'Deployment',
    });
    expect(gvkOf({})).toEqual({ group: '', version: '', kind: '' });
    expect(() => gvkOf({ apiVersion: 'a/b/c', kind: 'X' })).toThrow('more than one slash');
  });

  test('a kind is set in place, the input stays', () => {
    const set = setGvk(pod, { group: 'apps', version: 'v1', kind: 'Deployment' });
    expect(Object.entries(set)).toEqual([
      ['kind', 'Deployment'],
      ['apiVersion', 'apps/v1'],
      ['metadata', pod.metadata],
      ['spec', pod.spec],
    ]);
    expect(set.metadata).toBe(pod.metadata);
    expect(pod.kind).toBe('Pod');
  });

  test('a missing kind comes first', () => {
    const set = setGvk({ metadata: {}, kind: 'Old' }, { group: '', version: 'v1', kind: 'Pod' });
    expect(JSON.stringify(set)).toBe('{"apiVersion":"v1","kind":"Pod","metadata":{}}');
  });

  test('undefined clears', () => {
    const cleared = setGvk(pod, undefined);
    expect(Object.keys(cleared)).toEqual(['metadata', 'spec']);
    expect(gvkOf(cleared as object)).toEqual({ group: '', version: '', kind: '' });
  });

  test('hostile keys are data, and what is lost stays known', () => {
    const hostile = JSON.parse('{"apiVersion":"v1","kind":"Pod","__proto__":{"x":1}}') as { apiVersion: string };
    markLossy(hostile, 'metadata-only');
    for (const copy of [setGvk(hostile, { group: '', version: 'v2', kind: 'Pod' }), setGvk(hostile, undefined)]) {
      expect(Object.hasOwn(copy, '__proto__')).toBe(true);
      expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
      expect(lossOf(copy)).toEqual(lossOf(hostile));
    }
  });
});

describe('text forms', () => {
  test('print', () => {
    expect(formatGvk({ group: 'apps', version: 'v1', kind: 'Deployment' })).toBe('apps/v1, Kind=Deployment');
    expect(formatGvk({ group: '', version: 'v1', kind: 'Pod' })).toBe('/v1, Kind=Pod');
    expect(formatGvr({ group: 'apps', version: 'v1', resource: 'deployments' })).toBe('apps/v1, Resource=deployments');
    expect(formatGroupKind({ group: 'apps', kind: 'Deployment' })).toBe('Deployment.apps');
    expect(formatGroupKind({ group: '', kind: 'Pod' })).toBe('Pod');
    expect(formatGroupResource({ group: 'a.b', resource: 'foos' })).toBe('foos.a.b');
    expect(formatGroupResource({ group: '', resource: 'pods' })).toBe('pods');
  });

  test('parse', () => {
    expect(parseGroupKind('Foo.a.b')).toEqual({ group: 'a.b', kind: 'Foo' });
    expect(parseGroupKind('Pod')).toEqual({ group: '', kind: 'Pod' });
    expect(parseGroupResource('foos.a.b')).toEqual({ group: 'a.b', resource: 'foos' });
    expect(parseGroupResource('')).toEqual({ group: '', resource: '' });
  });

  test('what people type has two readings when it has two dots', () => {
    expect(parseResourceArg('deployments.v1.apps')).toEqual({
      gvr: { group: 'apps', version: 'v1', resource: 'deployments' },
      groupResource: { group: 'v1.apps', resource: 'deployments' },
    });
    expect(parseResourceArg('foos.v1.example.com').gvr).toEqual({
      group: 'example.com',
      version: 'v1',
      resource: 'foos',
    });
    expect(parseResourceArg('deployments.apps')).toEqual({ groupResource: { group: 'apps', resource: 'deployments' } });
    expect(parseResourceArg('pods.v1.')).toEqual({
      gvr: { group: '', version: 'v1', resource: 'pods' },
      groupResource: { group: 'v1.', resource: 'pods' },
    });
    expect(parseKindArg('Deployment.v1.apps').gvk).toEqual({ group: 'apps', version: 'v1', kind: 'Deployment' });
    expect(parseKindArg('Pod')).toEqual({ groupKind: { group: '', kind: 'Pod' } });
  });
});

test('equality looks at every part', () => {
  const gvk = { group: 'a', version: 'v1', kind: 'K' };
  const gvr = { group: 'a', version: 'v1', resource: 'ks' };
  expect(equalGvk(gvk, { ...gvk })).toBe(true);
  expect(equalGvr(gvr, { ...gvr })).toBe(true);
  for (const other of [{ group: 'b' }, { version: 'v2' }, { kind: 'L' }]) {
    expect(equalGvk(gvk, { ...gvk, ...other })).toBe(false);
  }
  for (const other of [{ group: 'b' }, { version: 'v2' }, { resource: 'ls' }]) {
    expect(equalGvr(gvr, { ...gvr, ...other })).toBe(false);
  }
});

test('splitApiVersion never fails', () => {
  expect(['apps/v1', 'v1', '', 'a/b/c'].map(splitApiVersion)).toEqual([
    { group: 'apps', version: 'v1' },
    { group: '', version: 'v1' },
    { group: '', version: '' },
    { group: 'a', version: 'b/c' },
  ]);
});
