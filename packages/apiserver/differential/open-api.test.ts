import { get, post } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair } from './pair.js';
import type { Answer } from './wire.js';

const pair = serverPair();

const groups = [
  ...['admissionregistration.k8s.io/v1', 'apiextensions.k8s.io/v1', 'apiregistration.k8s.io/v1', 'apps/v1'],
  ...['authentication.k8s.io/v1', 'authorization.k8s.io/v1', 'autoscaling/v1', 'autoscaling/v2', 'batch/v1'],
  ...['certificates.k8s.io/v1', 'coordination.k8s.io/v1', 'discovery.k8s.io/v1', 'events.k8s.io/v1'],
  ...['flowcontrol.apiserver.k8s.io/v1', 'networking.k8s.io/v1', 'node.k8s.io/v1', 'policy/v1'],
  ...['rbac.authorization.k8s.io/v1', 'resource.k8s.io/v1', 'scheduling.k8s.io/v1', 'storage.k8s.io/v1'],
];

play(pair, 'OpenAPI v3 of all built-in groups', () =>
  ['api', 'api/v1', 'apis', 'apis/apps', ...groups.map((group) => `apis/${group}`)].map((path) =>
    get(`/openapi/v3/${path}`),
  ),
);

play(pair, 'how OpenAPI documents are asked for', () => {
  const one = '/openapi/v3/apis/coordination.k8s.io/v1';
  const shows = ['etag', 'vary', 'cache-control', 'location', 'expires', 'content-encoding'];
  const urlOf = (index: string): string =>
    (JSON.parse(index) as { paths: Record<string, { serverRelativeURL: string }> }).paths['apis/coordination.k8s.io/v1']
      ?.serverRelativeURL ?? '';
  const hashed = (path: string) => path.split('hash=')[1] ?? '';
  return [
    get('/openapi/v3', { as: 'index', silent: true }),
    get(one, { shows }),
    get(`${one}?hash=wrong`, { shows }),
    get(`${one}?hash=`, { shows }),
    (past) => get(urlOf(past.body('index')), { shows }),
    (past) => get(one, { shows, headers: { 'if-none-match': `"${hashed(urlOf(past.body('index')))}"` } }),
    (past) =>
      get(urlOf(past.body('index')), { shows, headers: { 'if-none-match': `"${hashed(urlOf(past.body('index')))}"` } }),
    get(one, { shows, headers: { 'if-none-match': '"x", "y"' } }),
    get(one, { accept: 'application/json', shows }),
    get(one, { accept: 'text/html, application/*;q=0.1', shows }),
    get(one, { accept: 'text/html', shows }),
    ...['v3.v1.0', 'v3@v1.0', 'v2.v1.0'].map((name) => ({
      // What is in it is compared elsewhere.
      ...{ method: 'HEAD', path: one, shows },
      accept: `application/com.github.proto-openapi.spec.${name}+protobuf`,
    })),
    get('/openapi/v2', { accept: 'text/html', shows: ['etag', 'cache-control'] }),
    get('/openapi/v3/apis/nope/v1', { shows }),
    get('/openapi/v3/apis/apps/v9'),
    get('/openapi/v3/'),
    get('/openapi'),
    get('/openapi/v4'),
    get('/openapi/v2/x'),
    { method: 'HEAD', path: one, shows },
    post(one, {}),
  ];
});

play(pair, 'OpenAPI of custom kinds', () => {
  const group = 'open-api.example.com';
  const description = 'in custom words';
  const schema = {
    description,
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        description,
        required: ['name', 'maybe'],
        properties: {
          name: { type: 'string', description, pattern: '^a', maxLength: 5, default: 'a' },
          size: { type: 'integer', format: 'int32', minimum: 1, maximum: 9 },
          port: { 'x-kubernetes-int-or-string': true },
          either: { 'x-kubernetes-int-or-string': true, anyOf: [{ type: 'integer' }, { type: 'string' }] },
          limited: { 'x-kubernetes-int-or-string': true, anyOf: [{ maximum: 5 }, { pattern: 'x' }] },
          maybe: { type: 'object', nullable: true, properties: { a: { type: 'string' } } },
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true, properties: { a: { type: 'string' } } },
          opens: { type: 'array', items: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
          list: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: { type: 'object', required: ['name'], properties: { name: { type: 'string' } } },
          },
          map: { type: 'object', additionalProperties: { type: 'number' } },
          words: { type: 'array', 'x-kubernetes-list-type': 'set', items: { type: 'string', enum: ['a', 'b'] } },
          one: { type: 'object', oneOf: [{ required: ['a'] }], properties: { a: { type: 'boolean' } } },
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            properties: { spec: { type: 'object' } },
          },
        },
      },
      status: { type: 'object', properties: { n: { type: 'integer' } } },
    },
  };
  const more = {
    subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.n' } },
    selectableFields: [{ jsonPath: '.spec.name' }],
  };
  const any = { 'x-kubernetes-preserve-unknown-fields': true };
  const widgets = definition(group, { versions: [version('v1', schema, more)] });
  const open = definition(group, { plural: 'opens', kind: 'Open', scope: 'Cluster', versions: [version('v1', any)] });
  const whole = (part: 'definitions' | 'components') => (answer: Answer) =>
    ['Widget', 'Open'].every((kind) => JSON.stringify(answer.body[part] ?? {}).includes(`open-api.v1.${kind}"`));
  return [
    ...served(widgets),
    ...served(open),
    get(`/openapi/v3/apis/${group}/v1`, { until: whole('components') }),
    get('/openapi/v2', { until: whole('definitions') }),
  ];
});
