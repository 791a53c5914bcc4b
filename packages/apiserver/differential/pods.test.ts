import { get, jsonPatch, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

const pod = (name: string, more: object = {}) => ({
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name, labels: { app: 'a' } },
  spec: { containers: [{ name: 'c', image: 'i' }], ...more },
});
const budget = (name: string, spec: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'PodDisruptionBudget',
  metadata: { name },
  spec: { minAvailable: 1, selector: { matchLabels: { app: 'a' } }, ...spec },
});
const eviction = (name: string, deleteOptions?: object, more: object = {}) => ({
  apiVersion: 'policy/v1',
  kind: 'Eviction',
  metadata: { name },
  deleteOptions,
  ...more,
});
const counts = (currentHealthy: number, desiredHealthy: number, disruptionsAllowed: number, more: object = {}) => ({
  status: { observedGeneration: 9, currentHealthy, desiredHealthy, expectedPods: 3, disruptionsAllowed, ...more },
});
const condition = (reason: string, message: string) => ({
  conditions: [
    {
      type: 'DisruptionAllowed',
      status: 'False',
      reason,
      message,
      observedGeneration: 1,
      lastTransitionTime: '2020-01-01T00:00:00Z',
    },
  ],
});
const running = (ready: 'True' | 'False') => ({
  status: { phase: 'Running', conditions: [{ type: 'Ready', status: ready }] },
});

play(pair, 'evictions and budgets', () => {
  const ns = uniqueName('e');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const budgets = `/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets`;
  // Pods have many defaults on the real server: what is said of them is not compared here.
  const make = (name: string, ready: 'True' | 'False' = 'True'): Step[] => [
    post(pods, pod(name), { silent: true }),
    merge(`${pods}/${name}/status`, running(ready), { silent: true }),
  ];
  const evict = (name: string, options?: object, query = '') =>
    post(`${pods}/${name}/eviction${query}`, eviction(name, options));
  const set = (name: string, status: object) => merge(`${budgets}/${name}/status`, status);
  return [
    post(namespaces, namespace(ns)),
    ...['a', 'b', 'c', 'd', 'e', 'f'].flatMap((name) => make(name)),
    ...make('u', 'False'),
    ...make('v', 'False'),
    post(pods, pod('p'), { silent: true }),
    // Nothing but a Pod.
    evict('none'),
    post(`${pods}/a/eviction`, eviction('b')),
    post(`${pods}/a/eviction`, { ...eviction('a'), metadata: { name: 'a', namespace: 'other' } }),
    post(`${pods}/a/eviction`, {}),
    post(`${pods}/a/eviction`, { apiVersion: 'v1', kind: 'Pod', metadata: { name: 'a' } }),
    post(`${pods}/a/eviction`, eviction('a', { gracePeriodSeconds: 'x' })),
    post(`${pods}/a/eviction?fieldValidation=Strict`, eviction('a', undefined, { nope: 1 })),
    post(`${pods}/a/eviction`, eviction('a', { preconditions: { uid: 'other' } })),
    post(`${pods}/a/eviction`, eviction('a', { preconditions: { resourceVersion: '1' } })),
    evict('a', undefined, '?dryRun=All'),
    evict('a', { dryRun: ['All'] }),
    evict('a'),
    evict('a'),
    // A budget that no controller has observed yet.
    post(budgets, budget('one')),
    evict('b'),
    set('one', counts(2, 3, 0)),
    evict('b'),
    set('one', counts(4, 3, 0)),
    evict('b'),
    set('one', counts(4, 3, 0, condition('InsufficientPods', 'no more'))),
    evict('b'),
    set('one', counts(4, 3, 0, condition('SyncFailed', 'it broke'))),
    evict('b'),
    set('one', counts(4, 3, 2)),
    evict('b', undefined, '?dryRun=All'),
    get(`${budgets}/one`),
    evict('b'),
    get(`${budgets}/one`),
    evict('c'),
    get(`${budgets}/one`),
    evict('d'),
    // Not ready.
    evict('u', undefined, '?dryRun=All'),
    set('one', counts(2, 3, 0)),
    evict('u'),
    merge(`${budgets}/one`, { spec: { unhealthyPodEvictionPolicy: 'AlwaysAllow' } }),
    evict('u'),
    evict('u'),
    set('one', counts(3, 3, 0)),
    merge(`${budgets}/one`, { spec: { unhealthyPodEvictionPolicy: 'IfHealthyBudget' } }),
    evict('v'),
    // Not running yet.
    evict('p'),
    // Two budgets.
    post(budgets, budget('two')),
    evict('e'),
    merge(`${budgets}/two`, { spec: { selector: { matchLabels: { app: 'other' } } } }),
    evict('e'),
    remove(`${budgets}/one`),
    evict('e'),
    remove(`${budgets}/two`),
    post(budgets, budget('all', { selector: {} })),
    evict('f'),
    post(`${pods}/f/eviction`, { ...eviction('f'), apiVersion: 'policy/v1beta1' }),
  ];
});

play(pair, 'binding Pods to nodes', () => {
  const ns = uniqueName('b');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const binding = (name: string, target: object, metadata: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Binding',
    metadata: { name, ...metadata },
    target,
  });
  return [
    post(namespaces, namespace(ns)),
    post(pods, pod('a'), { silent: true }),
    post(pods, pod('b'), { silent: true }),
    post(pods, pod('c', { schedulingGates: [{ name: 'example.com/wait' }] }), { silent: true }),
    post(`${pods}/none/binding`, binding('none', { kind: 'Node', name: 'n' })),
    post(`${pods}/a/binding`, binding('b', { kind: 'Node', name: 'n' })),
    post(`${pods}/a/binding`, binding('a', { kind: 'Pod', name: 'n' })),
    post(`${pods}/a/binding`, binding('a', { kind: 'Node' })),
    post(`${pods}/a/binding`, { apiVersion: 'v1', kind: 'Binding', metadata: { name: 'a' } }),
    post(`${pods}/a/binding`, binding('a', { name: 'n' }, { uid: 'other' })),
    post(`${pods}/a/binding?dryRun=All`, binding('a', { kind: 'Node', name: 'n' })),
    post(
      `${pods}/a/binding`,
      binding('a', { kind: 'Node', name: 'n' }, { labels: { l: '1' }, annotations: { x: '1' } }),
    ),
    post(`${pods}/a/binding`, binding('a', { kind: 'Node', name: 'n' })),
    post(`${pods}/c/binding`, binding('c', { kind: 'Node', name: 'n' })),
    post(`/api/v1/namespaces/${ns}/bindings`, binding('b', { kind: 'Node', name: 'n' })),
    post(`/api/v1/namespaces/${ns}/bindings`, binding('b', { kind: 'Node', name: 'n' })),
    get(`/api/v1/namespaces/${ns}/bindings`),
    get(`${pods}?fieldSelector=spec.nodeName%3Dn&labelSelector=l%3D2`),
    remove(`${pods}/a`, undefined, { silent: true }),
    post(`${pods}/a/binding`, binding('a', { kind: 'Node', name: 'n' })),
  ];
});

play(pair, 'tokens of service accounts', () => {
  const ns = uniqueName('t');
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const request = (spec: object = {}, metadata: object = {}) => ({
    apiVersion: 'authentication.k8s.io/v1',
    kind: 'TokenRequest',
    metadata,
    spec,
  });
  const ask = (spec: object, metadata: object = {}) => post(`${accounts}/a/token`, request(spec, metadata));
  const bound = (ref: object) => ask({ boundObjectRef: ref });
  const review = (token: string, audiences?: string[]) =>
    post('/apis/authentication.k8s.io/v1/tokenreviews', {
      apiVersion: 'authentication.k8s.io/v1',
      kind: 'TokenReview',
      spec: { token, audiences },
    });
  return [
    post(namespaces, namespace(ns)),
    post(accounts, { apiVersion: 'v1', kind: 'ServiceAccount', metadata: { name: 'a' } }, { as: 'account' }),
    post(`/api/v1/namespaces/${ns}/pods`, pod('p', { serviceAccountName: 'a', nodeName: 'n' }), { silent: true }),
    post(`/api/v1/namespaces/${ns}/pods`, pod('q', { serviceAccountName: 'other' }), { silent: true }),
    post(`/api/v1/namespaces/${ns}/secrets`, { metadata: { name: 's' } }, { silent: true }),
    { ...ask({}), as: 'token' },
    post(`${accounts}/a/token`, {}),
    post(`${accounts}/none/token`, request()),
    ask({ audiences: ['x', 'y'], expirationSeconds: 600 }),
    ask({ expirationSeconds: 599 }),
    ask({ expirationSeconds: 0 }),
    ask({ expirationSeconds: 2 ** 32 }),
    ask({ expirationSeconds: 2 ** 32 + 1 }),
    ask({ expirationSeconds: 'x' }),
    ask({}, { name: 'other' }),
    ask({}, { namespace: 'other' }),
    ask({}, { name: 'a', namespace: ns, labels: { l: '1' } }),
    ask({}, { uid: 'other' }),
    (past) => ask({}, { uid: past.uid('account') }),
    { ...bound({ kind: 'Pod', apiVersion: 'v1', name: 'p' }), as: 'pod token' },
    bound({ kind: 'Pod', apiVersion: 'v1', name: 'p', uid: 'other' }),
    bound({ kind: 'Pod', apiVersion: 'v1', name: 'q' }),
    bound({ kind: 'Pod', apiVersion: 'v1', name: 'none' }),
    bound({ kind: 'Secret', apiVersion: 'v1', name: 's' }),
    bound({ kind: 'Node', apiVersion: 'v1', name: 'none' }),
    bound({ kind: 'ConfigMap', apiVersion: 'v1', name: 'none' }),
    bound({ kind: 'Deployment', apiVersion: 'apps/v1', name: 'none' }),
    bound({}),
    post(`${accounts}/a/token?dryRun=All`, request()),
    (past) => review(past.body('token').status.token),
    (past) => review(past.body('token').status.token, ['other']),
    (past) => review(past.body('token').status.token, ['other', 'https://kubernetes.default.svc']),
    (past) => review(past.body('pod token').status.token),
    review('nonsense'),
    review(''),
    get(`${accounts}/a/token`),
    put(`${accounts}/a/token`, request()),
  ];
});

play(pair, 'scale of built-in kinds', () => {
  const ns = uniqueName('d');
  const all = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const labels = { app: 'a', tier: 'b' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'c', image: 'i' }] } };
  const selector = { matchLabels: labels, matchExpressions: [{ key: 'app', operator: 'In', values: ['b', 'a'] }] };
  const deployment = { apiVersion: 'apps/v1', kind: 'Deployment', metadata: { name: 'd' } };
  const scale = (spec: object, metadata: object = {}) => ({
    apiVersion: 'autoscaling/v1',
    kind: 'Scale',
    metadata: { name: 'd', ...metadata },
    spec,
  });
  const controllers = `/api/v1/namespaces/${ns}/replicationcontrollers`;
  return [
    post(namespaces, namespace(ns)),
    post(all, { ...deployment, spec: { replicas: 2, selector, template } }, { silent: true }),
    post(controllers, { metadata: { name: 'r' }, spec: { replicas: 0, selector: labels, template } }, { silent: true }),
    get(`${all}/d/scale`, { as: 'first' }),
    get(`${controllers}/r/scale`),
    put(`${all}/d/scale`, scale({ replicas: 5 })),
    (past) => put(`${all}/d/scale`, scale({ replicas: 6 }, { resourceVersion: past.revision('first') })),
    put(`${all}/d/scale`, scale({ replicas: 'x' })),
    put(`${all}/d/scale`, scale({ replicas: -1 })),
    put(`${all}/d/scale`, scale({})),
    put(`${all}/d/scale`, scale({ replicas: 3 }, { name: 'other' })),
    put(`${all}/d/scale`, scale({ replicas: 3 }, { uid: 'other' })),
    put(`${all}/d/scale?dryRun=All`, scale({ replicas: 7 })),
    put(`${all}/d/scale?fieldValidation=Strict`, { ...scale({ replicas: 7 }), nope: 1 }),
    put(`${all}/d/scale`, { apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'd' } }),
    put(`${all}/none/scale`, scale({ replicas: 7 })),
    merge(`${all}/d/scale`, { spec: { replicas: 8 } }),
    merge(`${all}/d/scale`, { spec: { replicas: 'x' } }),
    merge(`${all}/d/scale`, { spec: null }),
    merge(`${all}/none/scale`, { spec: { replicas: 8 } }),
    jsonPatch(`${all}/d/scale`, [{ op: 'replace', path: '/spec/replicas', value: 9 }]),
    jsonPatch(`${all}/d/scale`, [{ op: 'test', path: '/spec/replicas', value: 1 }]),
    get(`${all}/d/scale`),
    merge(`${controllers}/r/scale`, { spec: { replicas: 8 } }),
    get(`${controllers}/r/scale`),
    post(`${all}/d/scale`, scale({ replicas: 1 })),
    remove(`${all}/d/scale`),
  ];
});

play(pair, 'AppArmor and seccomp, by annotations and by fields', () => {
  const ns = uniqueName('aa');
  const pods = `/api/v1/namespaces/${ns}/pods`;
  const key = 'container.apparmor.security.beta.kubernetes.io/c';
  const armor = (type: string, more: object = {}) => ({ appArmorProfile: { type, ...more } });
  const make = (name: string, annotation: string | undefined, own: object = {}, spec: object = {}) =>
    post(pods, {
      metadata: { name, annotations: annotation === undefined ? {} : { [key]: annotation } },
      spec: { containers: [{ name: 'c', image: 'i', securityContext: own }], ...spec },
    });
  const template = (name: string, annotations: object, spec: object = {}) =>
    post(`/apis/apps/v1/namespaces/${ns}/deployments`, {
      metadata: { name },
      spec: {
        selector: { matchLabels: { a: 'b' } },
        template: {
          metadata: { labels: { a: 'b' }, annotations },
          spec: { containers: [{ name: 'c', image: 'i' }], ...spec },
        },
      },
    });
  const local = armor('Localhost', { localhostProfile: 'p' });
  const ofPod = { securityContext: armor('RuntimeDefault') };
  return [
    post(namespaces, namespace(ns)),
    ...['runtime/default', 'unconfined', 'localhost/x', 'localhost/', 'localhost/ x', '', 'odd'].map((value, i) =>
      make(`a${i}`, value),
    ),
    make('b', undefined, armor('RuntimeDefault')),
    make('c', undefined, local, { securityContext: armor('Unconfined') }),
    make('d', 'unconfined', armor('RuntimeDefault')),
    make('e', 'runtime/default', armor('RuntimeDefault')),
    make('f', 'localhost/x', local),
    make('g', 'runtime/default', local),
    make('h', 'unconfined', {}, ofPod),
    make('i', 'runtime/default', {}, ofPod),
    make('j', 'localhost/x', {}, { os: { name: 'windows' } }),
    make('k', undefined, armor('Odd'), { securityContext: armor('Localhost') }),
    merge(`${pods}/a0`, { metadata: { annotations: { [key]: 'unconfined' } } }),
    merge(`${pods}/a0`, { metadata: { labels: { a: 'b' } } }),
    template('a', { [key]: 'unconfined' }),
    template('b', { [key]: 'runtime/default' }, ofPod),
    template('c', { [key]: 'unconfined' }, ofPod),
    template('d', { 'seccomp.security.alpha.kubernetes.io/pod': 'runtime/default' }),
    post(pods, {
      metadata: { name: 's', annotations: { 'container.seccomp.security.alpha.kubernetes.io/c': 'localhost/x' } },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
    make('t', undefined, { seccompProfile: { type: 'Unconfined' } }, { securityContext: { seccompProfile: {} } }),
  ];
});
