import { expect, test } from 'vitest';
import { mergeVersion2 } from './merge-version2.js';

const gvk = (kind: string) => ({ 'x-kubernetes-group-version-kind': [{ group: 'x', version: 'v1', kind }] });
const ref = (name: string) => ({ $ref: `#/definitions/${name}` });
const own = {
  swagger: '2.0',
  paths: { '/api/v1/pods': { get: { schema: ref('Meta') } } },
  definitions: { Meta: { type: 'object', properties: { name: { type: 'string' } }, ...gvk('A') }, Other: {} },
};

test('takes the paths of a version, and what they use', () => {
  const document = {
    paths: {
      '/apis/x/v1/things': { get: { schema: ref('Thing'), parameters: [{ $ref: '#/parameters/limit' }] } },
      '/apis/x/v2/things': { get: { schema: ref('Unused') } },
    },
    definitions: { Thing: { properties: { part: ref('Part') } }, Part: { type: 'string' }, Unused: {}, Orphan: {} },
    parameters: { limit: { name: 'limit' } },
  };
  const { paths, definitions, parameters } = mergeVersion2(own, [{ prefix: '/apis/x/v1/', document }]);
  expect(Object.keys(paths as object)).toEqual(['/api/v1/pods', '/apis/x/v1/things']);
  expect(Object.keys(definitions as object)).toEqual(['Meta', 'Other', 'Thing', 'Part', 'Orphan']);
  expect(parameters).toEqual({ limit: { name: 'limit' } });
});

test('definitions that differ by their words are one, others are renamed', () => {
  const used = (...names: readonly string[]) => ({ '/apis/x/v1/things': { get: { schemas: names.map(ref) } } });
  const same = { type: 'object', properties: { name: { type: 'string', description: 'Its name.' } }, ...gvk('B') };
  const document = { paths: used('Meta', 'Other'), definitions: { Meta: same, Other: { type: 'string' } } };
  const once = mergeVersion2(own, [{ prefix: '/apis/x/v1/', document }]);
  expect(once).toMatchObject({
    paths: used('Meta', 'Other_v2'),
    definitions: {
      Meta: { 'x-kubernetes-group-version-kind': [{ kind: 'A' }, { kind: 'B' }] },
      Other: {},
      Other_v2: { type: 'string' },
    },
  });
  const again = { ...document, paths: { '/apis/x/v2/things': { get: ref('Other') } } };
  const both = mergeVersion2(once, [{ prefix: '/apis/x/v2/', document: again }]);
  expect(both.paths).toMatchObject({ '/apis/x/v2/things': { get: ref('Other_v2') } });
  const third = { ...again, definitions: { Other: { type: 'integer' } }, paths: { '/apis/x/v3/y': ref('Other') } };
  expect(mergeVersion2(both, [{ prefix: '/apis/x/v3/', document: third }]).definitions).toMatchObject({
    Other_v3: { type: 'integer' },
  });
});

test('paths that are known stay as they are', () => {
  const document = { paths: { '/api/v1/pods': { get: {} } } };
  expect(mergeVersion2(own, [{ prefix: '/api/v1/', document }])).toBe(own);
});
