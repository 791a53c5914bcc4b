import type { KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import type { RunState } from '../run/run-result.js';
import { normaliseState } from './normalise-state.js';
import { textDiff } from './text-diff.js';

const state = (objects: readonly object[], uids: Record<string, string> = {}): RunState => ({
  objects: objects as readonly KubeObject[],
  ...{ uids: new Map(Object.entries(uids)), isCreated: () => true, world: undefined },
});

const page = (suffix: string, uid: string, time: string) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    namespace: 'default',
    generateName: 'page-',
    name: `page-${suffix}`,
    uid,
    creationTimestamp: time,
    resourceVersion: uid,
  },
  data: { self: `http://page-${suffix}/`, since: time },
});

test('uids, versions, times and generated names do not matter', () => {
  const one = normaliseState(state([page('abc12', '1', '2026-01-01T00:00:00Z')]));
  const other = normaliseState(state([page('xyz98', '2', '2026-02-02T00:00:00Z')]));
  expect([...one.keys()]).toEqual(['ConfigMap default/page-<1>']);
  expect(one).toEqual(other);
});

test('a uid within a name does not matter', () => {
  const volume = (uid: string) => {
    const claim = {
      apiVersion: 'v1',
      kind: 'Claim',
      metadata: { name: 'web', uid },
      spec: { volumeName: `pvc-${uid}` },
    };
    const made = { apiVersion: 'v1', kind: 'Volume', metadata: { name: `pvc-${uid}`, uid: `v${uid}` } };
    return normaliseState(state([claim, made], { [uid]: 'Claim web' }));
  };
  const one = volume('778cc496-70ca-4b76-b2f4-c0038dc23ca8');
  expect([...one.keys()]).toEqual(['Claim web', 'Volume pvc-<uid of Claim web>']);
  expect(volume('2db7fa4e-4cc7-41b6-8c31-bec99cce35c7')).toEqual(one);
});

test('an owner that is gone matters, and so does an outdated observedGeneration', () => {
  const owned = (uid: string) => ({
    ...{
      apiVersion: 'v1',
      kind: 'ConfigMap',
      metadata: { name: 'a', uid: '9', ownerReferences: [{ name: 'o', uid }] },
    },
  });
  const owner = { apiVersion: 'v1', kind: 'Site', metadata: { name: 'o', uid: '1', generation: 2 } };
  const uids = { 1: 'Site o', 2: 'Site o' };
  const textOf = (uid: string) => normaliseState(state([owner, owned(uid)], uids)).get('ConfigMap a');
  expect(textOf('1')).toContain('<uid of Site o>');
  expect(textOf('2')).toContain('<uid of the deleted Site o>');
  const seen = (observedGeneration: number) =>
    normaliseState(state([{ ...owner, status: { observedGeneration } }])).get('Site o');
  expect([seen(2), seen(1)]).toEqual([
    expect.stringContaining('<the newest>'),
    expect.stringContaining('<an older one>'),
  ]);
});

test('a diff shows the lines that differ and their neighbours', () => {
  expect(textDiff('a\nb\nc\nd', 'a\nb\nx\nd')).toBe('  b\n- c\n+ x\n  d');
  expect(textDiff('', 'a')).toBe('+ a');
});
