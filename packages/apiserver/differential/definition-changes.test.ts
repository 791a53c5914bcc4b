import {
  apply,
  definitions,
  eventsOf,
  get,
  jsonPatch,
  merge,
  namespace,
  namespaces,
  post,
  put,
  remove,
} from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const text = { type: 'string' };
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

type Properties = Readonly<Record<string, object>>;

/** A kind in two versions, whose schemas and storage version the play changes. */
function kind() {
  const ns = uniqueName('d');
  const group = `${uniqueName('d')}.example.com`;
  const of = (v: string) => `/apis/${group}/${v}/namespaces/${ns}/widgets`;
  const one = (name: string, properties: Properties, storage: boolean) =>
    version(
      name,
      {
        properties: {
          spec: { type: 'object', properties },
          status: { type: 'object', properties: { phase: text } },
        },
      },
      {
        storage,
        subresources: { status: {} },
        // The same in all versions would belong to the definition as a whole, which it is not allowed to have.
        ...(name === 'v1' ? { selectableFields: [{ jsonPath: '.spec.always' }] } : {}),
        additionalPrinterColumns: [{ name: 'Always', type: 'string', jsonPath: '.spec.always' }],
      },
    );
  const versions = (v1: Properties, v2: Properties, storage = 'v1') => [
    one('v1', v1, storage === 'v1'),
    one('v2', v2, storage === 'v2'),
  ];
  const widget = (v: string, name: string, spec: object, more: object = {}) => ({
    apiVersion: `${group}/${v}`,
    kind: 'Widget',
    metadata: { name, ...more },
    spec,
  });
  const begin = (v1: Properties, v2: Properties): Step[] => [
    post(namespaces, namespace(ns)),
    ...served(definition(group, { versions: versions(v1, v2) })),
    get(of('v2'), { until: ({ status }) => status === 200, silent: true }),
  ];
  /** A change of the definition, and a wait until both versions are served by it: the real server does that later. */
  const change = (v1: Properties, v2: Properties, mark: string, storage = 'v1'): Step[] => [
    merge(
      `${definitions}/widgets.${group}`,
      {
        spec: {
          versions: versions(
            { ...v1, [mark]: { ...text, maxLength: 1 } },
            { ...v2, [mark]: { ...text, maxLength: 1 } },
            storage,
          ),
        },
      },
      { silent: true },
    ),
    ...['v1', 'v2'].map((v) =>
      post(`${of(v)}?dryRun=All`, widget(v, 'probe', { [mark]: 'long' }), {
        until: ({ status }) => status === 422,
        silent: true,
      }),
    ),
    ...['v1', 'v2'].map((v) => get(of(v), { until: ({ status }) => status === 200, silent: true })),
  ];
  return { of, widget, begin, change, definition: `${definitions}/widgets.${group}` };
}

const always = { always: { ...text, default: 'so' } };

play(pair, 'reads follow the definition as it stands', () => {
  const { of, widget, begin, change } = kind();
  const v1 = of('v1');
  const first = { a: text, gone: text, list: { type: 'array', items: { type: 'object', properties: { k: text } } } };
  const grown = {
    a: text,
    ...always,
    deep: { type: 'object', default: {}, properties: { b: { type: 'integer', default: 5 } } },
    list: { type: 'array', items: { type: 'object', properties: { k: text, d: { ...text, default: 'x' } } } },
  };
  const reads = (): Step[] => [
    get(`${v1}/plain`),
    get(`${v1}/plain/status`),
    get(v1),
    get(v1, { accept: table }),
    get(`${v1}?fieldSelector=spec.always%3Dso`),
    get(`${v1}?fieldSelector=spec.always%21%3Dso`),
    get(`${v1}?watch=1&timeoutSeconds=5`, { ends: '"name":"zz"' }),
    get(`${v1}?watch=1&timeoutSeconds=5&fieldSelector=spec.always%3Dso`, { ends: '"name":"zz"' }),
    get(`${v1}?watch=1&timeoutSeconds=5`, { ends: '"name":"zz"', accept: table }),
  ];
  return [
    ...begin({ ...first, always: text }, { ...first, two: text }),
    post(v1, widget('v1', 'plain', { a: '1', gone: 'g', list: [{ k: 'k' }, {}] }), { as: 'plain' }),
    post(v1, widget('v1', 'other', {}), { as: 'other' }),
    post(v1, widget('v1', 'held', { gone: 'g' }, { finalizers: ['example.com/held'] })),
    post(v1, widget('v1', 'zz', { gone: 'g', always: 'not' }), { as: 'zz' }),
    eventsOf(v1, 'zz'),
    get(v1),
    ...change(grown, { ...grown, two: text }, 'm1'),
    get(`${v1}?fieldSelector=metadata.name%3Dplain`, {
      until: ({ body }) => body.items?.[0]?.spec.always === 'so',
      silent: true,
    }),
    (past) => get(`${v1}/zz?resourceVersion=${past.revision('zz')}`),
    post(`${v1}?dryRun=All`, widget('v1', 'dry', {})),
    ...reads().slice(0, 6),
    // A write that changes nothing stores what is shown by now.
    merge(`${v1}/plain`, {}),
    merge(`${v1}/plain`, {}),
    merge(`${v1}/other/status`, { status: { phase: 'p' } }),
    jsonPatch(`${v1}/zz`, [{ op: 'test', path: '/spec/gone', value: 'g' }]),
    jsonPatch(`${v1}/zz`, [{ op: 'test', path: '/spec/deep/b', value: 5 }]),
    apply(`${v1}/other?fieldManager=m`, widget('v1', 'other', { a: 'x' })),
    (past) => put(`${v1}/zz`, widget('v1', 'zz', {}, { resourceVersion: past.revision('zz') }), { as: 'zz2' }),
    eventsOf(v1, 'zz2'),
    ...reads(),
    remove(`${v1}/held`),
    get(`${v1}/held`),
    // Back to the first schema: what was stored by the other is not shown.
    ...change({ ...first, always: text }, first, 'm2'),
    get(v1),
    ...change(grown, { ...grown, two: text }, 'm3'),
    get(v1),
    remove(`${v1}/plain`),
    merge(`${v1}/held`, { metadata: { finalizers: null } }),
    remove(v1),
    get(v1),
  ];
});

play(pair, 'versions show and keep what their own schema has', () => {
  const { of, widget, begin, change, definition: made } = kind();
  const [v1, v2] = [of('v1'), of('v2')];
  const old = { shared: text, one: text, nested: { type: 'object', properties: { x: text, y: text } } };
  const young = {
    shared: text,
    two: { ...text, default: 'second' },
    nested: { type: 'object', properties: { x: text, z: { ...text, default: 'zz' } } },
  };
  const both = (path: string): Step[] => [get(`${v1}${path}`), get(`${v2}${path}`)];
  return [
    ...begin({ ...old, always: text }, young),
    post(v1, widget('v1', 'a', { shared: 's', one: '1', nested: { x: 'x', y: 'y' } })),
    ...both('/a'),
    post(v2, widget('v2', 'b', { shared: 's', two: '2', nested: { x: 'x', z: 'z' } })),
    ...both('/b'),
    post(v1, widget('v1', 'c', { shared: 's', one: '1', two: 'unknown' })),
    ...both(''),
    // Only what is sent is complained about, and what the version does not have is lost.
    merge(`${v2}/a`, { spec: { shared: 't' } }),
    ...both('/a'),
    merge(`${v2}/c?fieldValidation=Strict`, { metadata: { labels: { l: '1' } } }),
    ...both('/c'),
    merge(`${v2}/c?fieldValidation=Strict`, { spec: { one: 'x' } }),
    merge(`${v2}/c?fieldValidation=Warn`, { spec: { one: 'x' } }),
    jsonPatch(`${v2}/c`, [{ op: 'test', path: '/spec/one', value: '1' }]),
    apply(`${v2}/d?fieldManager=m`, widget('v2', 'd', { two: 'x' })),
    apply(`${v1}/d?fieldManager=n`, widget('v1', 'd', { one: 'x' })),
    ...both('/d'),
    merge(`${v2}/d`, { metadata: { annotations: { a: 'b' } } }),
    apply(`${v1}/d?fieldManager=n`, widget('v1', 'd', { one: 'y' })),
    ...both('/d'),
    post(v1, widget('v1', 'held', { one: '1' }, { finalizers: ['example.com/held'] })),
    remove(`${v2}/held`),
    ...both('/held'),
    // Objects stay in the version that they were stored in until they are written again.
    ...change({ ...old, always: text }, young, 'm1', 'v2'),
    ...both(''),
    merge(`${v1}/b`, {}),
    merge(`${v1}/b`, {}),
    ...both('/b'),
    post(v1, widget('v1', 'e', { one: '1', shared: 's' })),
    ...both('/e'),
    merge(`${v1}/held`, { metadata: { finalizers: null } }),
    get(made, { silent: true }),
    remove(v2),
    ...both(''),
  ];
});
