import { Buffer } from 'node:buffer';
import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

play(pair, 'nodes', () => {
  const name = uniqueName('n');
  const nodes = '/api/v1/nodes';
  const at = `${nodes}/${name}`;
  const dry = (spec: object, status: object = {}) => post(`${nodes}?dryRun=All`, { metadata: { name }, spec, status });
  const taint = { key: 'a', value: 'b', effect: 'NoSchedule' };
  return [
    dry({}),
    dry({ podCIDR: '10.1.0.0/24', providerID: 'p' }),
    dry({ podCIDRs: ['10.1.0.0/24', '10.2.0.0/24'] }),
    dry({ podCIDR: '10.1.0.1/24' }),
    dry({ podCIDR: 'x' }),
    dry({ taints: [taint, taint, { key: 'a b', value: 'c d', effect: 'Odd' }, { key: 'x' }] }),
    dry({ taints: [{ key: 'node.kubernetes.io/not-ready', effect: 'NoSchedule' }] }),
    dry({}, { capacity: { cpu: '-1', pods: '1500m', 'example.com/x': '2' } }),
    dry({ configSource: { configMap: { name: 'x' } } }),
    post(nodes, {
      metadata: { name },
      status: { capacity: { cpu: '2' }, addresses: [{ type: 'InternalIP', address: '1.2.3.4' }] },
    }),
    merge(at, { spec: { podCIDR: '10.1.0.0/24', podCIDRs: ['10.1.0.0/24'], providerID: 'p' } }),
    merge(at, { spec: { podCIDR: '10.2.0.0/24', podCIDRs: ['10.2.0.0/24'], providerID: 'q' } }),
    merge(at, { spec: { unschedulable: true, taints: [taint] } }),
    merge(at, { status: { phase: 'Running' } }),
    merge(`${at}/status`, { status: { capacity: { cpu: '-1' }, allocatable: { pods: '1500m' } } }),
    merge(`${at}/status`, {
      status: {
        conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: null, lastTransitionTime: null }],
        addresses: [
          { type: 'InternalIP', address: '1.2.3.4' },
          { type: 'InternalIP', address: '1.2.3.4' },
        ],
      },
    }),
    merge(`${at}/status`, {
      status: { conditions: [{ type: 'Ready', status: 'True' }], nodeInfo: { kubeletVersion: 'v1' } },
    }),
    get(`${nodes}?fieldSelector=metadata.name%3D${name}`),
    remove(at),
  ];
});

play(pair, 'webhook configurations', () => {
  const name = uniqueName('w');
  const api = '/apis/admissionregistration.k8s.io/v1';
  const kinds = ['validatingwebhookconfigurations', 'mutatingwebhookconfigurations'];
  const rule = { operations: ['CREATE'], apiGroups: ['nothing.example.com'], apiVersions: ['v1'], resources: ['pods'] };
  const hook = {
    name: 'a.example.com',
    clientConfig: { url: 'https://example.com/x' },
    sideEffects: 'None',
    admissionReviewVersions: ['v1'],
  };
  const dry = (...webhooks: object[]) =>
    kinds.map((kind) => post(`${api}/${kind}?dryRun=All`, { metadata: { name }, webhooks }));
  const one = (more: object) => dry({ ...hook, ...more });
  const rules = (more: object) => one({ rules: [{ ...rule, ...more }] });
  return [
    ...dry(),
    ...one({}),
    ...dry({}),
    ...dry(hook, hook),
    ...one({ name: 'a.b' }),
    ...one({ name: 'Bad.Name.Here' }),
    ...one({ failurePolicy: 'Odd', matchPolicy: 'Odd', reinvocationPolicy: 'Odd', timeoutSeconds: 31 }),
    ...one({ sideEffects: 'Some' }),
    ...one({ sideEffects: null, timeoutSeconds: 0 }),
    ...one({ admissionReviewVersions: [] }),
    ...one({ admissionReviewVersions: ['v2', 'v2', 'V 1'] }),
    ...one({ clientConfig: {} }),
    ...one({ clientConfig: { url: 'http://a.b/?x=y#z' } }),
    ...one({ clientConfig: { url: 'https://u@a.b' } }),
    ...one({ clientConfig: { url: 'https://a.b', service: { name: 'a', namespace: 'b' } } }),
    ...one({ clientConfig: { service: { name: 'a', namespace: 'b', path: '/x' } } }),
    ...one({ clientConfig: { service: { name: '', namespace: 'b', path: 'x//Y', port: 70_000 } } }),
    ...one({
      namespaceSelector: { matchLabels: { 'a b': 'c' } },
      objectSelector: { matchExpressions: [{ key: 'a', operator: 'Odd' }] },
    }),
    ...one({ matchConditions: [{ name: '', expression: '' }] }),
    ...one({
      matchConditions: [
        { name: 'a b', expression: 'true' },
        { name: 'c', expression: 'true' },
        { name: 'c', expression: 'true' },
      ],
    }),
    ...rules({}),
    ...one({ rules: [{}] }),
    ...rules({ operations: ['*', 'CREATE'], apiGroups: ['*', ''], apiVersions: ['*', 'v1'] }),
    ...rules({ operations: ['Odd'], apiVersions: [''], scope: 'Odd' }),
    ...rules({ resources: ['*/*', 'pods'] }),
    ...rules({ resources: ['*', 'pods', ''] }),
    ...rules({ resources: ['pods/*', 'pods/status', '*/scale', 'deployments/scale'] }),
    ...kinds.flatMap((kind) => [
      post(`${api}/${kind}`, { metadata: { name }, webhooks: [{ ...hook, rules: [rule] }] }),
      merge(`${api}/${kind}/${name}`, { metadata: { labels: { a: 'b' } } }),
      merge(`${api}/${kind}/${name}`, { webhooks: [{ ...hook, rules: [rule], timeoutSeconds: 5 }] }),
      put(`${api}/${kind}/${name}`, { metadata: { name }, webhooks: [] }),
      remove(`${api}/${kind}/${name}`),
    ]),
  ];
});

play(pair, 'conditions of webhooks', () => {
  const name = uniqueName('w');
  const all = '/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations';
  const webhook = (...expressions: string[]) => ({
    ...{ name: 'a.b.c', sideEffects: 'None', admissionReviewVersions: ['v1'], clientConfig: { url: 'https://a/b' } },
    matchConditions: expressions.map((expression, i) => ({ name: `c${i}`, expression })),
  });
  return [
    ...conditions.map((expression) =>
      post(`${all}?dryRun=All`, { metadata: { name }, webhooks: [webhook(expression)] }),
    ),
    post(all, { metadata: { name }, webhooks: [webhook('true')] }),
    merge(`${all}/${name}`, { webhooks: [webhook('true', 'nope', '1')] }),
    remove(`${all}/${name}`),
  ];
});

const conditions = `
true | object.spec.x == 1 | oldObject == null | request.userInfo.username == 'a' | request.nope | nope | 1 + | 'x' | 1 |
request.resource.group != 'rbac' | !('system:nodes' in request.userInfo.groups) | params.x | variables.x | dyn(1) |
authorizer.group('').resource('pods').check('get').allowed() | namespaceObject.metadata.name == 'a' | authorizer |
object.metadata.name.startsWith('a') && has(object.spec) | request.kind.kind == 1 | request.dryRun | request.options.x |
request.object | authorizer.requestResource.check('x').allowed() | request.userInfo.extra['a'][0] == 'b' |
authorizer.path('/x').check('get').reason() == '' | object.matches('(') | request.name.matches('(') |
authorizer.serviceAccount('a', 'b').group('x').resource('y').subresource('s').namespace('n').name('z').check('w').errored() |
request.name.find('a') == 'b' | quantity('1') == quantity('2') | authorizer.group('').check('x') | namespaceObject.spec.x |
authorizer.group('a').resource('x').fieldSelector('a=b').labelSelector('c').check('x').error() == '' |
request.requestKind.group == request.requestResource.group | request.operation == 'x' && request.uid == 'y' |
namespaceObject.metadata.labels['a'] == 'b' | request.userInfo.uid == 5 | format.dns1123Label().validate('a').hasValue() |
object.x.all(y, y.all(z, z.all(a, a.all(b, b)))) | namespaceObject.status.conditions.all(c, c.status == 'x') |
request.resource == request.requestResource | type(request.name) == string | authorizer == authorizer`
  .split('|')
  .map((one) => one.trim());

play(pair, 'runtime classes', () => {
  const name = uniqueName('rc');
  const all = '/apis/node.k8s.io/v1/runtimeclasses';
  const dry = (more: object) => post(`${all}?dryRun=All`, { metadata: { name }, handler: 'h', ...more });
  const toleration = { key: 'a', operator: 'Exists' };
  return [
    dry({}),
    dry({ handler: '' }),
    dry({ handler: 'Bad.Handler' }),
    dry({ overhead: { podFixed: { cpu: '1', memory: '-1', odd: '1' } } }),
    dry({ scheduling: { nodeSelector: { 'a b': 'c' }, tolerations: [toleration, toleration, { operator: 'Odd' }] } }),
    post(all, { metadata: { name }, handler: 'h' }, { as: 'a' }),
    merge(`${all}/${name}`, { handler: 'i' }),
    merge(`${all}/${name}`, { overhead: { podFixed: { cpu: '1' } } }),
    remove(`${all}/${name}`),
  ];
});

play(pair, 'limits, quotas and accounts', () => {
  const ns = uniqueName('lq');
  const at = (plural: string) => `/api/v1/namespaces/${ns}/${plural}`;
  const limit = (...limits: object[]) =>
    post(`${at('limitranges')}?dryRun=All`, { metadata: { name: 'a' }, spec: { limits } });
  const quota = (spec: object) => post(`${at('resourcequotas')}?dryRun=All`, { metadata: { name: 'a' }, spec });
  const scoped = (...matchExpressions: object[]) => quota({ hard: { pods: '1' }, scopeSelector: { matchExpressions } });
  const container = (more: object) => limit({ type: 'Container', ...more });
  return [
    post(namespaces, namespace(ns)),
    limit(),
    limit({ type: '' }),
    limit({ type: 'Odd' }, { type: 'Pod' }, { type: 'Pod' }, { type: 'example.com/x' }),
    container({ max: { cpu: '2' }, min: { cpu: '1', memory: '1Gi' } }),
    container({ max: { cpu: '2' }, default: { memory: '1Gi' }, defaultRequest: { cpu: '500m' } }),
    container({ max: { cpu: '1' }, min: { cpu: '2' }, default: { cpu: '3' }, defaultRequest: { cpu: '4' } }),
    container({ max: { odd: '1', 'example.com/x': '2' }, maxLimitRequestRatio: { cpu: '0.5', memory: '2' } }),
    container({ max: { cpu: '2' }, min: { cpu: '1' }, maxLimitRequestRatio: { cpu: '3' } }),
    container({ default: { 'example.com/x': '2' }, defaultRequest: { 'example.com/x': '1' } }),
    limit({ type: 'Pod', default: { cpu: '1' }, defaultRequest: { cpu: '1' } }),
    limit({ type: 'PersistentVolumeClaim', default: { storage: '1' } }),
    limit({ type: 'PersistentVolumeClaim', max: { storage: '1Gi' } }),
    post(at('limitranges'), { metadata: { name: 'a' }, spec: { limits: [{ type: 'Container', max: { cpu: '1' } }] } }),
    quota({}),
    quota({
      hard: {
        pods: '1',
        cpu: '2',
        'requests.storage': '1Gi',
        'count/pods': '1',
        odd: '1',
        services: '1500m',
        memory: '-1',
      },
    }),
    quota({ hard: { 'requests.cpu': '2', 'limits.cpu': '1', memory: '2', 'limits.memory': '1' } }),
    quota({ hard: { pods: '1', services: '1' }, scopes: ['BestEffort', 'NotBestEffort', 'Odd'] }),
    quota({ hard: { pods: '1' }, scopes: ['Terminating'] }),
    scoped({ scopeName: 'PriorityClass', operator: 'In', values: ['a'] }),
    scoped({ scopeName: 'PriorityClass', operator: 'In' }, { scopeName: 'BestEffort', operator: 'In', values: ['a'] }),
    scoped({ scopeName: 'Odd', operator: 'Odd' }, { scopeName: 'Terminating', operator: 'Exists', values: ['a'] }),
    scoped({ scopeName: 'VolumeAttributesClass', operator: 'Exists' }),
    post(at('resourcequotas'), {
      metadata: { name: 'a' },
      spec: { hard: { 'count/none.example.com': '1' }, scopes: ['BestEffort'] },
    }),
    merge(`${at('resourcequotas')}/a`, { spec: { scopes: ['Terminating'] } }),
    merge(`${at('resourcequotas')}/a`, { spec: { scopes: null } }),
    merge(`${at('resourcequotas')}/a/status`, { status: { hard: { odd: '1' }, used: { pods: '-1' } } }),
    merge(`${at('resourcequotas')}/a/status`, { status: { hard: { pods: '1' }, used: { pods: '0' } } }),
    post(at('serviceaccounts'), {
      metadata: { name: 'a' },
      secrets: [{ name: 's', namespace: 'x', kind: 'Secret' }, {}],
    }),
    post(at('serviceaccounts'), {
      metadata: { name: 'b', annotations: { 'kubernetes.io/enforce-mountable-secrets': 'true' } },
      imagePullSecrets: [{ name: 'p' }],
    }),
    merge(`${at('serviceaccounts')}/b`, { metadata: { labels: { a: 'b' } } }),
    apply(`${at('serviceaccounts')}/c?fieldManager=m`, {
      apiVersion: 'v1',
      kind: 'ServiceAccount',
      metadata: { name: 'c' },
      secrets: [{ name: 's' }],
    }),
  ];
});

play(pair, 'API services', () => {
  const group = `${uniqueName('g')}.example.com`;
  const all = '/apis/apiregistration.k8s.io/v1/apiservices';
  const name = `v1.${group}`;
  const fine = { group, version: 'v1', groupPriorityMinimum: 100, versionPriority: 10 };
  const dry = (more: object, as = name) =>
    post(`${all}?dryRun=All`, { metadata: { name: as }, spec: { ...fine, ...more } });
  const service = { name: 's', namespace: 'n' };
  return [
    dry({ service, insecureSkipTLSVerify: true }),
    dry({ service }, 'other'),
    dry({ group: '', version: 'v2' }, 'v2.'),
    dry({ group: 'Bad Group', version: 'V 1', groupPriorityMinimum: 0, versionPriority: 2000 }),
    dry({ groupPriorityMinimum: 20_001, versionPriority: -1 }),
    dry({ caBundle: 'YWJj', insecureSkipTLSVerify: true }),
    dry({ service: { port: 70_000 }, caBundle: 'YWJj', insecureSkipTLSVerify: true }),
    dry({}),
  ];
});

/** A request for the user `u` of the group `g`. */
const request = [
  'LS0tLS1CRUdJTiBDRVJUSUZJQ0FURSBSRVFVRVNULS0tLS0KTUlIU01Ib0NBUUF3R0RFS01BZ0dBMVVFQXd3QmRURUtNQWdHQTFV',
  'RUNnd0JaekJaTUJNR0J5cUdTTTQ5QWdFRwpDQ3FHU000OUF3RUhBMElBQkpqYVJCSjRLaElpamIraHlWUU5qSDBrK1J0bXMyNkY4',
  'ZHRFYTJFM3ZSeEFReEQwClF5YnZnNGRkYWtoNWpQaVNMRW5hVGJLbzVwc0xIKzh5UTh0OUpucWdBREFLQmdncWhrak9QUVFEQWdO',
  'SUFEQkYKQWlFQW5GalZjRnZBUWc0OWNnMDRZUWViRytURTJHU25JelNJYWRJSTdMVHBiSmtDSUZuOFlCYWhEcDAzaGI0ZgpVS1dw',
  'dW5RSjZOY2lFOHRNN3NwVVptTDNqOWV5Ci0tLS0tRU5EIENFUlRJRklDQVRFIFJFUVVFU1QtLS0tLQo=',
].join('');

/** Malformed requests: no DER, nothing, cut off, with more after it, signed by another, with a broken envelope. */
const badRequests = (() => {
  const lines = Buffer.from(request, 'base64').toString().trim().split('\n');
  const der = Buffer.from(lines.slice(1, -1).join(''), 'base64');
  const enclosed = (body: string, type = 'CERTIFICATE REQUEST') =>
    Buffer.from(`-----BEGIN ${type}-----\n${body}\n-----END ${type}-----\n`).toString('base64');
  const changed = (at: number) => {
    const copy = Buffer.from(der);
    copy[at] = (copy[at] as number) ^ 1;
    return enclosed(copy.toString('base64'));
  };
  const whole = der.toString('base64');
  return [
    ...[enclosed('YWJj'), enclosed(''), enclosed(der.subarray(0, 100).toString('base64'))],
    ...[enclosed(Buffer.concat([der, Buffer.alloc(1)]).toString('base64')), enclosed(`${whole}!`)],
    ...[enclosed(whole, 'NEW CERTIFICATE REQUEST'), enclosed(`A: b\n\n${whole}`)],
    // The signature, the name, the curve, lengths, tags and the algorithm.
    ...[der.length - 1, 20, 50, 2, 5, 0, 135].map(changed),
  ];
})();

play(pair, 'requests for certificates', () => {
  const name = uniqueName('csr');
  const all = '/apis/certificates.k8s.io/v1/certificatesigningrequests';
  const at = `${all}/${name}`;
  const fine = { request, signerName: 'example.com/signer', usages: ['client auth'] };
  const dry = (more: object) => post(`${all}?dryRun=All`, { metadata: { name }, spec: { ...fine, ...more } });
  const condition = (type: string, status = 'True') => ({ type, status, reason: 'R', message: 'm' });
  const status = (...conditions: object[]) => ({ status: { conditions } });
  return [
    dry({}),
    ...['', null, 'YWJj', ...badRequests].map((one) => dry({ request: one })),
    dry({ usages: [] }),
    dry({ usages: ['odd', 'any', 'any'], expirationSeconds: 5 }),
    ...['', 'x', 'a/b/c', 'x/y', 'Bad.com/Y', 'kubernetes.io/legacy-unknown', 'a.b/c.D'].map((signerName) =>
      dry({ signerName }),
    ),
    post(all, { metadata: { name }, spec: { ...fine, username: 'x', groups: ['y'] }, status: { certificate: 'YWJj' } }),
    merge(at, { spec: { signerName: 'example.com/other' }, status: { certificate: 'YWJj' } }),
    merge(`${at}/status`, status(condition('Approved'))),
    merge(`${at}/status`, status(condition('Failed', 'False'))),
    merge(`${at}/status`, { status: { certificate: 'YWJj' } }),
    merge(`${at}/approval`, status(condition('Approved'), condition('Denied'))),
    merge(`${at}/approval`, status(condition('', ''), condition('Odd', 'Odd'), condition('Approved', 'False'))),
    merge(`${at}/approval`, status(condition('Approved'))),
    merge(`${at}/approval`, status()),
    merge(`${at}/approval`, { status: { certificate: 'YWJj' } }),
    merge(`${at}/status`, status(condition('Failed'))),
    get(`${all}?fieldSelector=spec.signerName%3Dexample.com/none`),
    remove(at),
  ];
});
