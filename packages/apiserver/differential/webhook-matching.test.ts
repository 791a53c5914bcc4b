import { configMap, configMaps, get, jsonPatch, merge, namespaces, post, put, remove, secrets } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { type Hook, WebhookPlays } from './webhook-plays.js';
import { echo, patched } from './webhook-server.js';

const pair = serverPair();
const hooks = new WebhookPlays(pair, {
  '/echo': echo,
  // Fields of one manager in several versions of this kind are another matter.
  '/echo-unmanaged': (review) =>
    echo(JSON.parse(JSON.stringify(review, (key, value) => (key === 'managedFields' ? undefined : value)))),
  '/label': () => patched({ op: 'add', path: '/metadata/annotations', value: { by: 'hook' } }),
  '/unknown': () => patched({ op: 'add', path: '/spec/unknown', value: 1 }),
  '/bad-type': () => patched({ op: 'add', path: '/spec/size', value: 'large' }),
  '/size': () => patched({ op: 'add', path: '/spec/size', value: 7 }),
});

const rule = (operations: readonly string[], resources: readonly string[], more: object = {}) => ({
  ...{ operations, resources, apiGroups: [''], apiVersions: ['v1'] },
  ...more,
});

const hpa = (name: string, apiVersion: string) => ({
  ...{ apiVersion, kind: 'HorizontalPodAutoscaler', metadata: { name } },
  spec: { scaleTargetRef: { kind: 'Deployment', name: 'd', apiVersion: 'apps/v1' }, maxReplicas: 3 },
});

play(pair, 'rules of webhooks', () => {
  const ns = uniqueName('w');
  const maps = configMaps(ns);
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const deny = (...rules: readonly object[]): Hook => ({ at: '/deny', rules });
  const asks = (suffix: string): Step[] => [
    post(`${maps}?dryRun=All`, configMap(`new${suffix}`)),
    merge(`${maps}/c?dryRun=All`, { data: { a: suffix } }),
    remove(`${maps}/c?dryRun=All`),
    remove(`${maps}?dryRun=All`),
    post(`${secrets(ns)}?dryRun=All`, { metadata: { name: 'new' } }),
    merge(`${pods}/p/status?dryRun=All`, { status: { message: suffix } }),
    merge(`${pods}/p?dryRun=All`, { metadata: { labels: { a: suffix } } }),
    merge(`${namespaces}/${ns}?dryRun=All`, { metadata: { labels: { a: 'b' } } }),
  ];
  const cases: readonly (readonly Hook[])[] = [
    [deny(rule(['CREATE'], ['configmaps']))],
    [deny(rule(['UPDATE', 'DELETE'], ['configmaps', 'secrets']))],
    [deny(rule(['*'], ['*']))],
    [deny(rule(['*'], ['pods/*']))],
    [deny(rule(['*'], ['*/status']))],
    [deny(rule(['*'], ['*'], { scope: 'Namespaced' }))],
    [deny(rule(['*'], ['*'], { scope: 'Cluster' }))],
    [deny(rule(['CREATE'], ['configmaps'], { apiGroups: ['apps'] }), rule(['CREATE'], ['secrets']))],
    [deny(rule(['*'], ['configmaps'], { apiVersions: ['v2'] }))],
    [deny()],
  ];
  return [
    hooks.place(ns),
    post(maps, configMap('c')),
    post(pods, { metadata: { name: 'p' }, spec: { containers: [{ name: 'c', image: 'i' }] } }, { silent: true }),
    ...cases.flatMap((all, i) => [
      ...hooks.configure('Validating', `${ns}-${i}`, ns, all),
      ...asks(String(i)),
      ...hooks.forget('Validating', `${ns}-${i}`, ns),
    ]),
  ];
});

play(pair, 'selectors and conditions of webhooks', () => {
  const ns = uniqueName('w');
  const maps = configMaps(ns);
  const when = (...expressions: readonly string[]) => ({
    matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
  });
  const on = (name: string, hook: Hook): Hook => ({
    ...{ at: '/deny', rules: [rule(['*'], ['configmaps'])] },
    ...hook,
    matchConditions: [
      { name: 'own', expression: `request.name == '${name}'` },
      ...((hook.matchConditions as readonly object[] | undefined) ?? []),
    ],
  });
  const cases: Readonly<Record<string, Hook>> = {
    old: { objectSelector: { matchLabels: { l: '1' } } },
    absent: { objectSelector: { matchExpressions: [{ key: 'l', operator: 'DoesNotExist' }] } },
    elsewhere: { namespaceSelector: { matchLabels: { play: 'other' } } },
    none: { namespaceSelector: {} },
    yes: when('true', 'object != null'),
    no: when('true', 'false'),
    user: when("request.userInfo.username != ''", "request.operation in ['CREATE', 'UPDATE', 'DELETE']"),
    error: when('object.data.missing == "x"'),
    errors: when('object.data.missing == "x"', 'object.data.other == "y"'),
    'error-and-no': when('object.data.missing == "x"', 'false'),
    'error-ignored': { ...when('object.data.missing == "x"'), failurePolicy: 'Ignore' },
    authorizer: when("authorizer.group('').resource('configmaps').namespace('default').check('get').allowed()"),
    options: when('has(request.options) && request.dryRun == false', 'request.resource.resource == "configmaps"'),
    costly: {
      objectSelector: { matchLabels: { costly: '1' } },
      ...when(
        '[1,2,3,4,5,6,7,8,9,10].all(a, [1,2,3,4,5,6,7,8,9,10].all(b, [1,2,3,4,5,6,7,8,9,10].all(c, ' +
          '[1,2,3,4,5,6,7,8,9,10].all(d, [1,2,3,4,5,6,7,8,9,10].all(e, a + b + c + d + e > 0)))))',
      ),
    },
  };
  const names = Object.keys(cases);
  return [
    hooks.place(ns),
    ...names.map((name) =>
      post(maps, configMap(name, { a: '1' }, { labels: { l: '1', [name]: '1' } }), { silent: true }),
    ),
    ...hooks.configure(
      'Validating',
      ns,
      ns,
      names.map((name) => on(name, cases[name] as Hook)),
    ),
    ...names.flatMap((name) => [
      merge(`${maps}/${name}`, { data: { b: '2' } }),
      jsonPatch(`${maps}/${name}`, [{ op: 'remove', path: '/metadata/labels' }]),
      remove(`${maps}/${name}`),
    ]),
    ...hooks.forget('Validating', ns, ns),
    get(maps),
  ];
});

for (const kind of ['Mutating', 'Validating'] as const) {
  play(pair, `${kind} webhooks for other versions of a kind`, () => {
    const ns = uniqueName('w');
    const scalers = (v: string) => `/apis/autoscaling/${v}/namespaces/${ns}/horizontalpodautoscalers`;
    const events = { core: `/api/v1/namespaces/${ns}/events`, group: `/apis/events.k8s.io/v1/namespaces/${ns}/events` };
    const v1 = { apiGroups: ['autoscaling'], apiVersions: ['v1'], resources: ['horizontalpodautoscalers'] };
    const v2 = { ...v1, apiVersions: ['v2'] };
    const coreEvents = { apiGroups: [''], apiVersions: ['v1'], resources: ['events'] };
    const cases: readonly Hook[] = [
      { at: '/echo-unmanaged', rules: [{ operations: ['*'], ...v1 }] },
      { at: '/echo-unmanaged', rules: [{ operations: ['*'], ...v2 }] },
      { at: '/echo', rules: [{ operations: ['CREATE', 'DELETE'], ...v1 }], matchPolicy: 'Exact' },
      { at: '/echo', rules: [{ operations: ['*'], ...coreEvents }] },
    ];
    const event = {
      ...{ apiVersion: 'events.k8s.io/v1', kind: 'Event', metadata: { name: 'e' }, type: 'Normal', reason: 'r' },
      ...{ action: 'a', note: 'n', reportingController: 'c/d', reportingInstance: 'i' },
      ...{ eventTime: '2026-01-02T03:04:05.000000Z', regarding: { kind: 'Pod', name: 'p', namespace: ns } },
    };
    return [
      hooks.place(ns),
      post(scalers('v2'), hpa('a', 'autoscaling/v2')),
      ...cases.flatMap((hook, i) => [
        ...hooks.configure(kind, `${ns}-${i}`, ns, [hook]),
        post(scalers('v1'), hpa('b', 'autoscaling/v1')),
        post(scalers('v2'), hpa('b', 'autoscaling/v2')),
        ...(i < 2 ? [merge(`${scalers('v1')}/a`, { spec: { maxReplicas: 4 } })] : []),
        merge(`${scalers('v2')}/a/status`, { status: { currentReplicas: 4 } }),
        remove(`${scalers('v2')}/a?dryRun=All`),
        post(`${events.group}?dryRun=All`, event),
        ...hooks.forget(kind, `${ns}-${i}`, ns),
        remove(`${scalers('v2')}/b`),
      ]),
    ];
  });
}

play(pair, 'webhooks and custom objects', () => {
  const ns = uniqueName('w');
  const group = `${uniqueName('g')}.example.com`;
  const size = (more: object = {}) => ({
    properties: { spec: { type: 'object', properties: { size: { type: 'integer', maximum: 10, ...more } } } },
  });
  const made = definition(group, {
    versions: [
      version('v1', size({ default: 1 }), { storage: true, subresources: { status: {} } }),
      version('v2', size(), { storage: false, subresources: { status: {} } }),
    ],
  });
  const widgets = (v: string) => `/apis/${group}/${v}/namespaces/${ns}/widgets`;
  const widget = (name: string, v: string, labels: object = {}) => ({
    ...{ apiVersion: `${group}/${v}`, kind: 'Widget', metadata: { name, labels }, spec: { size: 2 } },
  });
  const of = (at: string, label: string, more: object = {}): Hook => ({
    ...{ at, objectSelector: { matchLabels: { hook: label } } },
    rules: [{ operations: ['*'], apiGroups: [group], apiVersions: ['v1'], resources: ['widgets', 'widgets/status'] }],
    ...more,
  });
  const asks = ['echo', 'label', 'unknown', 'type', 'size'].flatMap((hook) => [
    post(widgets('v1'), widget(`${hook}-1`, 'v1', { hook })),
    post(widgets('v2'), widget(`${hook}-2`, 'v2', { hook })),
  ]);
  return [
    hooks.place(ns),
    ...served(made),
    post(widgets('v1'), widget('w', 'v1', { hook: 'echo' })),
    ...hooks.configure('Mutating', ns, ns, [
      of('/echo', 'echo'),
      of('/label', 'label'),
      of('/unknown', 'unknown'),
      of('/bad-type', 'type'),
      of('/size', 'size'),
    ]),
    ...asks,
    put(`${widgets('v2')}/w`, widget('w', 'v2', { hook: 'size' })),
    merge(`${widgets('v2')}/w/status`, { status: { a: 1 } }),
    merge(`${widgets('v1')}/w/status`, { status: { a: 1 } }),
    remove(`${widgets('v2')}/w`),
    ...hooks.forget('Mutating', ns, ns),
    get(widgets('v1')),
    ...hooks.configure('Validating', ns, ns, [of('/echo', 'echo')]),
    post(widgets('v2'), widget('x', 'v2', { hook: 'echo' })),
    remove(`${widgets('v2')}?dryRun=All`),
    ...hooks.forget('Validating', ns, ns),
    remove(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`, undefined, { silent: true }),
  ];
});
