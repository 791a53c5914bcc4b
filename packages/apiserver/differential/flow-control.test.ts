import { configMap, configMaps, get, merge, post, remove } from './asks.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { WebhookPlays } from './webhook-plays.js';

const pair = serverPair();
const hooks = new WebhookPlays(pair, { '/never': () => 'never' });
const api = '/apis/flowcontrol.apiserver.k8s.io/v1';
const shows = ['x-kubernetes-pf-flowschema-uid', 'x-kubernetes-pf-prioritylevel-uid', 'retry-after'];

const as = (user: string, ...groups: readonly string[]) => ({
  'impersonate-user': user,
  ...(groups.length > 0 && { 'impersonate-group': groups }),
});

const everywhere = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };

/** A FlowSchema for one user. */
const schemaFor = (name: string, user: string, more: object = {}) => ({
  metadata: { name },
  spec: {
    ...{ priorityLevelConfiguration: { name }, matchingPrecedence: 50, distinguisherMethod: { type: 'ByUser' } },
    rules: [{ subjects: [{ kind: 'User', user: { name: user } }], resourceRules: [everywhere] }],
    ...more,
  },
});

const levelOf = (name: string, limitResponse: object) => ({
  metadata: { name },
  spec: { type: 'Limited', limited: { nominalConcurrencyShares: 1, borrowingLimitPercent: 0, limitResponse } },
});

const isGranted = (name: string, user: string): Step =>
  post('/apis/rbac.authorization.k8s.io/v1/clusterrolebindings', {
    metadata: { name },
    roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'cluster-admin' },
    subjects: [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }],
  });

/** Uids get the same numbers on both servers. */
const known: readonly Step[] = ['flowschemas', 'prioritylevelconfigurations'].map((plural) =>
  get(`${api}/${plural}?labelSelector=!differential`),
);

play(pair, 'the flow of a request', () => {
  const leases = '/apis/coordination.k8s.io/v1/namespaces/default/leases';
  const users = [
    as('alice'),
    as('system:kube-scheduler'),
    as('system:kube-controller-manager'),
    as('system:serviceaccount:default:x'),
    as('system:serviceaccount:kube-system:x'),
    as('system:serviceaccount:kube-system:x', 'system:serviceaccounts', 'system:authenticated'),
    as('system:node:n', 'system:nodes'),
    as('bob', 'system:masters'),
    as('bob', 'system:unauthenticated'),
    as('system:anonymous'),
  ];
  const paths = [
    ...[
      '/api/v1/namespaces/default/pods?labelSelector=none',
      '/api/v1/nodes?labelSelector=none',
      '/api/v1/nodes/n/status',
      `${leases}?labelSelector=none`,
      `${leases}/l`,
    ],
    ...['/healthz', '/livez/ping', '/readyz', '/readyz/', '/livezz', '/nope', '/api'],
    ...['/api/v1/namespaces/default/pods/p/log', '/api/v1/namespaces/default/pods/p/exec?command=x'],
  ];
  return [
    ...known,
    ...users.flatMap((headers) => paths.map((path) => get(path, { headers, shows }))),
    ...users.map((headers) => post(leases, { metadata: {} }, { headers, shows })),
    get('/api/v1/namespaces/default/pods', { headers: { authorization: 'Bearer wrong' }, shows }),
    get('/api/v1/namespaces/default/pods', { headers: { authorization: '' }, shows }),
  ];
});

play(pair, 'FlowSchemas and their levels', () => {
  const name = uniqueName('flow');
  const isFound = (status: string) => ({
    until: ({ body }: { readonly body: { status?: { conditions?: { status: string }[] } } }) =>
      body.status?.conditions?.[0]?.status === status,
  });
  return [
    post(`${api}/flowschemas`, schemaFor(name, name)),
    get(`${api}/flowschemas/${name}`, isFound('True')),
    get('/api/v1/pods', { headers: as(name), silent: true }),
    post(`${api}/prioritylevelconfigurations`, levelOf(name, { type: 'Reject' })),
    get(`${api}/flowschemas/${name}`, isFound('False')),
    get('/api/v1/pods', { headers: as(name), shows }),
    merge(`${api}/flowschemas/${name}`, { spec: { priorityLevelConfiguration: { name: 'exempt' } } }),
    remove(`${api}/prioritylevelconfigurations/${name}`),
    remove(`${api}/flowschemas/${name}`),
    ...[{}, { queuing: {} }, { queuing: { queues: 10, handSize: 0 } }].map((more) =>
      post(`${api}/prioritylevelconfigurations?dryRun=All`, {
        metadata: { name },
        spec: {
          type: 'Limited',
          limited: { limitResponse: { type: 'queuing' in more ? 'Queue' : 'Reject', ...more } },
        },
      }),
    ),
    post(`${api}/flowschemas?dryRun=All`, schemaFor(name, name, { matchingPrecedence: 0 })),
  ];
});

play(pair, 'FlowSchemas and levels that are wrong', () => {
  const name = uniqueName('wrong');
  const level = (spec: object, own = name) =>
    post(`${api}/prioritylevelconfigurations?dryRun=All`, { metadata: { name: own }, spec });
  const limited = (more: object) => level({ type: 'Limited', limited: { limitResponse: { type: 'Reject' }, ...more } });
  const queue = (queuing: object) => limited({ limitResponse: { type: 'Queue', queuing } });
  const schema = (more: object) => post(`${api}/flowschemas?dryRun=All`, schemaFor(name, name, more));
  const user = { kind: 'User', user: { name: 'x' } };
  const resource = { verbs: ['get'], apiGroups: [''], resources: ['pods'], namespaces: ['a'] };
  const rule = (more: object) => schema({ rules: [{ subjects: [user], resourceRules: [resource], ...more }] });
  const subject = (one: object) => rule({ subjects: [one] });
  const of = (more: object) => rule({ resourceRules: [{ ...resource, ...more }] });
  const urls = (more: object) => rule({ nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/a'], ...more }] });
  return [
    ...[{}, { type: 'Other' }, { type: 'Exempt' }, { type: 'Limited' }].map((spec) => level(spec)),
    level({ type: 'Limited', limited: { limitResponse: { type: 'Reject' } }, exempt: {} }),
    level({ type: 'Exempt', limited: { limitResponse: { type: 'Reject' } } }),
    ...[{ nominalConcurrencyShares: -1 }, { lendablePercent: 101 }, { borrowingLimitPercent: -1 }].map(limited),
    ...[{}, { type: 'Queue' }, { type: 'Reject', queuing: {} }, { type: 'No' }].map((limitResponse) =>
      limited({ limitResponse }),
    ),
    ...[
      { queues: -1 },
      { queues: 10_000_001 },
      { handSize: -1 },
      { handSize: 65 },
      { queues: 1000, handSize: 7 },
      { queueLengthLimit: -1 },
    ].map(queue),
    ...[-1, 1, 10_001].map((matchingPrecedence) => schema({ matchingPrecedence })),
    ...[{}, { type: 'ByNobody' }].map((distinguisherMethod) => schema({ distinguisherMethod })),
    ...[{}, { name: 'No Name' }].map((priorityLevelConfiguration) => schema({ priorityLevelConfiguration })),
    ...[{ subjects: [] }, { resourceRules: [] }].map(rule),
    ...[{}, { kind: 'Robot' }, { kind: 'User' }, { kind: 'User', user: {} }, { kind: 'Group' }].map(subject),
    ...[{ ...user, group: { name: 'g' }, serviceAccount: { name: 's', namespace: 'n' } }].map(subject),
    ...[{}, { name: 'A B', namespace: 'C D' }, { name: '*' }].map((serviceAccount) =>
      subject({ kind: 'ServiceAccount', serviceAccount }),
    ),
    ...[{ verbs: [] }, { verbs: ['*', 'get'] }, { verbs: ['odd'] }, { apiGroups: [] }, { apiGroups: ['*', 'a'] }].map(
      of,
    ),
    ...[{ resources: [] }, { resources: ['*', 'a'] }, { namespaces: [] }, { namespaces: ['*', 'a'] }].map(of),
    of({ namespaces: ['A B'] }),
    ...[[], ['*', '/a'], [''], ['a'], ['/a b'], ['//a'], ['/a*'], ['/*/*'], ['/a/*'], ['/']].map((nonResourceURLs) =>
      urls({ nonResourceURLs }),
    ),
  ];
});

play(pair, 'more requests than seats', () => {
  const ns = uniqueName('f');
  const place = configMaps(ns);
  const create = (name: string, more: object = {}) =>
    post(place, configMap(name), { headers: as(ns), shows, hangs: true, ...more });
  const isWaiting = ({ body }: { readonly body: unknown }) =>
    String(body).includes(
      `apiserver_flowcontrol_current_inqueue_requests{flow_schema="${ns}",priority_level="${ns}"} 1\n`,
    );
  const rules = [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }];
  const hanging = { at: '/never', failurePolicy: 'Ignore', timeoutSeconds: 5, rules };
  return [
    hooks.place(ns),
    isGranted(ns, ns),
    ...hooks.configure('Validating', ns, ns, [
      { ...hanging, matchConditions: [{ name: 'hangs', expression: "object.metadata.name.startsWith('hangs')" }] },
    ]),
    // A share of one in 246 is three of 600 seats; the fourth request waits.
    post(
      `${api}/prioritylevelconfigurations`,
      levelOf(ns, { type: 'Queue', queuing: { queues: 1, handSize: 1, queueLengthLimit: 1 } }),
    ),
    post(`${api}/flowschemas`, schemaFor(ns, ns)),
    get(`${api}/flowschemas/${ns}`, { until: ({ body }) => body.status?.conditions?.[0]?.status === 'False' }),
    post(`${place}?dryRun=All`, configMap('granted'), {
      ...{ headers: as(ns), silent: true, until: ({ status }) => status === 201 },
    }),
    get(place, { headers: as(ns), shows }),
    {
      watches: ['a', 'b', 'c', 'd'].map((one) => create(`hangs-${one}`)),
      during: [
        get('/metrics', { until: isWaiting, silent: true }),
        create('one-too-many', { raw: true }),
        get(place, { headers: as(ns), shows }),
        get(`${place}?watch=1`, { headers: as(ns), shows }),
        get(`${place}/none`, { headers: as('somebody', 'system:masters'), shows }),
      ],
    },
    create('in-time'),
    remove(`${api}/flowschemas/${ns}`),
    remove(`${api}/prioritylevelconfigurations/${ns}`),
  ];
});
