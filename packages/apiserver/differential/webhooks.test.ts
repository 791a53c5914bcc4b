import { apply, configMap, configMaps, get, merge, post, put, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { type Hook, WebhookPlays } from './webhook-plays.js';
import { allowed, denied, type HookAnswer, type Hooks, patched } from './webhook-server.js';

const pair = serverPair();

/** Notes in an annotation that a webhook was called, after those before it. */
const note =
  (name: string) =>
  // biome-ignore lint/suspicious/noExplicitAny: reviews are looked into freely
  ({ request: { object } }: any): HookAnswer => {
    const { annotations } = object.metadata;
    const calls = `${annotations?.calls ?? ''}${name}`;
    return annotations === undefined
      ? patched({ op: 'add', path: '/metadata/annotations', value: { calls } })
      : patched({ op: 'add', path: '/metadata/annotations/calls', value: calls });
  };

const statuses: Readonly<Record<string, object | undefined>> = {
  none: undefined,
  empty: {},
  message: { message: 'because' },
  reason: { reason: 'Because' },
  code: { code: 422, message: 'because' },
  low: { code: 200, status: 'Success', message: 'because' },
  whole: {
    ...{ status: 'Failure', message: 'no', reason: 'Forbidden', code: 403 },
    details: { name: 'x', kind: 'y', group: 'z', causes: [{ message: 'm', reason: 'r', field: 'f' }] },
  },
};

const step = (op: string, path: string, more: object = {}) => ({ op, path, ...more });
const patches: Readonly<Record<string, readonly object[]>> = {
  none: [],
  data: [step('add', '/data', { value: { a: '1' } })],
  deep: [step('add', '/data/x/y', { value: '1' })],
  replace: [step('replace', '/data', { value: { b: '2' } })],
  missing: [step('replace', '/a/b', { value: '1' })],
  remove: [step('remove', '/metadata/annotations/none')],
  removeDeep: [step('remove', '/a/b')],
  test: [step('test', '/kind', { value: 'Pod' })],
  tested: [step('test', '/kind', { value: 'ConfigMap' }), step('add', '/metadata/labels', { value: { t: '1' } })],
  move: [step('move', '/data', { from: '/nowhere' })],
  copy: [step('copy', '/metadata/labels', { from: '/data' })],
  kind: [step('bad', '/data')],
  pathless: [{ op: 'add', value: 1 }],
  unknown: [step('add', '/unknownField', { value: 1 })],
  type: [step('add', '/data', { value: 'text' })],
  invalid: [step('add', '/data', { value: { 'not valid!': '1' } })],
  rename: [step('replace', '/metadata/name', { value: 'other' })],
  namespace: [step('replace', '/metadata/namespace', { value: 'other' })],
  uid: [step('add', '/metadata/uid', { value: 'mine' })],
  labels: [step('add', '/metadata/labels', { value: { 'a b': 'c' } })],
  generate: [step('add', '/metadata/generateName', { value: 'gen-' }), step('remove', '/metadata/name')],
  finalizers: [step('add', '/metadata/finalizers', { value: ['example.com/x'] })],
  managed: [step('remove', '/metadata/managedFields')],
};

const base64 = (text: string) => Buffer.from(text).toString('base64');
const review = (response: object | undefined, more: object = {}) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...more });
const ok = { uid: '$UID', allowed: true };

/** Malformed answers; `$UID` is the one that was sent. */
const bad: Readonly<Record<string, { status?: number; type?: string; body: string }>> = {
  empty: { body: '' },
  text: { body: 'not JSON' },
  list: { body: '[]' },
  object: { body: '{}' },
  'no-response': { body: review(undefined) },
  uid: { body: review({ uid: 'other', allowed: true }) },
  'no-uid': { body: review({ allowed: true }) },
  kindless: { body: JSON.stringify({ response: ok }) },
  kind: { body: review(ok, { kind: 'Other' }) },
  beta: { body: review(ok, { apiVersion: 'admission.k8s.io/v1beta1' }) },
  patchless: { body: review({ ...ok, patchType: 'JSONPatch' }) },
  typeless: { body: review({ ...ok, patch: base64('[]') }) },
  'empty-type': { body: review({ ...ok, patch: base64('[]'), patchType: '' }) },
  'other-type': { body: review({ ...ok, patch: base64('[{}]'), patchType: 'Merge' }) },
  undecodable: { body: review({ ...ok, patch: base64('nope'), patchType: 'JSONPatch' }) },
  'patch-object': { body: review({ ...ok, patch: base64('{}'), patchType: 'JSONPatch' }) },
  'patch-texts': { body: review({ ...ok, patch: base64('["a"]'), patchType: 'JSONPatch' }) },
  '400': { status: 400, type: 'text/plain', body: 'bad' },
  '403': { status: 403, type: 'text/plain', body: 'forbidden' },
  '404': { status: 404, type: 'text/plain', body: 'nothing' },
  '500': { status: 500, type: 'text/plain', body: 'oops' },
  '503': { status: 503, type: 'application/json', body: '{}' },
  status: {
    status: 422,
    body: JSON.stringify({ apiVersion: 'v1', kind: 'Status', status: 'Failure', message: 'no way', code: 422 }),
  },
};

const long = (letter: string, length: number) => letter.repeat(length);

const handlers: Hooks = {
  '/allow': () => allowed,
  '/a': note('a'),
  '/b': note('b'),
  '/c': note('c'),
  '/once': (sent) => (sent.request.object.metadata.annotations?.calls ? allowed : note('o')(sent)),
  '/warn': () => ({
    response: {
      allowed: true,
      warnings: ['first', 'first', '', 'with "quotes" \\ and ü', 'with\nbreak', long('x', 300)],
      auditAnnotations: { a: 'b' },
    },
  }),
  '/warn-long': () => ({
    response: { allowed: true, warnings: ['short', long('a', 2000), long('b', 2000), long('c', 200), long('d', 3000)] },
  }),
  '/warn-deny': () => ({ response: { allowed: false, warnings: ['beware'], status: { message: 'no' } } }),
  '/never': () => 'never',
  ...Object.fromEntries(Object.entries(statuses).map(([name, status]) => [`/status/${name}`, () => denied(status)])),
  ...Object.fromEntries(Object.entries(patches).map(([name, steps]) => [`/patch/${name}`, () => patched(...steps)])),
  ...Object.fromEntries(Object.entries(bad).map(([name, answer]) => [`/bad/${name}`, () => answer])),
};
const hooks = new WebhookPlays(pair, handlers);

/** Webhooks of which each means objects with its own name in a label alone. */
const byLabel = (all: Readonly<Record<string, Hook>>): Hook[] =>
  Object.entries(all).map(([name, hook]) => ({ objectSelector: { matchLabels: { hook: name } }, ...hook }));

const labelled = (hook: string, data?: object) => ({
  ...configMap(hook.toLowerCase(), data, { labels: { hook } }),
  ...(data === undefined ? { data: undefined } : {}),
});

play(pair, 'denials of webhooks', () => {
  const ns = uniqueName('w');
  const all = Object.fromEntries(Object.keys(statuses).map((name) => [name, { at: `/status/${name}` }]));
  return [
    hooks.place(ns),
    ...hooks.configure('Validating', `${ns}v`, ns, byLabel(all)),
    ...Object.keys(statuses).map((name) => post(configMaps(ns), labelled(name))),
    ...hooks.forget('Validating', `${ns}v`, ns),
    ...hooks.configure('Mutating', `${ns}m`, ns, byLabel(all)),
    ...Object.keys(statuses).map((name) => post(configMaps(ns), labelled(name))),
    ...hooks.forget('Mutating', `${ns}m`, ns),
  ];
});

play(pair, 'patches of webhooks', () => {
  const ns = uniqueName('w');
  const all = Object.fromEntries(Object.keys(patches).map((name) => [name, { at: `/patch/${name}` }]));
  return [
    hooks.place(ns),
    post(configMaps(ns), configMap('update', { u: '1' })),
    ...hooks.configure('Mutating', ns, ns, byLabel(all)),
    ...Object.keys(patches).map((name) => post(configMaps(ns), labelled(name))),
    ...Object.keys(patches)
      .filter((hook) => hook !== 'generate')
      .map((hook) => put(`${configMaps(ns)}/update?dryRun=All`, configMap('update', { u: '2' }, { labels: { hook } }))),
    apply(`${configMaps(ns)}/applied?fieldManager=m`, configMap('applied', {}, { labels: { hook: 'data' } })),
    apply(`${configMaps(ns)}/applied?fieldManager=m`, configMap('applied', { b: '2' }, { labels: { hook: 'data' } })),
    remove(`${configMaps(ns)}/data`),
    ...hooks.forget('Mutating', ns, ns),
  ];
});

play(pair, 'answers of webhooks that are none', () => {
  const ns = uniqueName('w');
  const names = Object.keys(bad);
  const all = Object.fromEntries(names.map((name) => [name, { at: `/bad/${name}` }]));
  const beta = Object.fromEntries(
    names.map((name) => [`beta-${name}`, { at: `/bad/${name}`, admissionReviewVersions: ['v2', 'v1beta1', 'v1'] }]),
  );
  const asked = [...names, ...names.map((name) => `beta-${name}`)];
  const on = (kind: 'Mutating' | 'Validating', failurePolicy: string): Step[] => [
    ...hooks.configure(
      kind,
      `${ns}${kind[0]?.toLowerCase()}`,
      ns,
      byLabel({ ...all, ...beta }).map((hook) => ({ ...hook, failurePolicy })),
    ),
    ...asked.map((name) => post(`${configMaps(ns)}?dryRun=All`, labelled(name))),
    ...hooks.forget(kind, `${ns}${kind[0]?.toLowerCase()}`, ns),
  ];
  return [hooks.place(ns), ...on('Validating', 'Fail'), ...on('Mutating', 'Fail'), ...on('Mutating', 'Ignore')];
});

play(pair, 'webhooks that are not reached', () => {
  const ns = uniqueName('w');
  const service = (name: string, more: object = {}) => ({ service: { namespace: ns, name, ...more } });
  const unreachable = {
    never: { at: '/never', timeoutSeconds: 1 },
    neverIgnored: { at: '/never', timeoutSeconds: 1, failurePolicy: 'Ignore' },
    stranger: { clientConfig: hooks.server.strangers('/allow') },
    noca: { clientConfig: { url: hooks.server.client('/allow').url } },
    closed: { clientConfig: { url: 'https://127.0.0.1:1/x' } },
    named: { clientConfig: { ...hooks.server.client('/allow'), url: `https://127.0.0.2:${hooks.server.port}/x` } },
    noservice: { clientConfig: service('nobody') },
    path: { clientConfig: service('nobody', { path: '/a/b', port: 8443 }) },
    ignored: { clientConfig: service('nobody'), failurePolicy: 'Ignore' },
  };
  return [
    hooks.place(ns),
    ...hooks.configure('Validating', ns, ns, byLabel(unreachable)),
    ...Object.keys(unreachable).map((name) => post(configMaps(ns), labelled(name))),
    ...hooks.forget('Validating', ns, ns),
    ...hooks.configure('Mutating', ns, ns, byLabel(unreachable)),
    ...Object.keys(unreachable).map((name) => post(`${configMaps(ns)}?dryRun=All`, labelled(`${name}`))),
    ...hooks.forget('Mutating', ns, ns),
  ];
});

play(pair, 'the order of webhooks, and reinvocation', () => {
  const ns = uniqueName('w');
  const of = (label: string, at: string, more: object = {}) => ({
    ...{ at, objectSelector: { matchExpressions: [{ key: label, operator: 'Exists' }] } },
    ...more,
  });
  const again = { reinvocationPolicy: 'IfNeeded' };
  const made = (name: string, labels: object) => post(configMaps(ns), configMap(name, {}, { labels }));
  return [
    hooks.place(ns),
    ...hooks.configure('Mutating', `${ns}-2`, ns, [
      of('order', '/a'),
      of('order', '/b'),
      of('if-needed', '/a', again),
      of('if-needed', '/b'),
      of('if-needed', '/c', again),
      of('unchanged', '/allow', again),
      of('once', '/allow', again),
      of('once', '/once', again),
      of('late', '/b', { matchConditions: [{ name: 'a', expression: 'has(object.metadata.annotations)' }], ...again }),
      of('late', '/a', again),
    ]),
    ...hooks.configure('Mutating', `${ns}-1`, ns, [of('order', '/c'), of('never', '/a'), of('never', '/b')]),
    made('order', { order: '1' }),
    made('if-needed', { 'if-needed': '1' }),
    made('unchanged', { unchanged: '1' }),
    made('once', { once: '1' }),
    made('never', { never: '1' }),
    made('late', { late: '1' }),
    made('all', { order: '1', 'if-needed': '1', never: '1' }),
    ...hooks.forget('Mutating', `${ns}-1`, ns),
    ...hooks.forget('Mutating', `${ns}-2`, ns),
  ];
});

play(pair, 'warnings of webhooks, and dry runs', () => {
  const ns = uniqueName('w');
  const all = {
    warn: { at: '/warn' },
    long: { at: '/warn-long' },
    deny: { at: '/warn-deny' },
    dry: { at: '/allow', sideEffects: 'NoneOnDryRun' },
  };
  return [
    hooks.place(ns),
    ...hooks.configure('Validating', ns, ns, byLabel(all)),
    ...Object.keys(all).flatMap((name) => [
      post(configMaps(ns), labelled(name)),
      post(`${configMaps(ns)}?dryRun=All`, { ...labelled(name), metadata: { name: 'dry', labels: { hook: name } } }),
    ]),
    merge(`${configMaps(ns)}/warn`, { data: { a: '1' } }),
    remove(`${configMaps(ns)}/warn`),
    ...hooks.forget('Validating', ns, ns),
    get(configMaps(ns)),
  ];
});
