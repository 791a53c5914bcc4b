import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  apply,
  configMap,
  configMaps,
  get,
  jsonPatch,
  merge,
  namespace,
  namespaces,
  post,
  put,
  remove,
  strategic,
} from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { describeDifference } from './difference.js';
import { type Past, type Step, serverPair, uniqueName } from './pair.js';
import type { Ask } from './wire.js';

const pair = serverPair();
/** Another one tries other requests: `RIATA_SEED=7 npm run test:real -- generated`. */
const seed = Number(process.env.RIATA_SEED ?? 20_260_101);

/** Both servers answer the steps that `make` makes of a generated value in the same way. */
async function alike<T>(values: fc.Arbitrary<T>, make: (value: T) => readonly Step[], numRuns: number): Promise<void> {
  await fc.assert(
    fc.asyncProperty(values, async (value) => {
      const found = await pair().differences(make(value));
      expect(found.map(describeDifference).join('\n')).toBe('');
    }),
    { seed, numRuns, endOnFailure: false, interruptAfterTimeLimit: 60_000 },
  );
}

const name = fc.constantFrom('a', 'b', 'c');
const key = fc.constantFrom('x', 'y', 'z');
const text = fc.constantFrom('1', '2', '');
const data = fc.dictionary(key, text, { maxKeys: 3 });
const labels = fc.dictionary(fc.constantFrom('l', 'm'), text, { maxKeys: 2 });
const finalizers = fc.uniqueArray(fc.constantFrom('example.com/a', 'example.com/b'), { maxLength: 2 });
const metadata = fc.record({ labels, annotations: labels, finalizers }, { requiredKeys: [] });
const manager = fc.constantFrom('one', 'two', 'three');
const nulled = <T>(value: fc.Arbitrary<T>) => fc.oneof({ weight: 4, arbitrary: value }, fc.constant(null));

const change = fc.record(
  {
    data: nulled(fc.dictionary(key, nulled(text), { maxKeys: 3 })),
    metadata: fc.record(
      {
        labels: nulled(fc.dictionary(fc.constantFrom('l', 'm'), nulled(text), { maxKeys: 2 })),
        finalizers: nulled(finalizers),
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: [] },
);
const pointer = fc.constantFrom(
  '/data',
  '/data/x',
  '/data/y',
  '/metadata/labels',
  '/metadata/labels/l',
  '/metadata/finalizers/0',
  '/metadata/finalizers/-',
);
const step = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: fc.oneof(text, data, finalizers) }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
  fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
);

/** What is done to ConfigMaps of three names in one namespace. */
const action: fc.Arbitrary<(all: string) => Step> = fc.oneof(
  fc.tuple(name, data, metadata).map(
    ([n, d, m]) =>
      (all: string) =>
        post(all, configMap(n, d, m), { as: n }),
  ),
  fc.tuple(name, data, metadata).map(
    ([n, d, m]) =>
      (all: string) =>
        put(`${all}/${n}`, configMap(n, d, m), { as: n }),
  ),
  fc.tuple(name, data).map(([n, d]) => (all: string) => (past: Past): Ask => {
    const resourceVersion = past.knows(n) ? past.revision(n) : '';
    return put(`${all}/${n}?fieldManager=late`, configMap(n, d, { resourceVersion }));
  }),
  fc.tuple(name, change, manager).map(
    ([n, c, m]) =>
      (all: string) =>
        merge(`${all}/${n}?fieldManager=${m}`, c),
  ),
  fc.tuple(name, change, manager).map(
    ([n, c, m]) =>
      (all: string) =>
        strategic(`${all}/${n}?fieldManager=${m}`, c),
  ),
  fc.tuple(name, fc.array(step, { maxLength: 3 })).map(
    ([n, s]) =>
      (all: string) =>
        jsonPatch(`${all}/${n}`, s),
  ),
  fc.tuple(name, data, metadata, manager, fc.boolean()).map(
    ([n, d, m, by, force]) =>
      (all: string) =>
        apply(`${all}/${n}?fieldManager=${by}&force=${force}`, configMap(n, d, m)),
  ),
  fc
    .tuple(
      name,
      fc.constantFrom(
        '',
        '?propagationPolicy=Foreground',
        '?propagationPolicy=Orphan',
        '?dryRun=All',
        '?propagationPolicy=Background',
      ),
    )
    .map(
      ([n, query]) =>
        (all: string) =>
          remove(`${all}/${n}${query}`),
    ),
  fc
    .constantFrom('', '?labelSelector=l%3D1', '?labelSelector=l', '?labelSelector=l+notin+(1)', '?limit=2')
    .map((query) => (all: string) => get(`${all}${query}`)),
  fc.constantFrom('?labelSelector=l%3D1', '').map((query) => (all: string) => remove(`${all}${query}`)),
);

test('anything done to ConfigMaps', async () => {
  await alike(
    fc.array(action, { minLength: 5, maxLength: 25 }),
    (actions) => {
      const ns = uniqueName('r');
      const all = configMaps(ns);
      return [post(namespaces, namespace(ns)), ...actions.map((a) => a(all)), get(all)];
    },
    40,
  );
});

const selector = fc
  .array(
    fc.oneof(
      fc
        .tuple(
          fc.constantFrom('a', 'b', 'x.io/c', ''),
          fc.constantFrom('=', '==', '!=', '>', '<', ' in ', ' notin '),
          fc.constantFrom('1', '5', '(1)', '(1,2)', '()', '', 'x y', '-'),
        )
        .map((p) => p.join('')),
      fc.constantFrom('a', '!a', '!', ',', 'a in', '(', 'a=b=c'),
    ),
    { minLength: 1, maxLength: 3 },
  )
  .map((parts) => parts.join(','));

test('any label selector', async () => {
  const ns = uniqueName('s');
  const all = configMaps(ns);
  const values = [{ a: '1' }, { a: '2', b: '1' }, { b: '5' }, { a: '5', 'x.io/c': '1' }, {}];
  await pair().differences([
    post(namespaces, namespace(ns)),
    ...values.map((l, i) => post(all, configMap(`c${i}`, {}, { labels: l }))),
  ]);
  await alike(selector, (s) => [get(`${all}?labelSelector=${encodeURIComponent(s)}`)], 150);
});

interface Schema {
  readonly [name: string]: unknown;
}

const scalar: fc.Arbitrary<Schema> = fc.oneof(
  fc.record(
    { type: fc.constant('string'), maxLength: fc.constantFrom(1, 3), minLength: fc.constantFrom(0, 1) },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    {
      type: fc.constant('integer'),
      minimum: fc.constantFrom(0, 2),
      maximum: fc.constantFrom(3, 5),
      multipleOf: fc.constant(2),
    },
    { requiredKeys: ['type'] },
  ),
  fc.record(
    { type: fc.constant('number'), exclusiveMinimum: fc.boolean(), minimum: fc.constantFrom(0, 1) },
    { requiredKeys: ['type'] },
  ),
  fc.record({ type: fc.constant('boolean'), nullable: fc.boolean() }, { requiredKeys: ['type'] }),
  fc.record({ type: fc.constant('string'), enum: fc.constant(['a', 'b']) }),
  fc.record({ type: fc.constant('string'), nullable: fc.constant(true), default: fc.constant('a') }),
  fc.record({ type: fc.constant('integer'), default: fc.constant(1) }),
  fc.constant({ 'x-kubernetes-int-or-string': true }),
  fc.record({ type: fc.constant('string'), format: fc.constantFrom('date', 'ipv4', 'uuid', 'byte', 'date-time') }),
);
const composite = (inner: fc.Arbitrary<Schema>): fc.Arbitrary<Schema> =>
  fc.oneof(
    fc.record(
      { type: fc.constant('array'), items: inner, maxItems: fc.constantFrom(1, 2), minItems: fc.constant(1) },
      { requiredKeys: ['type', 'items'] },
    ),
    fc.record(
      { type: fc.constant('object'), additionalProperties: inner, maxProperties: fc.constantFrom(1, 2) },
      { requiredKeys: ['type', 'additionalProperties'] },
    ),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.record({ a: inner, b: inner }, { requiredKeys: ['a'] }),
        required: fc.constant(['a']),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.record({
      type: fc.constant('object'),
      properties: fc.record({ a: inner }),
      'x-kubernetes-preserve-unknown-fields': fc.constant(true),
    }),
    fc.record(
      {
        type: fc.constant('object'),
        properties: fc.record({ a: inner, b: inner }),
        nullable: fc.boolean(),
        minProperties: fc.constant(1),
      },
      { requiredKeys: ['type', 'properties'] },
    ),
    fc.constant({ type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' }),
    fc.constant({
      type: 'array',
      items: {
        type: 'object',
        required: ['a'],
        properties: { a: { type: 'string' }, b: { type: 'integer', default: 3 } },
      },
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['a'],
    }),
  );
const schema = fc.oneof(scalar, composite(scalar), composite(fc.oneof(scalar, composite(scalar))));

const { value } = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', maxDepth: 3 },
    fc.constantFrom<unknown>(null, true, false, 0, 1, 2, 4, 6, -1, 1.5, '', 'a', 'b', 'abcd', '2020-01-01', '1.2.3.4'),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c'), tie('value'), { maxKeys: 3 }),
  ),
}));

const schemaCount = 40;

test('any object of any small schema', async () => {
  const ns = uniqueName('v');
  const group = `${uniqueName('g')}.example.com`;
  const schemas = fc.sample(schema, { seed, numRuns: schemaCount });
  const properties = Object.fromEntries(schemas.map((s, i) => [`p${i}`, s]));
  const made = definition(group, {
    versions: [version('v1', { properties: { spec: { type: 'object', properties } } })],
  });
  const all = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const widget = (spec: object, of = 'w') => ({
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name: of },
    spec,
  });
  await pair().differences([post(namespaces, namespace(ns)), ...served(made)]);
  const property = fc.integer({ min: 0, max: schemaCount - 1 }).map((i) => `p${i}`);
  await alike(
    fc.tuple(property, value),
    ([p, v]) => [
      post(`${all}?dryRun=All`, widget({ [p]: v })),
      apply(`${all}/x?dryRun=All&fieldManager=m`, widget({ [p]: v }, 'x')),
      post(`${all}?dryRun=All&fieldValidation=Strict`, widget({ [p]: v })),
    ],
    400,
  );
});

test('any appliers of a custom object', async () => {
  const ns = uniqueName('v');
  const group = `${uniqueName('g')}.example.com`;
  const string = { type: 'string' };
  const entry = {
    type: 'object',
    required: ['k'],
    properties: { k: string, v: string, deep: { type: 'object', properties: { a: string, b: string } } },
  };
  const properties = {
    text: string,
    map: { type: 'object', additionalProperties: string },
    set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    atomic: { type: 'array', items: string },
    keyed: { type: 'array', items: entry, 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['k'] },
    whole: { type: 'object', 'x-kubernetes-map-type': 'atomic', properties: { a: string, b: string } },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  };
  const made = definition(group, {
    versions: [version('v1', { properties: { spec: { type: 'object', properties } } })],
  });
  const all = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  await pair().differences([post(namespaces, namespace(ns)), ...served(made)]);
  const some = fc.constantFrom('1', '2');
  const pairOf = fc.dictionary(fc.constantFrom('a', 'b'), some, { maxKeys: 2 });
  const spec = fc.record(
    {
      text: some,
      map: pairOf,
      set: fc.uniqueArray(fc.constantFrom('a', 'b', 'c'), { maxLength: 3 }),
      atomic: fc.array(some, { maxLength: 2 }),
      keyed: fc.uniqueArray(
        fc.record({ k: fc.constantFrom('a', 'b', 'c'), v: some, deep: pairOf }, { requiredKeys: ['k'] }),
        {
          maxLength: 3,
          selector: ({ k }) => k,
        },
      ),
      whole: pairOf,
      free: fc.dictionary(fc.constantFrom('a', 'b'), fc.oneof(some, fc.array(some, { maxLength: 2 }), pairOf), {
        maxKeys: 2,
      }),
    },
    { requiredKeys: [] },
  );
  const act = fc.tuple(manager, spec, fc.constantFrom('apply', 'apply', 'force', 'merge', 'update'));
  let count = 0;
  await alike(
    fc.array(act, { minLength: 2, maxLength: 8 }),
    (acts) => {
      const of = `o${count++}-${uniqueName('')}`;
      const object = (s: object) => ({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: of }, spec: s });
      return acts.flatMap(([by, s, how]): Step[] => {
        const at = `${all}/${of}?fieldManager=${by}`;
        if (how === 'merge') return [merge(at, { spec: s })];
        if (how === 'update') {
          return [
            get(`${all}/${of}`, { as: 'now' }),
            (past) => put(at, { ...object(s), metadata: { name: of, resourceVersion: past.revision('now') } }),
          ];
        }
        return [apply(`${at}&force=${how === 'force'}`, object(s))];
      });
    },
    80,
  );
});
