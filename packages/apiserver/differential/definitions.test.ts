import { apply, definitions, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { definition, isEstablished, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const text = { type: 'string' };
const plain = { properties: { spec: { type: 'object', properties: { a: text } } } };

play(pair, 'definitions are made, served and discovered', () => {
  const group = `${uniqueName('g')}.example.com`;
  const made = definition(group, {
    versions: [version('v1', plain, { subresources: { status: {} } })],
    names: { shortNames: ['w'], categories: ['all'] },
  });
  const at = `${definitions}/${made.metadata.name}`;
  return [
    post(definitions, made, { silent: true }),
    get(at, { until: isEstablished }),
    get(`/apis/${group}/v1/widgets`, { until: ({ status }) => status === 200 }),
    get(`/apis/${group}/v1`, { until: ({ status }) => status === 200 }),
    get(`/apis/${group}`, { until: ({ status }) => status === 200 }),
    post(definitions, made),
    get(`/apis/${group}/v2`),
    get(`/apis/${group}/v1/nopes`),
    merge(at, { metadata: { labels: { a: 'b' } } }),
    merge(at, { spec: { scope: 'Cluster' } }),
    merge(at, { spec: { group: 'x.example.com' } }),
    merge(at, { spec: { names: { kind: 'Gadget' } } }),
    merge(at, { spec: { versions: [] } }),
    put(at, made),
    get(`${at}/status`),
    apply(`${at}?fieldManager=x`, { ...made, metadata: { ...made.metadata, annotations: { x: 'y' } } }),
    remove(at, undefined, { silent: true }),
    get(at, { until: ({ status }) => status === 404 }),
    get(`/apis/${group}/v1/widgets`, { until: ({ status }) => status === 404 }),
    get(`/apis/${group}`, { until: ({ status }) => status === 404 }),
    remove(at),
  ];
});

play(pair, 'definitions that are warned about', () => {
  const group = `${uniqueName('g')}.example.com`;
  const of = (formats: readonly string[], pattern?: string) => {
    const entries = formats.map((format, index) => [`p${index}`, { ...text, format, pattern }]);
    const properties = Object.fromEntries(entries);
    return definition(group, { versions: [version('v1', { properties })] });
  };
  const at = `${definitions}/widgets.${group}`;
  return [
    post(`${definitions}?dryRun=All`, of(['foo', 'date', 'foo'])),
    post(`${definitions}?dryRun=All`, of(['date'])),
    post(definitions, of(['foo']), { silent: true }),
    get(at, { until: isEstablished }),
    merge(`${at}?dryRun=All`, { spec: of(['foo']).spec }),
    merge(`${at}?dryRun=All`, { spec: of(['foo', 'bar']).spec }),
    merge(`${at}/status?dryRun=All`, { metadata: { labels: { a: 'b' } } }),
    ...['(?=a)', '(a)\\1', '[z-a]', 'a**', 'a{1001}', '\\p{Foo}', '(?<n', '\\', '(?i)^[[:alpha:]]+$'].map((pattern) =>
      post(`${definitions}?dryRun=All`, of(['date'], pattern)),
    ),
    remove(at, undefined, { silent: true }),
  ];
});

play(pair, 'definitions that are refused', () => {
  const group = `${uniqueName('g')}.example.com`;
  const dry = `${definitions}?dryRun=All`;
  const of = (schema: object, more: object = {}) =>
    post(dry, definition(group, { versions: [version('v1', schema, more)] }));
  const field = (schema: object) => of({ properties: { spec: { type: 'object', properties: { a: schema } } } });
  return [
    post(dry, definition(group)),
    post(dry, { ...definition(group, { versions: [version('v1', plain)] }), metadata: { name: 'wrong' } }),
    post(dry, definition('nodots', { versions: [version('v1', plain)] })),
    post(dry, definition(group, { plural: 'Bad', versions: [version('v1', plain)] })),
    post(dry, definition(group, { versions: [version('v1', plain), version('v2', plain)] })),
    post(dry, definition(group, { versions: [version('v1', plain), version('v1', plain, { storage: false })] })),
    of({ type: 'array' }),
    of({ properties: { metadata: { type: 'object', properties: { labels: { type: 'object' } } } } }),
    of(plain, { subresources: { scale: { specReplicasPath: 'spec.x', statusReplicasPath: '.status.y' } } }),
    of(plain, { selectableFields: [{ jsonPath: '.spec.none' }] }),
    of(plain, { additionalPrinterColumns: [{ name: '', type: 'nope', jsonPath: 'x' }] }),
    of(plain, { name: 'V1' }),
    field({}),
    field({ type: 'nope' }),
    field({ type: 'array' }),
    field({ type: 'string', default: 5 }),
    field({ type: 'string', pattern: '(' }),
    field({ type: 'object', properties: { a: text }, additionalProperties: text }),
    field({ type: 'array', items: text, 'x-kubernetes-list-type': 'nope' }),
    field({ type: 'array', items: { type: 'object' }, 'x-kubernetes-list-type': 'map' }),
    field({ type: 'array', items: text, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] }),
    field({ type: 'object', 'x-kubernetes-embedded-resource': true }),
    field({ $ref: '#/x' }),
    field({ type: 'string', nullable: true, uniqueItems: true }),
    field({ anyOf: [{ type: 'string' }, { type: 'integer' }] }),
    field({ type: 'integer', enum: ['a'] }),
    field({ type: 5 }),
    field({ type: 'string', unknown: 1 }),
  ];
});

play(pair, 'definitions that change, and several versions', () => {
  const ns = uniqueName('n');
  const group = `${uniqueName('g')}.example.com`;
  const second = { properties: { spec: { type: 'object', properties: { a: text, b: { ...text, default: 'two' } } } } };
  const made = definition(group, {
    versions: [
      version('v1', plain),
      version('v2', second, { storage: false }),
      version('v3', plain, { storage: false, served: false }),
    ],
  });
  const at = `${definitions}/${made.metadata.name}`;
  const all = (v: string) => `/apis/${group}/${v}/namespaces/${ns}/widgets`;
  const widget = (v: string, name: string, spec: object) => ({
    apiVersion: `${group}/${v}`,
    kind: 'Widget',
    metadata: { name },
    spec,
  });
  const third = {
    properties: { spec: { type: 'object', required: ['c'], properties: { a: text, c: { type: 'integer' } } } },
  };
  return [
    post(namespaces, namespace(ns)),
    ...served(made),
    get(`/apis/${group}/v2/widgets`, { until: ({ status }) => status === 200, silent: true }),
    get(`/apis/${group}`, { until: ({ status, body }) => status === 200 && body.versions.length === 2 }),
    get(`/apis/${group}/v1`),
    get(`/apis/${group}/v2`, { until: ({ status }) => status === 200 }),
    post(all('v1'), widget('v1', 'a', { a: '1', b: '2' })),
    post(all('v2'), widget('v2', 'b', { a: '1', b: '2' })),
    post(all('v2'), widget('v2', 'c', { a: '1' })),
    post(all('v3'), widget('v3', 'd', {})),
    post(all('v1'), widget('v2', 'e', {})),
    get(`${all('v1')}/b`),
    get(`${all('v2')}/a`),
    get(all('v1')),
    get(all('v2')),
    merge(`${all('v1')}/a`, { spec: { a: 'x' } }),
    apply(`${all('v1')}/a?fieldManager=one`, widget('v1', 'a', { a: 'y' })),
    apply(`${all('v1')}/a?fieldManager=one&force=1`, widget('v1', 'a', { a: 'y' })),
    apply(`${all('v2')}/a?fieldManager=two`, widget('v2', 'a', { a: 'z' })),
    apply(`${all('v2')}/a?fieldManager=one`, widget('v2', 'a', { a: 'z' })),
    merge(at, { spec: { versions: [version('v1', third)] } }),
    get(at, { until: isEstablished, silent: true }),
    merge(
      at,
      { spec: { versions: [version('v1', third), version('v2', second, { storage: false })] } },
      { silent: true },
    ),
    // The new schema is in force when what it does not know is dropped.
    post(`${all('v1')}?dryRun=All`, widget('v1', 'probe', { a: '1' }), { until: ({ status }) => status === 422 }),
    get(`${all('v1')}/b`),
    merge(`${all('v1')}/b`, { metadata: { labels: { x: 'y' } } }),
    post(all('v1'), widget('v1', 'f', { c: 1, b: 'gone' })),
  ];
});
