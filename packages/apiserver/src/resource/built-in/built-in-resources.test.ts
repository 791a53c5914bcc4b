import { expect, test } from 'vitest';
import { builtInGroupVersions } from './built-in-resources.js';

const all = builtInGroupVersions();
const find = (group: string, version: string, plural: string) =>
  all.find((gv) => gv.group === group && gv.version === version)?.resources.find((r) => r.plural === plural);

test('lists the core group first, and the preferred version of each group first', () => {
  expect(all[0]).toMatchObject({ group: '', version: 'v1', servedByDefault: true });
  expect(all.filter((gv) => gv.group === 'autoscaling').map((gv) => gv.version)).toEqual(['v2', 'v1']);
});

test('serves alpha and beta versions on request only', () => {
  const off = all.filter((gv) => !gv.servedByDefault).map((gv) => `${gv.group}/${gv.version}`);
  expect(off).toContain('resource.k8s.io/v1beta1');
  expect(off.every((gv) => /\/v\d+(alpha|beta)\d+$/.test(gv))).toBe(true);
  expect(all.filter((gv) => gv.servedByDefault)).toHaveLength(22);
});

test('a resource with all its properties', () => {
  const pods = find('', 'v1', 'pods');
  expect(pods).toMatchObject({
    kind: 'Pod',
    singular: 'pod',
    namespaced: true,
    shortNames: ['po'],
    categories: ['all'],
    verbs: ['create', 'delete', 'deletecollection', 'get', 'list', 'patch', 'update', 'watch'],
    storageVersionHash: 'xPOwRZ+Yhw8=',
    storageKey: '/pods',
  });
  expect(pods?.subresources).toContainEqual({
    name: 'status',
    group: '',
    version: 'v1',
    kind: 'Pod',
    verbs: ['get', 'patch', 'update'],
  });
  expect(pods?.subresources).toContainEqual({
    name: 'eviction',
    group: 'policy',
    version: 'v1',
    kind: 'Eviction',
    verbs: ['create'],
  });
});

test('a subresource of another group and version', () => {
  expect(find('apps', 'v1', 'deployments')?.subresources[0]).toEqual({
    name: 'scale',
    group: 'autoscaling',
    version: 'v1',
    kind: 'Scale',
    verbs: ['get', 'patch', 'update'],
  });
});

test('versions of one resource share their storage, and so do the two groups of events', () => {
  expect(find('autoscaling', 'v1', 'horizontalpodautoscalers')?.storageKey).toBe(
    'autoscaling/horizontalpodautoscalers',
  );
  expect(find('autoscaling', 'v2', 'horizontalpodautoscalers')?.storageKey).toBe(
    'autoscaling/horizontalpodautoscalers',
  );
  expect(find('events.k8s.io', 'v1', 'events')?.storageKey).toBe(find('', 'v1', 'events')?.storageKey);
});

test('resources that are not stored have no hash', () => {
  expect(find('authorization.k8s.io', 'v1', 'subjectaccessreviews')).toMatchObject({
    verbs: ['create'],
    storageVersionHash: undefined,
    namespaced: false,
  });
});
