import { afterAll, beforeAll } from 'vitest';
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
import { conversionWebhook } from './conversion-webhook.js';
import { definition, served, version } from './custom-kinds.js';
import { type Past, play, type Step, serverPair, uniqueName } from './pair.js';
import { bound, findsParams, policyPaths, ruleFor } from './policy-plays.js';

const pair = serverPair();
let hook: Awaited<ReturnType<typeof conversionWebhook>>;
const made: string[] = [];

beforeAll(async () => {
  hook = await conversionWebhook();
});

afterAll(async () => {
  for (const name of made) await pair().both(remove(`${definitions}/${name}`));
  await hook.close();
});

const text = { type: 'string' };
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io,application/json';

/** A kind of two versions that a webhook converts. */
function kind(conversion: () => object = () => hook.conversion()) {
  const ns = uniqueName('c');
  const group = `${uniqueName('c')}.example.com`;
  const of = (v: string, name = '') => `/apis/${group}/${v}/namespaces/${ns}/widgets${name && `/${name}`}`;
  const specs: Readonly<Record<string, object>> = {
    v1: { host: text, port: text },
    v2: { hostPort: text },
  };
  const one = (name: string, storage: string, more: object = {}) =>
    version(
      name,
      {
        properties: {
          spec: {
            type: 'object',
            properties: {
              ...specs[name],
              replicas: { type: 'integer' },
              mark: text,
              color: { ...text, default: `of-${name}` },
            },
          },
          status: {
            type: 'object',
            properties: { phase: text, replicas: { type: 'integer' }, ...(name === 'v2' ? { since: text } : {}) },
          },
        },
      },
      {
        storage: name === storage,
        subresources: {
          status: {},
          scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
        },
        selectableFields: [{ jsonPath: name === 'v2' ? '.spec.hostPort' : '.spec.host' }],
        additionalPrinterColumns: [
          { name: 'At', type: 'string', jsonPath: name === 'v2' ? '.spec.hostPort' : '.spec.host' },
        ],
        ...more,
      },
    );
  const widget = (v: string, name: string, spec: object, metadata: object = {}) => ({
    apiVersion: `${group}/${v}`,
    kind: 'Widget',
    metadata: { name, ...metadata },
    spec,
  });
  /** An object that the webhook corrupts when it converts it from a version. */
  const bad = (v: string, name: string, mode: string, spec: object = { hostPort: 'a:1' }) =>
    widget(v, name, spec, { annotations: { 'riata.dev/mode': mode } });
  const name = `widgets.${group}`;
  made.push(name);
  const make = (storage: string) =>
    definition(group, { versions: [one('v1', storage), one('v2', storage)], more: { conversion: conversion() } });
  const begin = (storage = 'v1'): Step[] => [
    post(namespaces, namespace(ns)),
    ...served(make(storage)),
    get(of('v2'), { until: ({ status }) => status === 200, silent: true }),
  ];
  return { ns, group, name, of, one, widget, bad, begin, make };
}

play(pair, 'reads and writes in a version that is not stored', () => {
  const { of, widget, begin } = kind();
  return [
    ...begin(),
    post(of('v1'), widget('v1', 'a', { host: 'a', port: '1' }), { as: 'a' }),
    get(of('v1', 'a')),
    get(of('v2', 'a')),
    post(of('v2'), widget('v2', 'b', { hostPort: 'b:2', replicas: 1, unknown: 'x' }), { as: 'b' }),
    get(of('v1', 'b')),
    get(of('v2', 'b')),
    post(`${of('v2')}?dryRun=All`, widget('v2', 'c', { hostPort: 'c:3' })),
    post(of('v2'), widget('v2', 'b', { hostPort: 'b:2' })),
    post(of('v2'), widget('v2', 'bad', { hostPort: 1 })),
    eventsOf(of('v1'), 'b'),
    eventsOf(of('v2'), 'b'),
    get(of('v1')),
    get(of('v2')),
    get(`${of('v2')}?limit=1`),
    get(of('v2'), { accept: table }),
    get(of('v2', 'a'), { accept: table }),
    get(of('v2'), { accept: 'application/json;as=PartialObjectMetadataList;v=v1;g=meta.k8s.io' }),
    get(`${of('v2')}?fieldSelector=spec.hostPort%3Da:1`),
    get(`${of('v1')}?fieldSelector=spec.host%3Db`),
    get(`${of('v2')}?fieldSelector=spec.host%3Db`),
    (past: Past) =>
      put(of('v2', 'a'), { ...past.body('a'), apiVersion: past.body('b').apiVersion, spec: { hostPort: 'a:9' } }),
    get(of('v1', 'a')),
    put(of('v2', 'a'), widget('v2', 'a', { hostPort: 'a:9' }, { resourceVersion: '1' })),
    merge(of('v2', 'a'), { spec: { hostPort: 'a:10' } }),
    merge(of('v1', 'a'), { spec: { host: 'z' } }),
    merge(`${of('v2', 'a')}?dryRun=All`, { spec: { hostPort: 'dry:1' } }),
    merge(of('v2', 'a'), { spec: {} }),
    jsonPatch(of('v2', 'a'), [
      { op: 'test', path: '/spec/hostPort', value: 'z:10' },
      { op: 'add', path: '/spec/replicas', value: 3 },
    ]),
    jsonPatch(of('v2', 'a'), [{ op: 'test', path: '/spec/host', value: 'z' }]),
    merge(of('v2', 'a/status'), { status: { phase: 'Up', since: 'now', replicas: 2 } }),
    get(of('v1', 'a/status')),
    put(of('v2', 'a/scale'), {
      apiVersion: 'autoscaling/v1',
      kind: 'Scale',
      metadata: { name: 'a' },
      spec: { replicas: 5 },
    }),
    get(of('v2', 'a/scale')),
    get(of('v1', 'a')),
    merge(of('v2', 'a'), { metadata: { finalizers: ['example.com/wait'] } }),
    remove(of('v2', 'a')),
    merge(of('v1', 'a'), { metadata: { finalizers: null } }),
    get(of('v2', 'a')),
    remove(of('v2', 'b')),
  ];
});

play(pair, 'fields that several versions manage', () => {
  const { of, widget, begin } = kind();
  const applied = (v: string, spec: object) => widget(v, 'a', spec);
  return [
    ...begin(),
    apply(`${of('v2', 'a')}?fieldManager=two`, applied('v2', { hostPort: 'a:1' })),
    apply(`${of('v1', 'a')}?fieldManager=one`, applied('v1', { host: 'b' })),
    apply(`${of('v1', 'a')}?fieldManager=one`, applied('v1', { mark: 'x' })),
    apply(`${of('v1', 'a')}?fieldManager=one&force=true`, applied('v1', { host: 'b', mark: 'x' })),
    get(of('v2', 'a')),
    apply(`${of('v2', 'a')}?fieldManager=two`, applied('v2', { color: 'red' })),
    apply(`${of('v2', 'a')}?fieldManager=one`, applied('v2', { mark: 'y' })),
    get(of('v1', 'a')),
    merge(`${of('v1', 'a')}?fieldManager=three`, { spec: { port: '7' } }),
    merge(`${of('v2', 'a')}?fieldManager=four`, { spec: { hostPort: 'q:8' } }),
    get(of('v1', 'a')),
    apply(`${of('v2', 'a/status')}?fieldManager=status`, {
      ...applied('v2', {}),
      spec: undefined,
      status: { phase: 'Up' },
    }),
    apply(`${of('v1', 'a/status')}?fieldManager=status`, {
      ...applied('v1', {}),
      spec: undefined,
      status: { replicas: 1 },
    }),
    get(of('v2', 'a')),
  ];
});

play(pair, 'watches of a version that is not stored', () => {
  const { of, widget, begin } = kind();
  const watch = (more: string, ends = '"name":"last"') =>
    get(`${of('v2')}?watch=true&timeoutSeconds=20&${more}`, { ends });
  return [
    ...begin(),
    post(of('v1'), widget('v1', 'a', { host: 'a', port: '1' }), { as: 'a' }),
    post(of('v2'), widget('v2', 'b', { hostPort: 'b:2' }), { as: 'b' }),
    eventsOf(of('v2'), 'b'),
    {
      watches: [
        (past: Past) => watch(`resourceVersion=${past.revision('a')}`),
        (past: Past) => watch(`resourceVersion=${past.revision('b')}&fieldSelector=spec.hostPort%3Db:3`, 'DELETED'),
      ],
      during: [
        merge(of('v1', 'b'), { spec: { port: '3' } }),
        merge(of('v1', 'a'), { metadata: { labels: { a: 'b' } } }),
        merge(of('v1', 'b'), { spec: { port: '4' } }),
        remove(of('v1', 'a')),
        post(of('v1'), widget('v1', 'last', { host: 'l' }), { as: 'last' }),
      ],
    },
    eventsOf(of('v2'), 'last'),
    watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true', 'initial-events-end'),
    get(`${of('v2')}?watch=true&timeoutSeconds=20&resourceVersion=0`, { accept: table, ends: '"name":"last"' }),
    remove(of('v2')),
    get(of('v1')),
  ];
});

const badAnswers = [
  ...[
    'no-success',
    'message',
    'no-status',
    'wrong-review-uid',
    'no-response',
    'other-kind',
    'other-version',
    'no-kind',
  ],
  ...['not-json', 'too-many', 'none', '500', '404', '400', '503', 'wrong-name', 'wrong-namespace', 'wrong-uid'],
  ...['wrong-kind', 'wrong-version', 'no-apiversion', 'no-metadata', 'metadata-text', 'text', 'labels-text'],
  ...['label-number', 'bad-label', 'bad-annotation', 'add-label', 'drop-labels', 'other-metadata', 'unknown-field'],
  'invalid-value',
];

play(pair, 'answers that a conversion webhook must not give', () => {
  const { of, bad, begin } = kind();
  return [
    ...begin(),
    ...badAnswers.flatMap((mode) => [
      post(of('v2'), {
        ...bad('v2', mode, `v2:${mode}`),
        metadata: { ...bad('v2', mode, `v2:${mode}`).metadata, labels: { a: 'b' } },
      }),
      get(of('v1', mode)),
    ]),
  ];
});

play(pair, 'objects that cannot be converted', () => {
  const { of, bad, widget, begin } = kind();
  return [
    ...begin(),
    post(of('v1'), widget('v1', 'good', { host: 'a' })),
    post(of('v1'), bad('v1', 'a', 'v1:message', { host: 'a' }), { as: 'a' }),
    get(of('v1', 'a')),
    get(of('v2', 'a')),
    put(of('v2', 'a'), widget('v2', 'a', { hostPort: 'x' })),
    merge(of('v2', 'a'), { spec: { hostPort: 'x' } }),
    apply(`${of('v2', 'a')}?fieldManager=me`, widget('v2', 'a', { hostPort: 'x' })),
    remove(of('v2', 'a')),
    get(of('v2', 'a/scale')),
    get(`${of('v2')}?resourceVersion=`),
    get(of('v1')),
    merge(of('v1', 'a'), { spec: { host: 'b' } }),
    remove(of('v1', 'a')),
    get(of('v1', 'a')),
  ];
});

play(pair, 'webhooks that cannot be reached', () => {
  const { ns, of, widget, begin } = kind(() => ({
    strategy: 'Webhook',
    webhook: { conversionReviewVersions: ['v1'], clientConfig: { url: 'https://127.0.0.1:1/convert' } },
  }));
  const service = kind(() => ({
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v1'],
      clientConfig: { service: { namespace: 'default', name: 'no-such-hook', path: '/convert' } },
    },
  }));
  const strange = kind(() => hook.conversion({ clientConfig: { url: `https://127.0.0.1:${hook.port}/convert` } }));
  void ns;
  return [kind1({ of, widget, begin }), kind1(service), kind1(strange)].flat();
});

function kind1({ of, widget, begin }: Pick<ReturnType<typeof kind>, 'of' | 'widget' | 'begin'>): Step[] {
  return [
    ...begin(),
    post(of('v2'), widget('v2', 'a', { hostPort: 'a' })),
    post(of('v1'), widget('v1', 'a', { host: 'a' })),
    get(of('v2', 'a')),
    get(of('v1', 'a')),
  ];
}

play(pair, 'a webhook behind a Service, and old reviews', () => {
  const service = uniqueName('hook');
  const { ns, of, widget, begin } = kind(() => ({
    strategy: 'Webhook',
    webhook: {
      conversionReviewVersions: ['v2', 'v1beta1', 'v1'],
      clientConfig: {
        service: { namespace: 'default', name: service, path: '/convert', port: hook.port },
        caBundle: hook.caBundle,
      },
    },
  }));
  void ns;
  return [
    post(
      '/api/v1/namespaces/default/services',
      {
        ...{ apiVersion: 'v1', kind: 'Service', metadata: { name: service } },
        spec: { type: 'ExternalName', externalName: 'localhost' },
      },
      { silent: true },
    ),
    ...begin(),
    post(of('v2'), widget('v2', 'a', { hostPort: 'a' })),
    remove(`/api/v1/namespaces/default/services/${service}`, undefined, { silent: true }),
  ];
});

play(pair, 'another storage version', () => {
  const { of, name, widget, begin, make, one } = kind();
  const path = `${definitions}/${name}`;
  const marked = (of: string, mark: string) => {
    const spec = make(of).spec;
    const versions = JSON.parse(JSON.stringify(spec.versions)) as {
      schema: { openAPIV3Schema: { properties: { spec: { properties: Record<string, object> } } } };
    }[];
    for (const v of versions) v.schema.openAPIV3Schema.properties.spec.properties[mark] = { ...text, maxLength: 1 };
    return { spec: { versions } };
  };
  void one;
  const change = (storage: string, mark: string): Step[] => [
    merge(path, marked(storage, mark), { silent: true }),
    ...['v1', 'v2'].map((v) =>
      post(`${of(v)}?dryRun=All`, widget(v, 'probe', { [mark]: 'long' }), {
        until: ({ status }) => status === 422,
        silent: true,
      }),
    ),
  ];
  return [
    ...begin(),
    post(of('v1'), widget('v1', 'a', { host: 'a', port: '1' }), { as: 'a' }),
    post(of('v1'), widget('v1', 'b', { host: 'b', port: '1' })),
    ...change('v2', 'm1'),
    get(path),
    get(of('v1', 'a')),
    get(of('v2', 'a')),
    post(of('v1'), widget('v1', 'c', { host: 'c', port: '1' })),
    merge(of('v1', 'a'), { metadata: { labels: { a: 'b' } } }),
    merge(of('v1', 'b'), {}, { as: 'b' }),
    get(of('v2')),
    get(of('v1')),
    merge(`${path}/status`, { status: { storedVersions: [] } }),
    merge(`${path}/status`, { status: { storedVersions: ['v1'] } }),
    merge(`${path}/status`, { status: { storedVersions: ['v2', 'v7'] } }),
    merge(path, { spec: { versions: [one('v2', 'v2')] } }),
    merge(path, { spec: { versions: [{ ...one('v1', 'v2'), served: false }, one('v2', 'v2')] } }),
    merge(`${path}/status`, { status: { storedVersions: ['v1', 'v2'] } }),
    merge(path, { spec: { versions: [one('v2', 'v2')] } }),
    merge(path, { spec: { versions: [{ ...one('v1', 'v2'), served: false }, one('v2', 'v2')] } }),
    get(of('v1', 'a'), { until: ({ status }) => status === 404 }),
    get(of('v2', 'a')),
    merge(`${path}/status`, { status: { storedVersions: ['v2'] } }),
    merge(path, { spec: { versions: [one('v2', 'v2')] } }),
    get(path),
    remove(of('v2')),
  ];
});

play(pair, 'params of policies in a version that is not stored', () => {
  const { ns, group, name, of, widget, begin } = kind();
  const at = `/api/v1/namespaces/${ns}/configmaps?dryRun=All`;
  const policies = ['named', 'selected'].map((each) => `${each}.${name}`);
  const policy = (index: number, paramRef: object): Step[] => {
    const matchConstraints = {
      resourceRules: [{ ...ruleFor('', ['configmaps'], ['CREATE']), resourceNames: [`c${index}`] }],
      namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': ns } },
    };
    const messageExpression = 'params.apiVersion + " " + params.spec.host + "/" + params.spec.port';
    const spec = { paramKind: { apiVersion: `${group}/v1`, kind: 'Widget' }, matchConstraints };
    return [
      ...bound(
        'validating',
        policies[index] as string,
        { ...spec, validations: [{ expression: 'false', messageExpression }] },
        { paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } },
      ),
      post(
        at,
        { metadata: { name: `c${index}` } },
        { until: (answer) => answer.status === 422 && findsParams(answer) },
      ),
    ];
  };
  return [
    ...begin('v2'),
    post(of('v2'), widget('v2', 'limits', { hostPort: 'a:1' })),
    post(of('v1'), widget('v1', 'others', { host: 'b', port: '2' }, { labels: { set: 'one' } })),
    ...policy(0, { name: 'limits' }),
    ...policy(1, { selector: { matchLabels: { set: 'one' } } }),
    ...policies.map((each) => remove(`${policyPaths.validatingBindings}/${each}`, undefined, { silent: true })),
    ...policies.map((each) => remove(`${policyPaths.validating}/${each}`, undefined, { silent: true })),
  ];
});
