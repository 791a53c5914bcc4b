import { ApiServer } from '@riata/apiserver';
import { afterAll, beforeAll } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { get, merge, post, remove } from './asks.js';
import { Pair, play, type Step, uniqueName } from './pair.js';
import { type Answer, Wire } from './wire.js';

let pair: Pair | undefined;
const closing: (() => unknown)[] = [];
const roles = '/apis/rbac.authorization.k8s.io/v1/clusterroles';
const bindings = '/apis/rbac.authorization.k8s.io/v1/clusterrolebindings';
const group = `${uniqueName('agg')}.example.com`;

/** Roles are aggregated by kube-controller-manager, which the embedded server does itself. */
beforeAll(async () => {
  const plane = controlPlaneFromEnv();
  await plane.startControllerManager({ controllers: ['clusterrole-aggregation-controller'] });
  const server = await ApiServer.start();
  const { url } = await server.listen({ tls: false });
  const [real, embedded] = [new Wire(plane), new Wire({ url, token: server.token })];
  pair = new Pair(real, embedded, async () => {});
  closing.push(
    () => real.close(),
    () => embedded.close(),
    () => server.stop(),
    () => plane.stopControllerManager(),
  );
});
afterAll(async () => {
  for (const close of closing) await close();
});

const both = () => {
  if (pair === undefined) throw new Error('the servers have not been started yet');
  return pair;
};

const rule = (...verbs: readonly string[]) => ({ apiGroups: [group], resources: ['things'], verbs });
const role = (name: string, aggregate: readonly string[], rules: readonly object[], more: object = {}) => ({
  metadata: {
    name: `${name}-${group}`,
    labels: Object.fromEntries(aggregate.map((to) => [`rbac.authorization.k8s.io/aggregate-to-${to}`, 'true'])),
  },
  rules,
  ...more,
});
const verbsIn = ({ body }: Answer): string =>
  ((body.rules ?? []) as readonly { apiGroups?: readonly string[]; verbs: readonly string[] }[])
    .filter(({ apiGroups }) => apiGroups?.includes(group))
    .map(({ verbs }) => verbs.join())
    .join(';');
/** Waits until a role has these rules for the group, and compares all of it. */
const becomes = (name: string, verbs: string): Step =>
  get(`${roles}/${name}`, {
    until: (answer) =>
      (answer.body.rules?.length ?? 0) > 0 === (verbs !== '' || !name.includes(group)) && verbsIn(answer) === verbs,
  });

play(both, 'the default roles collect those with their labels', () => [
  ...['view', 'edit', 'admin'].map((name) => becomes(name, '')),
  post(roles, role('viewer', ['view'], [rule('get', 'list')])),
  ...['view', 'edit', 'admin'].map((name) => becomes(name, 'get,list')),
  post(roles, role('editor', ['edit'], [rule('update')])),
  ...['edit', 'admin'].map((name) => becomes(name, 'update;get,list')),
  becomes('view', 'get,list'),
  // A rule that several have is there once.
  post(roles, role('administrator', ['admin', 'edit'], [rule('get', 'list'), rule('delete')])),
  becomes('edit', 'get,list;delete;update'),
  becomes('admin', 'get,list;delete;update'),
  merge(`${roles}/viewer-${group}`, { rules: [rule('watch')] }),
  becomes('view', 'watch'),
  becomes('edit', 'get,list;delete;update;watch'),
  merge(`${roles}/viewer-${group}`, {
    metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'false' } },
  }),
  becomes('view', ''),
  becomes('edit', 'get,list;delete;update'),
  // What somebody else writes into them is corrected.
  merge(`${roles}/edit`, { rules: [rule('list')] }, { silent: true }),
  becomes('edit', 'get,list;delete;update'),
  ...['viewer', 'editor', 'administrator'].map((name) =>
    remove(`${roles}/${name}-${group}`, undefined, { silent: true }),
  ),
  ...['view', 'edit', 'admin'].map((name) => becomes(name, '')),
]);

play(both, 'roles that collect others by selectors of their own', () => {
  const matchExpressions = [{ key: `team-${group}`, operator: 'In', values: ['a', 'b'] }];
  const aggregationRule = {
    clusterRoleSelectors: [{ matchExpressions }, { matchLabels: { [`more-${group}`]: 'yes' } }],
  };
  const labelled = (name: string, labels: object, rules: readonly object[]) => ({
    metadata: { name: `${name}-${group}`, labels },
    rules,
  });
  const user = `user-${group}`;
  const review = (verb: string, allowed: boolean) =>
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user, resourceAttributes: { group, resource: 'things', verb } } },
      { until: ({ body }) => body.status?.allowed === allowed },
    );
  const subjects = [{ kind: 'User', name: user, apiGroup: 'rbac.authorization.k8s.io' }];
  const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: `all-${group}` };
  return [
    post(roles, role('all', [], [rule('bind')], { aggregationRule })),
    // The controller applies nothing, and leaves to others what they have written.
    becomes(`all-${group}`, 'bind'),
    post(bindings, { metadata: { name: `all-${group}` }, roleRef, subjects }),
    post(roles, labelled('a', { [`team-${group}`]: 'a' }, [rule('get')])),
    becomes(`all-${group}`, 'get'),
    post(roles, labelled('c', { [`team-${group}`]: 'c' }, [rule('create')])),
    post(roles, labelled('b', { [`team-${group}`]: 'b', [`more-${group}`]: 'yes' }, [rule('list')])),
    becomes(`all-${group}`, 'get;list'),
    review('list', true),
    review('create', false),
    // One that is collected may collect others.
    merge(`${roles}/all-${group}`, {
      metadata: { labels: { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' } },
    }),
    becomes('view', 'get;list'),
    ...['a', 'b'].map((name) => remove(`${roles}/${name}-${group}`, undefined, { silent: true })),
    becomes(`all-${group}`, ''),
    becomes('view', ''),
    review('list', false),
    ...['all', 'c'].map((name) => remove(`${roles}/${name}-${group}`, undefined, { silent: true })),
    remove(`${bindings}/all-${group}`, undefined, { silent: true }),
  ];
});
