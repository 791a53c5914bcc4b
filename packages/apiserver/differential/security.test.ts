import { Buffer } from 'node:buffer';
import { createHmac } from 'node:crypto';
import { apply, configMap, configMaps, get, jsonPatch, merge, namespace, namespaces, post, put } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { type Past, play, type Step, serverPair, uniqueName } from './pair.js';
import type { Ask } from './wire.js';

const pair = serverPair();
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';

/** A user that may do this much in the namespace, from here on. */
function userWith(ns: string, rules: readonly object[]): { readonly made: Step[]; readonly as: (ask: Ask) => Ask } {
  const user = `user-${ns}`;
  const subjects = [{ kind: 'User', name: user, apiGroup }];
  const roleRef = { apiGroup, kind: 'Role', name: 'some' };
  const first = rules[0] as { readonly verbs: string[]; readonly resources: string[]; readonly apiGroups: string[] };
  const resourceAttributes = {
    ...{ namespace: ns, verb: first.verbs[0], resource: first.resources[0], group: first.apiGroups[0] },
  };
  return {
    made: [
      post(`${rbac}/namespaces/${ns}/roles`, { metadata: { name: 'some' }, rules }),
      post(`${rbac}/namespaces/${ns}/rolebindings`, { metadata: { name: 'some' }, roleRef, subjects }),
      post(
        '/apis/authorization.k8s.io/v1/subjectaccessreviews',
        { spec: { user, resourceAttributes } },
        { until: ({ body }) => body.status?.allowed === true, silent: true },
      ),
    ],
    as: (ask) => ({ ...ask, headers: { ...ask.headers, 'impersonate-user': user } }),
  };
}

play(pair, 'tricks with paths', () => {
  const ns = uniqueName('p');
  const all = configMaps(ns);
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  const { made, as } = userWith(ns, [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }]);
  const paths = [
    // Dot segments.
    ...[`${all}/..`, `${all}/.`, `${all}/../secrets`, `${all}/../secrets/s`, `${all}/a/../../secrets/s`, `${all}/./a`],
    ...['/api/v1/../v1/pods', '/api/./v1/pods', '/./api/v1', '/../api/v1', '/healthz/../api/v1/secrets', '/livez/.'],
    // Encoded ones.
    ...[`${all}/%2e%2e`, `${all}/%2e%2e/secrets/s`, `${all}/%2e%2e%2fsecrets%2fs`, `${all}/..%2fsecrets%2fs`],
    ...[`${all}/%2E`, '/healthz/%2e%2e/api/v1/secrets', '/livez%2f..%2fapi', '/%2e%2e/%2e%2e/etc/passwd'],
    // Encoded slashes, and those that are encoded twice.
    ...[`${all}%2fa`, `/api/v1/namespaces/${ns}%2fsecrets`, `/api/v1/namespaces/${ns}%2fsecrets%2fs`, '/api%2fv1'],
    ...[`${all}%252fa`, `${all}/a%252f..%252f..`, `/api/v1/namespaces/${ns}%252fsecrets/s`, `${all}/a%2Fb`],
    // Slashes without anything between them.
    ...[`/${all}`, `//${all}`, '//api/v1/secrets', '/api//v1/secrets', '/api/v1//secrets', `${all}//a`, `${all}//`],
    ...[
      `/api/v1/namespaces//secrets?labelSelector=none%3D${ns}`,
      `/api/v1/namespaces/${ns}//secrets`,
      `${secrets}//s`,
      '//',
      '///',
      '//livez',
    ],
    ...['/apis//v1/secrets', '/apis//v1', '/apis//', '/apis//v1/namespaces/default/secrets', '/api//', '/api//v1'],
    // Other characters.
    ...[`${all}/%00`, `${all}/a%00`, `${secrets}%00`, `${all}/%0a`, `${all}/%0d%0aX-Injected:%201`, `${all}/%ff`],
    ...[`${all}/%`, `${all}/%2`, `${all}/%zz`, `${all}/a;b`, `${all};x=y`, `${all}/a%3fwatch=1`, `${all}/a%23b`],
    ...[`${all}\\a`, `${all}/..\\secrets`, `${all}/%5c..%5csecrets`, `${all}/a+b`, `${all}/a%20b`, '/API/v1/pods'],
    ...[`/api/v1/namespaces/${ns}/ConfigMaps`, `/api/V1/namespaces/${ns}/configmaps`, `${all}/A`],
    // Names that mean something to JavaScript.
    ...[
      '/__proto__',
      '/api/__proto__',
      '/apis/__proto__/v1',
      '/api/v1/__proto__',
      '/api/v1/constructor',
      `/apis/apps/`,
    ],
    ...[`/api/v1/namespaces/__proto__/configmaps`, `${all}/__proto__`, `${all}/a/__proto__`, '/openapi/v3/__proto__'],
    ...['/livez/__proto__', '/healthz/constructor', `${all}?__proto__=x`, `${all}?labelSelector=__proto__%3Dx`],
    ...[`${all}?fieldSelector=metadata.__proto__%3Dx`, `${all}?limit=1&limit=__proto__`],
  ];
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a')),
    post(secrets, { metadata: { name: 's' } }),
    ...made,
    ...paths.flatMap((path) => [get(path), as(get(path))]),
    ...paths.slice(0, 20).map((path) => as({ method: 'DELETE', path })),
  ];
});

play(pair, 'hostile keys', () => {
  const ns = uniqueName('k');
  const all = configMaps(ns);
  const group = `${uniqueName('k')}.example.com`;
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const keys = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', '__defineGetter__'];
  const text = (key: string, value: string) => `{${JSON.stringify(key)}:${value}}`;
  const map = (data: string, meta = '') =>
    `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"gen-x"${meta}},"data":${data}}`;
  const widget = (rest: string) =>
    `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"generateName":"gen-x"},${rest}}`;
  const long = 'k'.repeat(100_000);
  const dry = `${all}?dryRun=All`;
  return [
    post(namespaces, namespace(ns)),
    ...served(
      definition(group, {
        versions: [version('v1', { properties: { spec: { type: 'object', properties: { a: { type: 'string' } } } } })],
      }),
    ),
    post(all, configMap('kept', { a: '1' })),
    ...keys.flatMap((key) => [
      post(dry, map(text(key, '"x"'))),
      post(dry, map(text(key, '{"polluted":"x"}'))),
      post(dry, map('{}', `,"labels":${text(key, '"x"')},"annotations":${text(key, '"x"')}`)),
      post(dry, map('{}', `,${text(key, '{"polluted":"x"}').slice(1, -1)}`)),
      post(`${dry}&fieldValidation=Strict`, `{${text(key, '1').slice(1, -1)},${map('{}').slice(1)}`),
      post(`${widgets}?dryRun=All`, widget(`"spec":${text(key, '"x"')}`)),
      post(`${widgets}?dryRun=All&fieldValidation=Strict`, widget(`"spec":${text(key, '"x"')}`)),
      merge(`${all}/kept?dryRun=All`, text('data', text(key, '"x"'))),
      merge(`${all}/kept?dryRun=All`, text(key, text('polluted', '"x"'))),
      jsonPatch(`${all}/kept?dryRun=All`, `[{"op":"add","path":"/data/${key}","value":"x"}]`),
      jsonPatch(`${all}/kept?dryRun=All`, `[{"op":"add","path":"/${key}/polluted","value":"x"}]`),
      jsonPatch(`${all}/kept?dryRun=All`, `[{"op":"remove","path":"/data/${key}"}]`),
      jsonPatch(`${all}/kept?dryRun=All`, `[{"op":"copy","from":"/${key}","path":"/data/b"}]`),
      apply(
        `${all}/kept?dryRun=All&fieldManager=m`,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"kept"},"data":${text(key, '"x"')}}`,
      ),
    ]),
    // Very long ones.
    post(dry, map(text(long, '"x"'))),
    post(dry, map('{}', `,"labels":${text(long, '"x"')}`)),
    post(dry, map('{}', `,"annotations":${text(long, '"x"')}`)),
    post(`${dry}&fieldValidation=Strict`, `{${text(long, '1').slice(1, -1)},${map('{}').slice(1)}`),
    // The same one twice: the last counts, or it is an error.
    ...['', '&fieldValidation=Warn', '&fieldValidation=Strict'].flatMap((how) => [
      post(dry + how, map('{"a":"1","a":"2"}')),
      post(dry + how, map('{}', ',"labels":{"a":"1"},"labels":{"b":"2"}')),
      post(dry + how, map('{}').replace('"kind":"ConfigMap"', '"kind":"Secret","kind":"ConfigMap"')),
      post(`${widgets}?dryRun=All${how}`, widget('"spec":{"a":"1","a":"2"}')),
      merge(`${all}/kept?dryRun=All${how}`, '{"data":{"a":"1","a":"2"}}'),
    ]),
    // Keys that only differ in case are not the same.
    post(dry, map('{}').replace('"data"', '"Data"')),
    post(dry, map('{}').replace('"metadata"', '"Metadata"')),
    // Nothing of it is left.
    get(`${all}/kept`),
  ];
});

play(pair, 'bodies that are too large', () => {
  const ns = uniqueName('b');
  const all = configMaps(ns);
  const limit = 3 * 1024 * 1024;
  const padded = (text: string, bytes: number) => text + ' '.repeat(bytes - Buffer.byteLength(text));
  const object = JSON.stringify(configMap('a'));
  const patch = '{"data":{"x":"y"}}';
  return [
    post(namespaces, namespace(ns)),
    post(all, padded(object, limit)),
    post(`${all}?dryRun=All`, padded(object, limit + 1)),
    put(`${all}/a`, padded(object, limit + 1)),
    merge(`${all}/a`, padded(patch, limit)),
    merge(`${all}/a`, padded(patch, limit + 1)),
    apply(`${all}/a?fieldManager=m`, padded(object, limit + 1)),
    { method: 'DELETE', path: `${all}/a`, body: padded('{}', limit + 1), type: 'application/json' },
    post('/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', padded('{"spec":{}}', limit + 1)),
    // Larger than etcd takes, and than annotations may be.
    post(all, configMap('b', { a: 'x'.repeat(1024 * 1024) })),
    post(all, configMap('b', {}, { annotations: { a: 'x'.repeat(256 * 1024) } })),
    // Who may not write learns nothing else.
    { ...post(all, padded(object, limit + 1)), headers: { 'impersonate-user': 'nobody-special' } },
    { ...post(all, padded(object, limit + 1)), headers: { authorization: 'Bearer wrong' } },
  ];
});

play(pair, 'tokens that are tampered with', () => {
  const ns = uniqueName('t');
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const review = '/apis/authentication.k8s.io/v1';
  const tokenOf = (past: Past, name: string): string => past.body(name).status.token;
  const encoded = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url');
  const decoded = (part: string | undefined): Record<string, unknown> =>
    JSON.parse(Buffer.from(part ?? '', 'base64url').toString()) as Record<string, unknown>;
  const request = (spec: object, name: string): Ask =>
    post(`${accounts}/robot/token`, { spec }, { as: name, silent: true });
  const changes: readonly ((head: string, claims: string, signature: string) => string)[] = [
    (head, claims, signature) => `${head}.${encoded({ ...decoded(claims), exp: 4_000_000_000 })}.${signature}`,
    (head, claims, signature) =>
      `${head}.${encoded({ ...decoded(claims), sub: 'system:serviceaccount:kube-system:default' })}.${signature}`,
    (_, claims) => `${encoded({ alg: 'none' })}.${claims}.`,
    (_, claims, signature) => `${encoded({ alg: 'none' })}.${claims}.${signature}`,
    (head, claims) => {
      const signed = `${encoded({ ...decoded(head), alg: 'HS256' })}.${claims}`;
      return `${signed}.${createHmac('sha256', 'public key').update(signed).digest('base64url')}`;
    },
    (head, claims, signature) => `${encoded({ ...decoded(head), kid: 'another' })}.${claims}.${signature}`,
    (head, claims, signature) => `${head}.${claims}.${signature}.${signature}`,
    (head, claims, signature) => `${head}.${claims}.${signature.slice(2)}`,
    (head, _, signature) => `${head}..${signature}`,
    (head, claims, signature) => ` ${head}.${claims}.${signature}`,
    (head, claims, signature) => `${head}.${claims}.${signature}=`,
    () => 'x'.repeat(500_000),
    () => '__proto__',
    () => 'constructor',
  ];
  const changed = (change: (typeof changes)[number]) => (past: Past) => {
    const [head = '', claims = '', signature = ''] = tokenOf(past, 'plain').split('.');
    return change(head, claims, signature);
  };
  return [
    post(namespaces, namespace(ns)),
    post(accounts, { metadata: { name: 'robot' } }),
    request({}, 'plain'),
    request({ audiences: ['vault'] }, 'vault'),
    ...changes.map((change) => (past: Past) => ({
      ...post(`${review}/selfsubjectreviews`, {}),
      headers: { authorization: `Bearer ${changed(change)(past)}` },
    })),
    // As reviewed for others, whose audience it may be for.
    ...[undefined, ['vault'], ['vault', 'other'], ['other'], []].flatMap((audiences) =>
      ['plain', 'vault'].map((name) => (past: Past) => ({
        ...post(`${review}/tokenreviews`, { spec: { token: tokenOf(past, name), audiences } }),
        silent: true,
        as: `${name} for ${audiences}`,
      })),
    ),
    (past: Past) => ({
      ...post(`${review}/selfsubjectreviews`, {}),
      headers: { authorization: `Bearer ${tokenOf(past, 'vault')}` },
    }),
  ];
});

play(pair, 'other ways to more rights', () => {
  const ns = uniqueName('e');
  const { made, as } = userWith(ns, [
    {
      apiGroups: [''],
      resources: ['configmaps', 'serviceaccounts'],
      verbs: ['get', 'list', 'create', 'update', 'patch'],
    },
    {
      apiGroups: [apiGroup],
      resources: ['roles', 'rolebindings'],
      verbs: ['get', 'create', 'update', 'patch', 'delete'],
    },
  ]);
  const roles = `${rbac}/namespaces/${ns}/roles`;
  const bindings = `${rbac}/namespaces/${ns}/rolebindings`;
  const all = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
  const bound = (name: string, subjects: readonly object[], roleRef: object) => ({
    metadata: { name },
    roleRef,
    subjects,
  });
  const self = { kind: 'User', name: `user-${ns}`, apiGroup };
  const impersonates = (headers: object): Ask => {
    const { headers: own, ...ask } = as(get(`/api/v1/namespaces/${ns}/secrets`));
    return { ...ask, headers: { ...own, ...headers } };
  };
  return [
    post(namespaces, namespace(ns)),
    ...made,
    ...[
      // Its own role.
      merge(`${roles}/some`, { rules: all }),
      jsonPatch(`${roles}/some`, [{ op: 'add', path: '/rules/-', value: all[0] }]),
      jsonPatch(`${roles}/some`, [{ op: 'add', path: '/rules/0/verbs/-', value: 'delete' }]),
      apply(`${roles}/some?fieldManager=m&force=true`, {
        ...{ apiVersion: `${apiGroup}/v1`, kind: 'Role', metadata: { name: 'some' }, rules: all },
      }),
      merge(`${roles}/some?dryRun=All`, { rules: all }),
      // A role of the same name again, or with another order of words.
      post(roles, { metadata: { name: 'wide' }, rules: [{ apiGroups: [''], resources: ['*'], verbs: ['get'] }] }),
      post(roles, {
        metadata: { name: 'wide' },
        rules: [{ apiGroups: [''], resources: ['configmaps/*'], verbs: ['get'] }],
      }),
      post(roles, {
        metadata: { name: 'wide' },
        rules: [{ apiGroups: [''], resources: ['configmaps'], verbs: ['GET'] }],
      }),
      post(roles, {
        metadata: { name: 'wide' },
        rules: [{ apiGroups: [''], resources: ['*/token'], verbs: ['create'] }],
      }),
      post(roles, {
        metadata: { name: 'aggregated', labels: { 'rbac.authorization.k8s.io/aggregate-to-admin': 'true' } },
        rules: all,
      }),
      // Bindings to others' roles, and of others.
      ...['cluster-admin', 'admin', 'edit', 'system:node', 'system:masters', 'view'].map((name) =>
        post(
          `${bindings}?dryRun=All`,
          bound(`to-${name.replace(':', '-')}`, [self], { apiGroup, kind: 'ClusterRole', name }),
        ),
      ),
      post(`${bindings}?dryRun=All`, bound('own', [self], { apiGroup, kind: 'Role', name: 'some' })),
      post(
        `${bindings}?dryRun=All`,
        bound('own', [{ kind: 'Group', name: 'system:unauthenticated', apiGroup }], {
          apiGroup,
          kind: 'Role',
          name: 'some',
        }),
      ),
      // Beyond its namespace.
      post(`${rbac}/clusterroles`, { metadata: { name: ns }, rules: [] }),
      post(`${rbac}/clusterrolebindings`, bound(ns, [self], { apiGroup, kind: 'ClusterRole', name: 'view' })),
      post(
        `${rbac}/namespaces/kube-system/rolebindings`,
        bound(ns, [self], { apiGroup, kind: 'ClusterRole', name: 'view' }),
      ),
      // Tokens and certificates of others.
      post(`/api/v1/namespaces/${ns}/serviceaccounts/default/token`, { spec: {} }),
      post('/api/v1/namespaces/kube-system/serviceaccounts/default/token', { spec: {} }),
      post('/apis/certificates.k8s.io/v1/certificatesigningrequests', { metadata: { name: ns }, spec: {} }),
      post('/apis/authentication.k8s.io/v1/tokenreviews', { spec: { token: 'x' } }),
      post('/apis/authorization.k8s.io/v1/subjectaccessreviews', { spec: { user: 'x' } }),
    ].map(as),
    // Who acts as somebody needs that right itself: acting as somebody who may act as others does not add up.
    ...[
      { 'impersonate-group': 'system:masters' },
      { 'impersonate-user': 'system:admin' },
      { 'impersonate-user': 'system:kube-controller-manager' },
      { 'impersonate-uid': '0' },
      { 'impersonate-extra-__proto__': 'x' },
      { 'impersonate-extra-scopes': 'x' },
      { 'Impersonate-Extra-%5f%5fproto%5f%5f': 'x' },
      { 'x-remote-user': 'system:admin', 'x-remote-group': 'system:masters' },
      { 'x-forwarded-user': 'admin' },
    ].map((headers) => impersonates(headers)),
  ];
});
