import { expect, test } from 'vitest';
import type { Pod } from '../../kinds/index.js';
import { formatFieldPath, rootPath, stepsOf, valueAtPath } from './field-path.js';

const path = rootPath<Pod>();
const text = (given: unknown): string => formatFieldPath(stepsOf(given) ?? ['none']);

test('paths are written as Kubernetes does', () => {
  expect(text(path.spec.nodeName)).toBe('spec.nodeName');
  expect(text(path.spec.containers[0]?.name)).toBe('spec.containers[0].name');
  expect(text(path.spec.containers.index(12).ports.index(0))).toBe('spec.containers[12].ports[0]');
  expect(text(path.metadata.labels.key('app'))).toBe('metadata.labels[app]');
  expect(text(path.metadata.labels['app.kubernetes.io/name'])).toBe('metadata.labels[app.kubernetes.io/name]');
  expect(text(path.metadata.annotations.app)).toBe('metadata.annotations[app]');
  expect(text(path.spec.nodeSelector.key('disk'))).toBe('spec.nodeSelector[disk]');
  expect(text(path)).toBe('');
});

test('fields may have the names of the methods', () => {
  const selector = rootPath<{ readonly key: string; readonly index: { readonly key: number } }>();
  expect(text(selector.key)).toBe('key');
  expect(text(selector.index.key)).toBe('index.key');
});

test('only what is a path passes for one', () => {
  for (const other of [undefined, null, 'spec', {}, () => {}]) expect(stepsOf(other)).toBeUndefined();
  expect(() => (path.spec as unknown as () => void)()).toThrow('spec is not a function; use path.list.index(0)');
});

test('a path finds its value, and nothing that is inherited', () => {
  const pod = { spec: { containers: [{ name: 'web' }] }, metadata: { labels: { 'a/b': 'c' } } };
  expect(valueAtPath(pod, stepsOf(path.spec.containers.index(0).name) ?? [])).toBe('web');
  expect(valueAtPath(pod, stepsOf(path.metadata.labels.key('a/b')) ?? [])).toBe('c');
  expect(valueAtPath(pod, stepsOf(path.metadata.labels.key('toString')) ?? [])).toBeUndefined();
  expect(valueAtPath(pod, stepsOf(path.status.phase) ?? [])).toBeUndefined();
});
