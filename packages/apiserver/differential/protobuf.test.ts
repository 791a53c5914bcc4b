import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { encodeObject } from '../src/protobuf/envelope.js';
import {
  configMap,
  configMaps,
  definitions,
  eventsOf,
  get,
  merge,
  namespace,
  namespaces,
  post,
  put,
  remove,
  secrets,
} from './asks.js';
import { definition, isEstablished, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const type = 'application/vnd.kubernetes.protobuf';
const accept = type;
const partial = `${type};as=PartialObjectMetadata;v=v1;g=meta.k8s.io`;
const partialList = `${type};as=PartialObjectMetadataList;v=v1;g=meta.k8s.io`;

/** An object with all kinds of fields, of each of many kinds: path below the namespace, object. */
function objects(): readonly (readonly [path: string, object: JsonObject])[] {
  const metadata = { name: 'a', labels: { l: '1' }, annotations: { 'example.com/ü': '→' } };
  const template = {
    metadata: { labels: { l: '1' } },
    spec: {
      containers: [
        {
          name: 'c',
          image: 'i:1',
          ports: [{ containerPort: 80 }],
          resources: { limits: { cpu: '1500m', memory: '1Gi' } },
          livenessProbe: { httpGet: { path: '/', port: 'http' }, periodSeconds: 3 },
          volumeMounts: [{ name: 'v', mountPath: '/v' }],
        },
      ],
      volumes: [
        { name: 'v', emptyDir: {} },
        { name: 's', secret: { secretName: 's', defaultMode: 256 } },
      ],
      terminationGracePeriodSeconds: 0,
    },
  };
  const selector = { matchLabels: { l: '1' } };
  return [
    ['api/v1/ns/configmaps', { kind: 'ConfigMap', data: { x: 'y' }, binaryData: { b: 'AAEC/w==' }, immutable: false }],
    ['api/v1/ns/secrets', { kind: 'Secret', data: { x: 'AAEC' }, type: 'example.com/x' }],
    ['apis/apps/v1/ns/deployments', { kind: 'Deployment', spec: { replicas: 0, selector, template } }],
    ['apis/apps/v1/ns/controllerrevisions', { kind: 'ControllerRevision', data: { a: [1, 'b', null] }, revision: 7 }],
    [
      'apis/coordination.k8s.io/v1/ns/leases',
      { kind: 'Lease', spec: { holderIdentity: 'h', renewTime: '2026-01-02T03:04:05.678901Z', leaseTransitions: -0 } },
    ],
    [
      'apis/rbac.authorization.k8s.io/v1/ns/roles',
      { kind: 'Role', rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'] }] },
    ],
    [
      'apis/policy/v1/ns/poddisruptionbudgets',
      { kind: 'PodDisruptionBudget', spec: { selector, maxUnavailable: '20%' } },
    ],
    [
      'apis/networking.k8s.io/v1/ns/networkpolicies',
      {
        kind: 'NetworkPolicy',
        spec: { podSelector: {}, policyTypes: ['Ingress'], ingress: [{ ports: [{ protocol: 'TCP', port: 80 }] }] },
      },
    ],
  ].map(([path, object]) => {
    const [place = '', plural = ''] = (path as string).split('/ns/');
    return [`${place}|${plural}`, { apiVersion: place.replace(/^apis?\//, ''), ...(object as JsonObject), metadata }];
  });
}

play(pair, 'objects in Protobuf', () => {
  const ns = uniqueName('p');
  return [
    post(namespaces, Buffer.from(encodeObject(namespace(ns))), { type }),
    ...objects().flatMap(([place, object]): Step[] => {
      const [prefix = '', plural = ''] = place.split('|');
      const all = `/${prefix}/namespaces/${ns}/${plural}`;
      return [
        post(all, encodeObject(object), { type }),
        post(all, encodeObject(object), { type, accept }),
        get(`${all}/a`),
        get(`${all}/a`, { accept }),
        get(all, { accept }),
        merge(`${all}/a`, { metadata: { labels: { m: '2' } } }, { accept }),
        put(`${all}/a`, encodeObject(object), { type, accept }),
        get(`${all}/a`, { accept: partial }),
        get(all, { accept: partialList }),
      ];
    }),
  ];
});

play(pair, 'Protobuf here and JSON there', () => {
  const ns = uniqueName('q');
  const all = configMaps(ns);
  const bytes = (hex: string) => Buffer.from(hex, 'hex');
  const group = `${ns}.example.com`;
  const schema = {
    properties: {
      spec: {
        type: 'object',
        properties: {
          x: { type: 'number', minimum: 1.5, default: 3 },
          y: { type: 'array', items: { type: 'string' } },
        },
      },
    },
  };
  const made = definition(group, { versions: [version('v1', schema)] }) as unknown as JsonObject;
  const at = `${definitions}/widgets.${group}`;
  const custom = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a', { x: '1' })),
    ...['', 'xyz', '{}', bytes('6b387300'), bytes('6b387300ff'), bytes('6b3873000a0f0a02763112')].map((body) =>
      post(all, body, { type }),
    ),
    post(all, bytes('6b3873000a0f0a0276311209436f6e6669674d61701203ffffff'), { type }),
    post(all, bytes('6b3873001200'), { type }),
    post(all, encodeObject(namespace('x')), { type }),
    post(all, encodeObject(configMap('b') as unknown as JsonObject), { type: `${type}; charset=utf-8` }),
    ...[`${accept},application/json`, `application/json;q=0.5,${accept}`, `${accept};stream=watch`].map((expected) =>
      get(`${all}/a`, { accept: expected }),
    ),
    get(`${all}/a`, { accept: `${type};as=Table;v=v1;g=meta.k8s.io` }),
    get(`${all}/none`, { accept }),
    get(`${all}/none`, { accept: partial }),
    post(all, configMap('Bad Name'), { accept }),
    get('/api/v1/nopes', { accept }),
    merge(`${all}/a`, 'x', { type }),
    remove(`${all}/a`, 'x', { type }),
    remove(`${all}/a`, encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions', dryRun: ['All'] }), { type, accept }),
    remove(
      `${all}/a`,
      encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions', preconditions: { uid: 'no' }, gracePeriodSeconds: 0 }),
      { type, accept },
    ),
    remove(all, encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Nope' }), { type, accept }),
    remove(all, encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions' }), { type, accept }),
    get('/apis/apps', { accept }),
    get('/apis/apps/v1', { accept }),
    get('/apis', { accept: `${type};g=apidiscovery.k8s.io;v=v2;as=APIGroupDiscoveryList`, silent: true }),
    post(definitions, encodeObject(made), { type, accept }),
    get(at, { until: isEstablished, silent: true }),
    get(custom, { until: ({ status }) => status === 200, silent: true }),
    get(at, { accept, silent: true }),
    post(custom, { apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'a' } }, { as: 'a' }),
    eventsOf(custom, 'a'),
    get(`${custom}/a`, { accept }),
    get(`${custom}/a`, { accept: `${accept},application/json` }),
    get(`${custom}/a`, { accept: partial }),
    get(custom, { accept: partialList }),
    get(custom, { accept }),
    get(`${custom}/none`, { accept: `${accept},application/json` }),
    get(`${custom}?watch=1&timeoutSeconds=1`, { accept }),
    get(`${custom}?watch=1&timeoutSeconds=60`, { accept: partial, ends: ns }),
    remove(`${custom}/a`, encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions' }), { type }),
    remove(at, undefined, { silent: true }),
  ];
});

play(pair, 'watches in Protobuf', () => {
  const ns = uniqueName('w');
  const all = secrets(ns);
  const watch = (query: string, more: object = { accept }) =>
    get(`${all}?watch=1&timeoutSeconds=60&${query}`, { ends: 'the-last', ...more });
  const secret = (value: string, name = 'a') => ({
    ...{ apiVersion: 'v1', kind: 'Secret' },
    ...{ metadata: { name }, data: { x: value } },
  });
  return [
    post(namespaces, namespace(ns), { as: 'namespace' }),
    post(all, secret('AAAA'), { as: 'a' }),
    eventsOf(all, 'a'),
    {
      watches: [
        watch(''),
        watch('', { accept: `${type};stream=watch` }),
        watch('', { accept: partial }),
        watch('sendInitialEvents=true&resourceVersionMatch=NotOlderThan&allowWatchBookmarks=true'),
      ],
      during: [
        put(`${all}/a`, encodeObject(secret('AAAB')), { type, accept }),
        remove(`${all}/a`, undefined, { accept }),
        post(all, secret('AAAA', 'the-last')),
      ],
    },
    (past) => watch(`resourceVersion=${past.revision('namespace')}`),
  ];
});

play(pair, 'subresources in Protobuf', () => {
  const ns = uniqueName('s');
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const sets = `/apis/apps/v1/namespaces/${ns}/replicasets`;
  const selector = { matchLabels: { l: '1' } };
  const template = { metadata: { labels: { l: '1' } }, spec: { containers: [{ name: 'c', image: 'i:1' }] } };
  const set = { apiVersion: 'apps/v1', kind: 'ReplicaSet', metadata: { name: 'a' }, spec: { selector, template } };
  const scale = { apiVersion: 'autoscaling/v1', kind: 'Scale', metadata: { name: 'a' }, spec: { replicas: 3 } };
  const tokenRequest = {
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    spec: { audiences: ['a'], expirationSeconds: 3600 },
  };
  return [
    post(namespaces, namespace(ns)),
    post(accounts, { metadata: { name: 'robot' } }),
    post(`${accounts}/robot/token`, encodeObject(tokenRequest), { type, accept }),
    post(sets, encodeObject(set), { type }),
    put(`${sets}/a/status`, encodeObject({ ...set, status: { replicas: 2 } }), { type, accept }),
    put(`${sets}/a/scale`, encodeObject(scale), { type, accept }),
    get(`${sets}/a/scale`, { accept }),
    get(`${sets}/a`, { accept }),
    merge(`${sets}/a`, { metadata: { labels: { m: '1' } } }),
    post(
      '/apis/authentication.k8s.io/v1/selfsubjectreviews',
      encodeObject({ apiVersion: 'authentication.k8s.io/v1', kind: 'SelfSubjectReview' }),
      { type, accept, silent: true },
    ),
    remove(sets, encodeObject({ apiVersion: 'v1', kind: 'DeleteOptions', propagationPolicy: 'Orphan' }), {
      type,
      accept,
      silent: true,
    }),
  ];
});
