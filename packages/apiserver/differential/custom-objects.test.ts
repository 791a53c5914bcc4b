import { apply, eventsOf, get, jsonPatch, merge, namespace, namespaces, post, put, remove, strategic } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const text = { type: 'string' };
const whole = { type: 'integer' };

const spec = {
  type: 'object',
  properties: {
    text: { ...text, default: 'none' },
    number: { type: 'integer', minimum: 1, maximum: 10 },
    float: { type: 'number', exclusiveMinimum: true, minimum: 0 },
    choice: { ...text, enum: ['a', 'b'] },
    pattern: { ...text, pattern: '^[a-z]+$', maxLength: 5, minLength: 2 },
    either: { 'x-kubernetes-int-or-string': true },
    nullable: { ...text, nullable: true, default: 'given' },
    nested: { type: 'object', required: ['must'], properties: { must: text, opt: { ...whole, default: 7 } } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
    map: { type: 'object', additionalProperties: whole, maxProperties: 2 },
    atomic: { type: 'array', items: text, maxItems: 3 },
    set: { type: 'array', items: text, 'x-kubernetes-list-type': 'set' },
    keyed: {
      type: 'array',
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['k'],
      items: { type: 'object', required: ['k'], properties: { k: text, v: whole, d: { ...text, default: 'x' } } },
    },
    embedded: { type: 'object', 'x-kubernetes-embedded-resource': true, 'x-kubernetes-preserve-unknown-fields': true },
    date: { ...text, format: 'date-time' },
    replicas: whole,
    atomicMap: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: text, b: text } },
    anyOf: { ...whole, anyOf: [{ minimum: 10 }, { maximum: 2 }] },
    bool: { type: 'boolean' },
  },
};
const status = {
  type: 'object',
  properties: { replicas: whole, selector: text, phase: text, deep: { type: 'object', properties: { a: text } } },
};

function widgets(options: { readonly status?: boolean } = {}) {
  const ns = uniqueName('w');
  const group = `${uniqueName('g')}.example.com`;
  const scale = {
    specReplicasPath: '.spec.replicas',
    statusReplicasPath: '.status.replicas',
    labelSelectorPath: '.status.selector',
  };
  const subresources = options.status === false ? {} : { subresources: { status: {}, scale } };
  const selectableFields = [{ jsonPath: '.spec.text' }, { jsonPath: '.spec.replicas' }, { jsonPath: '.spec.bool' }];
  const made = definition(group, {
    versions: [version('v1', { properties: { spec, status } }, { ...subresources, selectableFields })],
    names: { shortNames: ['wi'], categories: ['all', 'things'] },
  });
  const kind = { apiVersion: `${group}/v1`, kind: 'Widget' };
  const widget = (name: string, specOf: object = {}, more: object = {}) => ({
    ...kind,
    metadata: { name },
    spec: specOf,
    ...more,
  });
  return {
    ...{ ns, group, kind, widget },
    all: `/apis/${group}/v1/namespaces/${ns}/widgets`,
    begin: [post(namespaces, namespace(ns)), ...served(made)],
  };
}

play(pair, 'custom objects are made, read, changed and deleted', () => {
  const { ns, group, kind, widget, all, begin } = widgets();
  const a = `${all}/a`;
  return [
    ...begin,
    post(all, widget('a', { number: 5 }), { as: 'a' }),
    post(all, widget('a')),
    get(a),
    get(`${all}/none`),
    put(a, widget('a', { number: 6 })),
    (past) =>
      put(
        a,
        { ...widget('a', { number: 6 }), metadata: { name: 'a', resourceVersion: past.revision('a') } },
        { as: 'a2' },
      ),
    (past) => put(a, { ...widget('a', { number: 6 }), metadata: { name: 'a', resourceVersion: past.revision('a') } }),
    (past) => put(a, { ...widget('a', { number: 6 }), metadata: { name: 'a', resourceVersion: past.revision('a2') } }),
    (past) => put(a, { ...widget('b', {}), metadata: { name: 'b', resourceVersion: past.revision('a2') } }),
    put(`${all}/none`, widget('none')),
    post(all, { metadata: { name: 'no-kind' } }),
    post(all, { ...kind, metadata: {} }),
    post(all, { ...kind }),
    post(all, { ...kind, metadata: { generateName: 'gen-' } }),
    post(all, { ...kind, kind: 'Gadget', metadata: { name: 'x' } }),
    post(all, { ...kind, apiVersion: `${group}/v2`, metadata: { name: 'x' } }),
    post(all, widget('Bad Name')),
    post(all, { ...widget('x'), metadata: { name: 'x', labels: { a: 5 } } }),
    post(all, { ...widget('x'), metadata: { name: 'x', labels: 'a' } }),
    post(all, { ...widget('x'), metadata: 'x' }),
    post(all, { ...widget('x'), metadata: { name: 'x', nope: 1 } }),
    post(`${all}?fieldValidation=Strict`, { ...widget('y', { nope: 1, nested: { must: 'x', zip: 2 } }), other: 1 }),
    post(`${all}?fieldValidation=Warn`, { ...widget('y', { nope: 1, nested: { must: 'x', zip: 2 } }), other: 1 }),
    post(`${all}?fieldValidation=Ignore`, { ...widget('z', { nope: 1 }), other: 1 }),
    post(all, `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"d"},"spec":{"number":1,"number":2}}`),
    post(
      `${all}?fieldValidation=Strict`,
      `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"e"},"spec":{"number":1,"number":2,"x":1}}`,
    ),
    post(`${all}?dryRun=All`, widget('dry')),
    // Nulls in lists: kept when an object is sent, dropped from what a merge patch brings.
    post(all, widget('null', { free: { l: [{ a: null, b: 1 }], o: { z: null } } })),
    merge(`${all}/null`, { spec: { free: { m: [{ a: null, b: 1 }, null, [null, { c: null }]] } } }),
    merge(`${all}/null`, { spec: { free: { l: [{ a: null }], o: { y: null, x: { q: null, r: [{ s: null }] } } } } }),
    post(`/apis/${group}/v1/namespaces/no-such/widgets`, widget('a')),
    post(all, { ...widget('fin'), metadata: { name: 'fin', finalizers: ['example.com/a', 'plain'] } }),
    remove(`${all}/fin`),
    jsonPatch(`${all}/fin`, [{ op: 'remove', path: '/metadata/finalizers' }]),
    get(`${all}/fin`),
    remove(a),
    remove(a),
    get(all),
    get(`/apis/${group}/v1/widgets`),
    get(`/apis/${group}/v1/namespaces/${ns}/gadgets`),
    get(`${a}/nope`),
    remove(all),
    get(all),
  ];
});

play(pair, 'custom objects that do not fit their schema', () => {
  const { widget, all, begin } = widgets();
  const specs: object[] = [
    { text: 5 },
    { text: null },
    { number: 0 },
    { number: 11 },
    { number: 1.5 },
    { number: '5' },
    { number: 1e3 },
    { float: 0 },
    { float: 0.5 },
    { choice: 'c' },
    { choice: 5 },
    { pattern: 'A' },
    { pattern: 'abcdef' },
    { pattern: 'a' },
    { either: 5 },
    { either: 'x' },
    { either: true },
    { either: 1.5 },
    { nullable: null },
    { nullable: 5 },
    { nested: {} },
    { nested: null },
    { nested: 'x' },
    { nested: [] },
    { nested: { must: 'x' } },
    { nested: { must: 'x', opt: null } },
    { nested: { opt: 'x', zip: 1 } },
    { free: { a: { b: [1, null, 'x'] } } },
    { free: 'x' },
    { free: { a: null } },
    { map: { a: 1, b: 2 } },
    { map: { a: 'x' } },
    { map: { a: 1, b: 2, c: 3 } },
    { map: { a: null } },
    { atomic: ['a', 'b'] },
    { atomic: ['a', 5] },
    { atomic: ['a', null] },
    { atomic: ['a', 'b', 'c', 'd'] },
    { atomic: 'x' },
    { set: ['a', 'b'] },
    { set: ['a', 'a'] },
    { keyed: [{ k: 'a' }, { k: 'b', v: 1 }] },
    { keyed: [{ k: 'a' }, { k: 'a', v: 1 }] },
    { keyed: [{ v: 1 }] },
    { keyed: [null] },
    { embedded: {} },
    { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { any: 1 } } },
    { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'X X', labels: { a: 1 } } } },
    { embedded: { apiVersion: 'a/b/c', kind: 'P_d', metadata: { nope: 1 } } },
    { embedded: 'x' },
    { date: 'x' },
    { date: '2020-01-01T00:00:00Z' },
    { anyOf: 5 },
    { anyOf: 11 },
    { bool: 'true' },
    { bool: true, text: 1, number: 100, choice: 'z' },
    { unknown: 1 },
  ];
  return [
    ...begin,
    ...specs.map((s, i) => post(all, widget(`s${i}`, s))),
    post(all, { ...widget('no-object'), spec: 5 }),
    post(all, { ...widget('list'), spec: [] }),
    post(all, { ...widget('null'), spec: null }),
    post(all, { ...widget('status'), status: { replicas: 'x', phase: 'p' } }),
    merge(`${all}/s8`, { spec: { number: 500 } }),
    merge(`${all}/s8`, { spec: { number: null, text: null, unknown: 1 } }),
    merge(`${all}/s8`, { spec: 'x' }),
    strategic(`${all}/s8`, { spec: { number: 3 } }),
    jsonPatch(`${all}/s8`, [{ op: 'add', path: '/spec/choice', value: 'c' }]),
    jsonPatch(`${all}/s8`, [{ op: 'remove', path: '/spec' }]),
    merge(`${all}/s8?fieldValidation=Strict`, { spec: { unknown: 1 } }),
    merge(`${all}/s8?fieldValidation=Strict`, { unknown: 1 }),
  ];
});

play(pair, 'status and scale of custom objects', () => {
  const { widget, all, begin } = widgets();
  const a = `${all}/a`;
  const scale = (replicas: unknown, metadata: object = {}) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'a', ...metadata },
    spec: { replicas },
  });
  return [
    ...begin,
    post(all, widget('a', { replicas: 2 }, { status: { phase: 'dropped' } }), { as: 'a' }),
    get(`${a}/status`),
    get(`${a}/scale`),
    merge(`${a}/status`, {
      status: { phase: 'p', replicas: 1 },
      spec: { text: 'not this' },
      metadata: { labels: { a: 'b' } },
    }),
    merge(`${a}/status`, { status: { phase: 5 } }),
    merge(`${a}/status`, { status: { unknown: 5 } }),
    merge(a, { status: { phase: 'not so' }, spec: { text: 'this' } }),
    put(`${a}/status`, widget('a', {}, { status: { phase: 'q' } })),
    (past) =>
      put(`${a}/status`, {
        ...widget('a', {}, { status: { phase: 'q' } }),
        metadata: { name: 'a', resourceVersion: past.revision('a') },
      }),
    get(a, { as: 'now' }),
    (past) =>
      put(`${a}/status`, {
        ...widget('a', { text: 'no' }, { status: { phase: 'q', selector: 'x=y' } }),
        metadata: { name: 'a', annotations: { n: '1' }, resourceVersion: past.revision('now') },
      }),
    apply(`${a}/status?fieldManager=s`, { ...widget('a'), status: { deep: { a: '1' } } }),
    apply(`${a}/status?fieldManager=t`, { ...widget('a'), status: { deep: { a: '2' } } }),
    apply(`${a}/status?fieldManager=t&force=true`, { ...widget('a', { text: 'x' }), status: { deep: { a: '2' } } }),
    apply(`${a}?fieldManager=u`, { ...widget('a', { text: 'this' }), status: { phase: 'no' } }),
    apply(`${all}/none/status?fieldManager=t`, { ...widget('none'), status: {} }),
    jsonPatch(`${a}/status`, [{ op: 'replace', path: '/status/phase', value: 'z' }]),
    put(`${a}/scale`, scale(5)),
    get(`${a}/scale`),
    put(`${a}/scale`, scale('x')),
    put(`${a}/scale`, scale(-1)),
    put(`${a}/scale`, scale(4, { name: 'b' })),
    (past) => put(`${a}/scale`, scale(4, { resourceVersion: past.revision('a') })),
    put(`${a}/scale`, { spec: { replicas: 3 } }),
    merge(`${a}/scale`, { spec: { replicas: 7 } }),
    jsonPatch(`${a}/scale`, [{ op: 'replace', path: '/spec/replicas', value: 8 }]),
    merge(`${a}/scale`, { spec: { replicas: 'x' } }),
    merge(`${a}/scale?dryRun=All`, { spec: { replicas: 9 } }),
    get(`${all}/none/scale`),
    put(`${all}/none/scale`, scale(1)),
    merge(a, { spec: { replicas: null } }),
    get(`${a}/scale`),
    remove(`${a}/status`),
    post(`${a}/status`, {}),
    get(a),
  ];
});

play(pair, 'several appliers of one custom object', () => {
  const { widget, all, begin } = widgets();
  const as = (manager: string, specOf: object, force = false) =>
    apply(`${all}/a?fieldManager=${manager}${force ? '&force=true' : ''}`, widget('a', specOf));
  return [
    ...begin,
    as('one', {
      text: 'x',
      keyed: [{ k: 'a', v: 1 }],
      set: ['a'],
      atomic: ['a'],
      atomicMap: { a: '1' },
      map: { a: 1 },
    }),
    as('one', {
      text: 'x',
      keyed: [{ k: 'a', v: 1 }],
      set: ['a'],
      atomic: ['a'],
      atomicMap: { a: '1' },
      map: { a: 1 },
    }),
    as('two', { keyed: [{ k: 'b', v: 2 }], set: ['b'], map: { b: 2 } }),
    as('two', { keyed: [{ k: 'a', v: 2 }] }),
    as('two', { keyed: [{ k: 'a', v: 1 }, { k: 'b' }] }),
    as('two', { atomic: ['a'] }),
    as('two', { atomic: ['a', 'b'], atomicMap: { b: '2' }, text: 'y', free: { any: { thing: [1, 2] } } }),
    as('two', { atomic: ['a', 'b'], atomicMap: { b: '2' }, text: 'y', free: { any: { thing: [1, 2] } } }, true),
    as('one', { text: 'x' }),
    as('one', { nested: { must: 'm' } }),
    as('three', { nested: { must: 'm', opt: 9 } }),
    as('three', { nested: { opt: 9 } }),
    as('one', {}),
    as('three', { keyed: [{ v: 1 }] }),
    as('three', { keyed: [{ k: 'a' }, { k: 'a' }] }),
    as('three', { set: ['x', 'x'] }),
    as('three', { text: 5 }),
    as('three', { unknown: 5 }),
    as('three', { number: 100 }),
    as('three', { nullable: null, either: 5 }),
    as('four', { either: '5' }),
    as('four', { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'x' }, spec: { a: 1 } } }),
    as('five', { embedded: { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'y' } } }),
    as('five', { map: { b: 3, c: 4 } }),
    merge(`${all}/a?fieldManager=six`, { spec: { keyed: [{ k: 'z', v: 26 }], text: 'six' } }),
    as('five', { keyed: [{ k: 'z', v: 25 }] }),
    as('five', { keyed: [{ k: 'z', v: 25 }] }, true),
    get(`${all}/a`),
  ];
});

play(pair, 'custom objects are listed, selected and watched', () => {
  const { widget, all, begin } = widgets();
  const labelled = (name: string, specOf: object, labels: object) => ({
    ...widget(name, specOf),
    metadata: { name, labels },
  });
  const field = (selector: string) => get(`${all}?fieldSelector=${encodeURIComponent(selector)}`);
  const watch = (query: string) => get(`${all}?watch=1&timeoutSeconds=60${query}`, { ends: 'the-last' });
  return [
    ...begin,
    post(all, labelled('a', { text: 'x', replicas: 1, bool: true }, { l: '1' }), { as: 'a' }),
    post(all, labelled('b', { text: 'y', replicas: 2 }, { l: '2' })),
    post(all, labelled('c', {}, {}), { as: 'c' }),
    get(all),
    get(`${all}?limit=1`, { as: 'page' }),
    (past) => get(`${all}?continue=${past.body('page').metadata.continue}`),
    get(`${all}?labelSelector=l`),
    ...['spec.text=x', 'spec.text!=x', 'spec.replicas=2', 'spec.bool=true', 'spec.bool=false', 'spec.text='].map(field),
    ...['spec.number=1', 'metadata.name=a', 'metadata.namespace=x', 'nope=1', '.spec.text=x'].map(field),
    get(all, { accept: 'application/json;as=PartialObjectMetadataList;g=meta.k8s.io;v=v1' }),
    get(all, { accept: 'application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1' }),
    eventsOf(all, 'c'),
    {
      watches: [
        watch(''),
        watch('&fieldSelector=spec.text%3Dx'),
        watch('&labelSelector=l'),
        (past) => watch(`&resourceVersion=${past.revision('a')}`),
        watch('&allowWatchBookmarks=true&sendInitialEvents=true&resourceVersionMatch=NotOlderThan'),
      ],
      during: [
        merge(`${all}/a`, { spec: { text: 'z' } }),
        merge(`${all}/b`, { spec: { text: 'x' } }),
        merge(`${all}/b/status`, { status: { phase: 'p' } }),
        merge(`${all}/c`, { metadata: { labels: { l: '3' } } }),
        remove(`${all}/b`),
        post(all, labelled('the-last', { text: 'x' }, { l: '4' })),
      ],
    },
  ];
});

play(pair, 'custom objects without subresources', () => {
  const { widget, all, begin } = widgets({ status: false });
  return [
    ...begin,
    post(all, widget('a', {}, { status: { phase: 'kept' } })),
    merge(`${all}/a`, { status: { phase: 'changed' } }),
    get(`${all}/a/status`),
    merge(`${all}/a/status`, {}),
    get(`${all}/a/scale`),
    apply(`${all}/a?fieldManager=x`, { ...widget('a'), status: { phase: 'x' } }),
  ];
});

play(pair, 'numbers and nesting without bounds', () => {
  const ns = uniqueName('n');
  const group = `${uniqueName('g')}.example.com`;
  const free = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const all = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const head = `"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"w"}`;
  const dry = (spec: string) => post(`${all}?dryRun=All`, `{${head},"spec":${spec}}`);
  const deep = (depth: number) => dry(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`);
  return [
    post(namespaces, namespace(ns)),
    ...served(definition(group, { versions: [version('v1', { properties: { spec: free } })] })),
    dry('{"a":9007199254740991,"b":-9007199254740991,"c":1.5,"d":1e3,"e":-0.0,"f":0.1e1}'),
    dry('{"a":92233720368547758079,"b":-92233720368547758079,"c":1e20,"d":123456789012345678901234567890}'),
    deep(900),
    deep(10_001),
    dry('{"a":9007199254740993}'),
    apply(`${all}/w?dryRun=All&fieldManager=m`, `{${head},"spec":{"a":9007199254740993}}`),
    deep(2_000),
  ];
});
