import { seededRandom } from 'riata/runtime';
import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import type { Ask } from './wire.js';

const pair = serverPair();
const rbac = '/apis/rbac.authorization.k8s.io/v1';
const authorization = '/apis/authorization.k8s.io/v1';
const apiGroup = 'rbac.authorization.k8s.io';
/** Roles and bindings count a moment later on the real server. */
const settled = (path: string, user: object): Ask =>
  post(
    `${authorization}/subjectaccessreviews`,
    { spec: { ...user, nonResourceAttributes: { path, verb: 'get' } } },
    { until: ({ body }) => body.status?.allowed === true, silent: true },
  );

/** A user whose name no other play has, and a binding by which the real server shows that it has heard of all before it. */
function stage(prefix: string) {
  const name = uniqueName(prefix);
  const user = `user-${name}`;
  const subject = { kind: 'User', name: user, apiGroup };
  const probe = `/probe-${name}`;
  const end: Step[] = [
    post(`${rbac}/clusterroles`, {
      metadata: { name: `probe-${name}` },
      rules: [{ nonResourceURLs: [probe], verbs: ['get'] }],
    }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: `probe-${name}` },
      roleRef: { apiGroup, kind: 'ClusterRole', name: `probe-${name}` },
      subjects: [subject],
    }),
    settled(probe, { user }),
  ];
  const as = (ask: Ask, headers: object = {}): Ask => ({
    ...ask,
    headers: { 'impersonate-user': user, ...ask.headers, ...headers },
  });
  return { name, user, subject, end, as };
}

play(pair, 'default roles and bindings', () => {
  const defaults = 'labelSelector=kubernetes.io/bootstrapping%3Drbac-defaults';
  return ['clusterroles', 'clusterrolebindings', 'roles', 'rolebindings'].map((plural) =>
    get(`${rbac}/${plural}?${defaults}`),
  );
});

/** Generated rules, and requests that some of them allow. */
function matrix(seed: number) {
  const random = seededRandom(`rbac ${seed}`);
  const pick = <T>(list: readonly T[]): T => list[random.int(0, list.length - 1)] as T;
  const some = <T>(list: readonly T[]) => list.filter(() => random.next() < 0.4);
  const orOne = <T>(list: readonly T[], from: readonly T[]) => (list.length > 0 ? list : [pick(from)]);
  const verbs = ['get', 'list', 'watch', 'create', 'update', 'patch', 'delete', 'deletecollection', '*', 'bind', 'odd'];
  const groups = ['', 'apps', 'example.com', '*'];
  const resources = [
    'pods',
    'deployments',
    'pods/log',
    '*/scale',
    '*',
    'deployments/scale',
    'pods/*',
    'widgets/status',
  ];
  const names = ['a', 'b', '*', ''];
  const urls = ['/healthz', '/healthz/*', '/metrics*', '*', '/api/v1', '/*/x', ''];
  const rule = () =>
    random.next() < 0.8
      ? {
          verbs: orOne(some(verbs).slice(0, 2), verbs),
          apiGroups: orOne(some(groups).slice(0, 2), groups),
          resources: orOne(some(resources).slice(0, 2), resources),
          ...(random.next() < 0.3 && { resourceNames: orOne(some(names), names) }),
        }
      : { verbs: orOne(some(verbs).slice(0, 2), verbs), nonResourceURLs: orOne(some(urls).slice(0, 2), urls) };
  const request = (ns: string) => {
    if (random.next() < 0.2) {
      const path = pick(['/healthz', '/healthz/etcd', '/metrics', '/metrics/x', '/api/v1', '/a/x', '/', '']);
      return { nonResourceAttributes: { path, verb: pick(verbs) } };
    }
    const [resource, subresource] = pick(['pods', 'pods/log', 'deployments/scale', 'widgets/status', 'widgets']).split(
      '/',
    );
    return {
      resourceAttributes: {
        ...{ verb: pick(verbs), group: pick(groups), resource, subresource },
        namespace: pick([ns, ns, ns, 'default', '']),
        name: pick(['', 'a', 'b', 'c']),
      },
    };
  };
  return { rule, request, random };
}

for (const seed of [1, 2, 3, 4]) {
  play(pair, `generated roles and what they allow, ${seed}`, () => {
    const { name: ns, user, subject, end } = stage('m');
    const { rule, request, random } = matrix(seed);
    const groupName = `group-${ns}`;
    const steps: Step[] = [post(namespaces, namespace(ns))];
    const roles = Array.from({ length: 12 }, (_, i) => `role-${ns}-${i}`);
    for (const name of roles) {
      const isCluster = random.next() < 0.5;
      const rules = [rule(), rule()].filter((one) => isCluster || !('nonResourceURLs' in one));
      const [kind, path] = isCluster ? ['ClusterRole', 'clusterroles'] : ['Role', `namespaces/${ns}/roles`];
      const everywhere = isCluster && random.next() < 0.5;
      const bindings = everywhere ? 'clusterrolebindings' : `namespaces/${ns}/rolebindings`;
      const who = [
        subject,
        { kind: 'Group', name: groupName, apiGroup },
        { kind: 'ServiceAccount', name: 'robot', namespace: ns },
        { kind: 'User', name: 'somebody-else', apiGroup },
      ];
      steps.push(
        post(`${rbac}/${path}`, { metadata: { name }, rules }),
        post(`${rbac}/${bindings}`, {
          metadata: { name },
          roleRef: { apiGroup, kind, name },
          subjects: who.filter(() => random.next() < 0.5),
        }),
      );
    }
    steps.push(...end);
    const who = [
      { user },
      { user, groups: [groupName] },
      { user: 'x', groups: ['other', groupName] },
      { user: `system:serviceaccount:${ns}:robot` },
      { user, groups: ['system:masters'] },
    ];
    for (let i = 0; i < 80; i++) {
      const spec = { ...who[i % who.length], ...request(ns) };
      // Which of several bindings allows it is left to chance on the real server.
      steps.push(post(`${authorization}/subjectaccessreviews`, { spec }, { withoutReason: true }));
    }
    return steps;
  });
}

play(pair, 'answers to who may not', () => {
  const { name: ns, subject, end, as } = stage('f');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const apps = '/apis/apps/v1';
  const headers = { shows: ['x-content-type-options'] };
  return [
    post(namespaces, namespace(ns)),
    ...end,
    ...[
      get(pods, headers),
      get(`${pods}/a`),
      get(`${pods}/a/log`),
      get(`${pods}?fieldSelector=metadata.name%3Da`),
      get(`${pods}?watch=1`),
      get(`/api/v1/watch/namespaces/${ns}/pods`),
      get('/api/v1/pods'),
      get('/api/v1/nodes/a'),
      get(`/api/v1/namespaces/${ns}`),
      get(`/api/v1/namespaces/${ns}/finalize`),
      post(pods, { metadata: { name: 'x' } }),
      post(`${pods}/a/eviction`, {}),
      put(`${pods}/a`, {}),
      merge(`${pods}/a`, {}),
      remove(`${pods}/a`),
      remove(pods),
      get(`${apps}/namespaces/${ns}/deployments/d/scale`),
      get(`${apps}/nope/a`),
      get('/apis/example.com/v9/things/a/b/c'),
      get('/'),
      get('/metrics', headers),
      get('/healthz/etcd'),
      get('/nope?x=1'),
      get(`/api/v1/namespaces/${ns}/pods/%3Cb%3E&c`),
      get(`/api/v1/namespaces/${ns}/odd/"quoted"`.replaceAll('"', '%22')),
      get('/api/v1/../secrets'),
      get('/api/v1/namespaces/../secrets'),
      get(`/api/v1/namespaces/${ns}/../default/pods`),
      get('/api/v1/%2e%2e/secrets'),
      get('//api/v1/secrets'),
      get('/api//v1/secrets'),
      get('/api/v1//secrets'),
      get(`/api/v1/namespaces//secrets`),
      get(`/api/v1/namespaces/${ns}//secrets`),
      get(`/api/v1/namespaces/${ns}%2Fsecrets`),
      get('/API/V1/secrets'),
      { method: 'HEAD', path: pods },
      { method: 'OPTIONS', path: pods },
    ].map((ask) => as(ask)),
    // A role that is bound and not there is part of the answer.
    post(`${rbac}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'a' },
      roleRef: { apiGroup, kind: 'Role', name: 'gone' },
      subjects: [subject],
    }),
    as(get(pods, { until: ({ body }) => String(body.message).includes('RBAC') })),
    as(get('/api/v1/pods')),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name: `gone-${ns}` },
      roleRef: { apiGroup, kind: 'ClusterRole', name: 'gone' },
      subjects: [subject],
    }),
    as(get('/api/v1/pods', { until: ({ body }) => String(body.message).includes('RBAC') })),
    as(get(pods)),
    as(
      post(`${authorization}/selfsubjectaccessreviews`, {
        spec: { nonResourceAttributes: { path: '/x', verb: 'get' } },
      }),
    ),
  ];
});

play(pair, 'creation by other verbs', () => {
  const { name: ns, user, subject, end, as } = stage('c');
  const maps = `/api/v1/namespaces/${ns}/configmaps`;
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
  const map = { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'a' } };
  const lease = { apiVersion: 'coordination.k8s.io/v1', kind: 'Lease', metadata: { name: 'a' } };
  return [
    post(namespaces, namespace(ns)),
    post(`${rbac}/namespaces/${ns}/roles`, {
      metadata: { name: 'r' },
      rules: [{ apiGroups: ['*'], resources: ['configmaps', 'leases'], verbs: ['patch', 'update', 'get'] }],
    }),
    post(`${rbac}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup, kind: 'Role', name: 'r' },
      subjects: [subject],
    }),
    ...end,
    as(apply(`${maps}/a?fieldManager=m`, map)),
    as(put(`${leases}/a`, lease)),
    as(put(`${leases}/a`, { ...lease, spec: { leaseDurationSeconds: -1 } })),
    post(maps, map),
    as(apply(`${maps}/a?fieldManager=m`, { ...map, data: { user } })),
  ];
});

play(pair, 'escalation', () => {
  const { name: ns, subject, end, as } = stage('e');
  const roles = `${rbac}/namespaces/${ns}/roles`;
  const bindings = `${rbac}/namespaces/${ns}/rolebindings`;
  const clusterRoles = `${rbac}/clusterroles`;
  const role = (name: string, rules: readonly object[], more: object = {}) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name },
    rules,
    ...more,
  });
  const binding = (name: string, kind: string, to: string) => ({
    metadata: { name },
    roleRef: { apiGroup, kind, name: to },
    subjects: [subject],
  });
  const held = { apiGroups: ['', 'apps'], resources: ['pods', '*/scale'], verbs: ['get', 'list'] };
  const secrets = { apiGroups: [''], resources: ['secrets'], verbs: ['get', 'watch'] };
  const manage = { apiGroups: [apiGroup], resources: ['*'], verbs: ['create', 'update', 'patch', 'get'] };
  const named = { apiGroups: [''], resources: ['secrets'], resourceNames: ['a', 'b'], verbs: ['get'] };
  const all = { apiGroups: ['*'], resources: ['*'], verbs: ['*'] };
  const urls = { nonResourceURLs: ['/a', '/b/*'], verbs: ['get'] };
  return [
    post(namespaces, namespace(ns)),
    post(clusterRoles, { metadata: { name: `c-${ns}` }, rules: [manage, held] }),
    post(clusterRoles, { metadata: { name: `s-${ns}` }, rules: [secrets, urls] }),
    post(`${rbac}/clusterrolebindings`, { ...binding(`c-${ns}`, 'ClusterRole', `c-${ns}`) }),
    ...end,
    ...[
      post(roles, role('a', [held])),
      post(roles, role('b', [secrets])),
      post(roles, role('b', [held, secrets, named, all])),
      post(roles, role('', [secrets])),
      post(roles, role('b', [{ ...held, verbs: ['get', 'delete', 'list', 'watch'], resources: ['pods', 'x/scale'] }])),
      post(roles, role('b', [{ ...held, resourceNames: ['x'] }])),
      post(clusterRoles, role(`n-${ns}`, [urls])),
      post(
        clusterRoles,
        role(`n-${ns}`, [], { aggregationRule: { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] } }),
      ),
      put(`${roles}/c`, role('c', [secrets])),
      put(`${roles}/a`, role('a', [secrets])),
      merge(`${roles}/a`, { rules: [secrets] }),
      merge(`${roles}/a`, { metadata: { labels: { a: 'b' } } }),
      apply(`${roles}/d?fieldManager=m`, role('d', [secrets])),
      apply(`${roles}/d?fieldManager=m`, role('d', [held])),
      post(bindings, binding('a', 'Role', 'a')),
      post(bindings, binding('b', 'Role', 'nope')),
      post(bindings, binding('b', 'ClusterRole', 'nope')),
      post(bindings, binding('b', 'ClusterRole', `s-${ns}`)),
      post(bindings, binding('b', 'ClusterRole', 'cluster-admin')),
      post(`${rbac}/clusterrolebindings`, binding(`b-${ns}`, 'ClusterRole', `s-${ns}`)),
      post(`${rbac}/clusterrolebindings`, binding(`b-${ns}`, 'ClusterRole', `c-${ns}`)),
      merge(`${bindings}/a`, { subjects: [{ kind: 'Group', name: 'g' }] }),
    ].map((ask) => as(ask)),
    // What the garbage collector has to change is free.
    post(roles, role('z', [secrets])),
    as(merge(`${roles}/z`, { metadata: { finalizers: ['example.com/x'] } })),
    as(merge(`${roles}/z`, { metadata: { finalizers: null } })),
    as(merge(`${roles}/z`, { metadata: { annotations: { a: 'b' } } })),
    // By `escalate` and `bind` it may.
    post(clusterRoles, {
      metadata: { name: `x-${ns}` },
      rules: [
        { apiGroups: [apiGroup], resources: ['roles'], verbs: ['escalate'] },
        { apiGroups: [apiGroup], resources: ['clusterroles'], resourceNames: [`s-${ns}`], verbs: ['bind'] },
        { nonResourceURLs: [`/last-${ns}`], verbs: ['get'] },
      ],
    }),
    post(`${rbac}/clusterrolebindings`, binding(`x-${ns}`, 'ClusterRole', `x-${ns}`)),
    settled(`/last-${ns}`, { user: subject.name }),
    as(post(roles, role('e', [secrets]))),
    as(post(clusterRoles, role(`e-${ns}`, [secrets]))),
    as(post(bindings, binding('e', 'ClusterRole', `s-${ns}`))),
    as(post(bindings, binding('f', 'ClusterRole', 'cluster-admin'))),
  ];
});

play(pair, 'impersonation', () => {
  const { name: ns, user, subject, end } = stage('i');
  const review = post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  const to = (headers: object): Ask => ({ ...review, headers: headers as Record<string, string> });
  // An impersonated user cannot impersonate a third one: so this is a token of an account.
  const expected: readonly object[] = [
    { 'impersonate-user': 'jane' },
    { 'impersonate-user': 'jane', 'impersonate-group': 'dev' },
    { 'impersonate-user': 'jane', 'impersonate-group': 'system:unauthenticated' },
    { 'impersonate-user': 'system:anonymous' },
    { 'impersonate-user': 'system:serviceaccount:shop:robot' },
    { 'impersonate-user': 'system:serviceaccount:shop:robot', 'impersonate-group': 'x' },
    { 'impersonate-user': 'system:serviceaccount:Shop:robot' },
    { 'impersonate-user': 'system:node:a' },
    { 'impersonate-user': 'jane', 'impersonate-uid': '7' },
    { 'impersonate-user': 'jane', 'impersonate-extra-example.com%2fteam': 'blue', 'impersonate-extra-b': 'c' },
    { 'impersonate-user': 'jane', 'impersonate-group': 'system:masters' },
    { 'impersonate-group': 'dev' },
    { 'impersonate-uid': 'x' },
    { 'impersonate-extra-a': 'x' },
    { 'impersonate-user': '' },
  ];
  const account = (name: string) => `/api/v1/namespaces/${ns}/serviceaccounts/${name}`;
  const rules = [
    { apiGroups: [''], resources: ['users'], verbs: ['impersonate'], resourceNames: ['jane'] },
    { apiGroups: [''], resources: ['groups'], verbs: ['impersonate'], resourceNames: ['dev'] },
    { apiGroups: [''], resources: ['serviceaccounts'], verbs: ['impersonate'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['uids'], verbs: ['impersonate'] },
    { apiGroups: ['authentication.k8s.io'], resources: ['userextras/example.com/team'], verbs: ['impersonate'] },
    { nonResourceURLs: [`/last-${ns}`], verbs: ['get'] },
  ];
  const robot = { kind: 'ServiceAccount', name: 'robot', namespace: ns };
  const asRobot =
    (ask: Ask) =>
    (past: { body(name: string): { status: { token: string } } }): Ask => ({
      ...ask,
      headers: { ...ask.headers, authorization: `Bearer ${past.body('token').status.token}` },
    });
  const token = {
    ...post(`${account('robot')}/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: {} }),
    ...{ as: 'token', silent: true },
  };
  const constrained = [
    {
      apiGroups: ['*'],
      resources: ['*'],
      verbs: ['impersonate-on:user-info:create', 'impersonate-on:serviceaccount:create'],
    },
    {
      apiGroups: ['*'],
      resources: ['users', 'serviceaccounts', 'groups'],
      verbs: ['impersonate:user-info', 'impersonate:serviceaccount'],
    },
    { nonResourceURLs: [`/last2-${ns}`], verbs: ['get'] },
  ];
  const bind = (name: string, granted: readonly object[], subjects: readonly object[]): Step[] => [
    post(`${rbac}/clusterroles`, { metadata: { name }, rules: granted }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects,
    }),
  ];
  return [
    post(namespaces, namespace(ns)),
    post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'robot' } }),
    post(`/api/v1/namespaces/${ns}/serviceaccounts`, { metadata: { name: 'other' } }),
    ...end,
    token,
    // The administrators of the two servers have different names.
    ...expected.slice(0, -1).map(to),
    ...expected.map((headers) => asRobot(to(headers))),
    ...bind(`legacy-${ns}`, rules, [robot, subject]),
    settled(`/last-${ns}`, { user }),
    ...expected.map((headers) => asRobot(to(headers))),
    { ...token, path: `${account('other')}/token` },
    ...bind(`constrained-${ns}`, constrained, [{ ...robot, name: 'other' }, subject]),
    settled(`/last2-${ns}`, { user }),
    ...expected.map((headers) => asRobot(to(headers))),
  ];
});

play(pair, 'reviews of access', () => {
  const { name: ns, user, subject, end, as } = stage('v');
  const sar = `${authorization}/subjectaccessreviews`;
  const own = `${authorization}/selfsubjectaccessreviews`;
  const local = `${authorization}/namespaces/${ns}/localsubjectaccessreviews`;
  const rulesOf = `${authorization}/selfsubjectrulesreviews`;
  const path = { nonResourceAttributes: { path: '/x', verb: 'get' } };
  const resource = { resourceAttributes: { verb: 'get', resource: 'pods', namespace: ns } };
  const selectors = (fieldSelector: object, labelSelector: object) => ({
    resourceAttributes: { ...resource.resourceAttributes, fieldSelector, labelSelector },
  });
  return [
    post(namespaces, namespace(ns)),
    post(`${rbac}/namespaces/${ns}/roles`, {
      metadata: { name: 'r' },
      rules: [{ apiGroups: [''], resources: ['pods'], verbs: ['get'], resourceNames: ['a'] }],
    }),
    post(`${rbac}/namespaces/${ns}/rolebindings`, {
      metadata: { name: 'r' },
      roleRef: { apiGroup, kind: 'Role', name: 'r' },
      subjects: [{ kind: 'Group', name: `g-${ns}`, apiGroup }, subject],
    }),
    ...end,
    ...[
      {},
      { user },
      { user, ...path },
      { user, ...resource },
      { user, ...resource, ...path },
      { ...resource },
      { groups: [`g-${ns}`], resourceAttributes: { ...resource.resourceAttributes, name: 'a' } },
      { user, groups: ['x'], resourceAttributes: { ...resource.resourceAttributes, name: 'a' } },
      {
        user,
        uid: '1',
        extra: { a: ['b'] },
        resourceAttributes: { ...resource.resourceAttributes, version: 'v1', name: 'a' },
      },
      { user, ...selectors({ rawSelector: 'a=b' }, { rawSelector: 'a in (b)' }) },
      { user, ...selectors({ rawSelector: 'a~b' }, { rawSelector: 'a in' }) },
      { user, ...selectors({}, {}) },
    ].flatMap((spec) => [
      post(sar, { spec }),
      post(own, { spec }),
      post(local, { spec, metadata: { namespace: ns } }),
      post(local, { spec }),
    ]),
    post(sar, { metadata: { name: 'x' }, spec: { user, ...resource } }),
    post(own, { metadata: { labels: { a: 'b' } }, spec: resource }),
    post(local, { metadata: { namespace: ns, name: 'x' }, spec: { user, ...resource } }),
    post(local, { metadata: { namespace: 'other' }, spec: { user, ...resource } }),
    post(local, {
      metadata: { namespace: ns },
      spec: { user, resourceAttributes: { ...resource.resourceAttributes, namespace: 'other' } },
    }),
    as(post(own, { spec: { resourceAttributes: { ...resource.resourceAttributes, name: 'a' } } })),
    as(post(own, { spec: path })),
    as(post(sar, { spec: { user, ...path } })),
    post(rulesOf, { spec: {} }),
    as(post(rulesOf, { spec: { namespace: ns } }, { sorted: true })),
    as(post(rulesOf, { spec: { namespace: 'default' } }, { sorted: true })),
    as(post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {})),
  ];
});

play(pair, 'anonymous requests and bad credentials', () => {
  const anonymous = (ask: Ask, authorization = ''): Ask => ({ ...ask, headers: { authorization } });
  const pods = get('/api/v1/namespaces/default/pods');
  const jwt = 'eyJhbGciOiJub25lIn0.eyJzdWIiOiJzeXN0ZW06YWRtaW4ifQ.';
  return [
    ...['/healthz', '/livez', '/readyz', '/version', '/version/', '/api', '/apis', '/', '/readyz/ping', '/metrics']
      .map((path) => anonymous(get(path, { raw: path === '/version' ? undefined : false })))
      .filter(({ path }) => !path.startsWith('/version')),
    anonymous(pods),
    ...['Bearer nope', 'Bearer', 'Bearer ', 'Bearer  nope', 'Basic YTpi', 'nope', `Bearer ${jwt}`, 'bearer a b c'].map(
      (sent) => anonymous(pods, sent),
    ),
    anonymous(post(`${authorization}/selfsubjectaccessreviews`, { spec: {} })),
    { ...get('/healthz'), headers: { authorization: 'Bearer nope' } },
    { ...anonymous(pods), headers: { authorization: '', 'impersonate-user': 'jane' } },
  ];
});

play(pair, 'tokens as credentials', () => {
  const ns = uniqueName('t');
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  const ask = (spec: object, name: string): Ask => ({
    ...post(`${accounts}/robot/token`, { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec }),
    ...{ as: name, silent: true },
  });
  const review = post('/apis/authentication.k8s.io/v1/selfsubjectreviews', {});
  const by =
    (name: string, sent: Ask = review, change = (token: string) => token) =>
    (past: { body(name: string): { status: { token: string } } }): Ask => ({
      ...sent,
      headers: { authorization: `Bearer ${change(past.body(name).status.token)}` },
    });
  return [
    post(namespaces, namespace(ns)),
    post(accounts, { metadata: { name: 'robot' } }),
    post(secrets, { metadata: { name: 's' } }),
    ask({}, 'plain'),
    ask({ audiences: ['other'] }, 'other'),
    ask({ boundObjectRef: { kind: 'Secret', apiVersion: 'v1', name: 's' } }, 'bound'),
    by('plain'),
    by('plain', get(`${accounts}/robot`)),
    by('other'),
    by('bound'),
    by('plain', review, (token) => `${token}x`),
    by('plain', review, (token) => `${token.slice(0, -10)}AAAAAAAAAA`),
    by('plain', review, (token) => token.split('.').slice(0, 2).join('.')),
    by('plain', review, (token) => `${token.split('.').slice(0, 2).join('.')}.`),
    remove(`${secrets}/s`),
    {
      ...get(`${secrets}/s`),
      until: ({ status }) => status === 404,
    },
  ];
});
