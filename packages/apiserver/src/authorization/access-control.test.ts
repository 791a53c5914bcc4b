import { createClient, type KubeClient } from 'riata';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  LocalSubjectAccessReview,
  Namespace,
  Role,
  RoleBinding,
  SelfSubjectAccessReview,
  SelfSubjectReview,
  SelfSubjectRulesReview,
  SubjectAccessReview,
} from 'riata/kinds';
import { memoryLogger, VirtualClock } from 'riata/runtime';
import { afterEach, describe, expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

const log = memoryLogger();
const namespace = 'shop';
const apiGroup = 'rbac.authorization.k8s.io';
const jane = { apiGroup, kind: 'User', name: 'jane' };
const running: ApiServer[] = [];
afterEach(async () => {
  for (const server of running.splice(0)) await server.stop();
});

async function start() {
  const server = await ApiServer.start({ log, clock: new VirtualClock() });
  running.push(server);
  const admin = createClient(server.config, { runtime: { log } });
  await admin.create(Namespace({ metadata: { name: namespace } }));
  const as = (...who: Parameters<ApiServer['as']>) => createClient(server.as(...who).config, { runtime: { log } });
  return { server, admin, as, jane: as({ user: 'jane', groups: ['dev'] }) };
}

const get = (client: KubeClient, name = 'a', place = namespace) => client.get(ConfigMap, { namespace: place, name });
const merge = (body: object) => ({ type: 'merge', body }) as const;
const outcome = (asked: Promise<unknown>) =>
  asked.then(
    () => 'allowed',
    (error: { status?: { code: number; message: string } }) => `${error.status?.code} ${error.status?.message}`,
  );
const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get', 'list'] }];
const bindJane = (kind: string, name: string, place = namespace) =>
  RoleBinding({
    metadata: { namespace: place, name: `jane-${name}` },
    roleRef: { apiGroup, kind, name },
    subjects: [jane],
  });

describe('roles', () => {
  test('a binding that names a user in two ways counts once', async () => {
    const { admin, jane: client } = await start();
    const twice = { ...bindJane('Role', 'reader'), subjects: [jane, { apiGroup, kind: 'Group', name: 'dev' }] };
    await admin.create(twice);
    expect(await outcome(get(client))).toMatch(/: RBAC: role\.rbac\.authorization\.k8s\.io "reader" not found$/);
    await admin.create(Role({ metadata: { namespace, name: 'reader' }, rules }));
    const review = await client.create(SelfSubjectRulesReview({ metadata: {}, spec: { namespace } }));
    const own = review.status?.resourceRules.filter(({ resources }) => resources?.includes('configmaps'));
    expect(own).toHaveLength(1);
  });

  test('allow what they say, in their namespace, from the moment they are bound until they are not', async () => {
    const { admin, jane: client } = await start();
    const forbidden =
      '403 configmaps "a" is forbidden: User "jane" cannot get resource "configmaps" in API group "" in the namespace "shop"';
    expect(await outcome(get(client))).toBe(forbidden);
    await admin.create(bindJane('Role', 'reader'));
    expect(await outcome(get(client))).toBe(`${forbidden}: RBAC: role.rbac.authorization.k8s.io "reader" not found`);
    await admin.create(Role({ metadata: { namespace, name: 'reader' }, rules }));
    expect(await outcome(get(client))).toBe('404 configmaps "a" not found');
    expect(await outcome(get(client, 'a', 'default'))).toContain('403');
    await admin.patch(Role, { namespace, name: 'reader' }, merge({ rules: [{ ...rules[0], resourceNames: ['b'] }] }));
    expect(await outcome(get(client))).toBe(forbidden);
    expect(await outcome(get(client, 'b'))).toContain('404');
    await admin.patch(RoleBinding, { namespace, name: 'jane-reader' }, merge({ subjects: [{ ...jane, name: 'joe' }] }));
    expect(await outcome(get(client, 'b'))).toContain('403');
    await admin.patch(
      RoleBinding,
      { namespace, name: 'jane-reader' },
      merge({ subjects: [{ ...jane, kind: 'Group', name: 'dev' }] }),
    );
    expect(await outcome(get(client, 'b'))).toContain('404');
    await admin.delete(RoleBinding, { namespace, name: 'jane-reader' });
    expect(await outcome(get(client, 'b'))).toContain('403');
  });

  test('of ServiceAccounts are found with and without a namespace in the binding', async () => {
    const { admin, as } = await start();
    const robot = as({ serviceAccount: 'robot', namespace });
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'view' };
    const subject = { kind: 'ServiceAccount', name: 'robot' };
    await admin.create(RoleBinding({ metadata: { namespace, name: 'b' }, roleRef, subjects: [subject] }));
    expect(await outcome(get(robot))).toContain('404');
    expect(await outcome(get(robot, 'a', 'default'))).toContain('403');
    const everywhere = { metadata: { name: 'b' }, roleRef, subjects: [{ ...subject, namespace }] };
    await admin.create(ClusterRoleBinding(everywhere));
    expect(await outcome(get(robot, 'a', 'default'))).toContain('404');
    expect(await outcome(get(as({ serviceAccount: 'other', namespace })))).toContain('403');
  });

  test('are collected from others by their labels', async () => {
    const { server, admin, jane: client } = await start();
    await admin.create(bindJane('ClusterRole', 'view'));
    const labels = { 'rbac.authorization.k8s.io/aggregate-to-view': 'true' };
    const things = { apiGroups: ['example.com'], resources: ['things'], verbs: ['get'] };
    await admin.create(ClusterRole({ metadata: { name: 'things', labels }, rules: [things] }));
    await server.idle();
    const has = async (name: string) =>
      (await admin.get(ClusterRole, { name })).rules?.some(({ apiGroups }) => apiGroups?.includes('example.com'));
    for (const name of ['view', 'edit', 'admin']) expect(await has(name), name).toBe(true);
    expect(await outcome(get(client))).toContain('404');
    await admin.delete(ClusterRole, { name: 'things' });
    await server.idle();
    for (const name of ['view', 'edit', 'admin']) expect(await has(name), name).toBe(false);
  });

  test('the default ones exist, and let any user check the health of the server', async () => {
    const { server } = await start();
    await using listening = await server.listen({ tls: false });
    const status = async (path: string) => (await fetch(`${listening.url}${path}`)).status;
    for (const path of ['/healthz', '/livez', '/readyz', '/version', '/readyz/ping']) {
      expect(await status(path), path).toBe(path === '/readyz/ping' ? 403 : 200);
    }
    expect(await status('/api')).toBe(403);
  });

  test('creating by apply or update needs the right to create', async () => {
    const { admin, jane: client } = await start();
    const rule = { apiGroups: ['', 'coordination.k8s.io'], resources: ['configmaps'], verbs: ['patch', 'update'] };
    await admin.create(Role({ metadata: { namespace, name: 'writer' }, rules: [rule] }));
    await admin.create(bindJane('Role', 'writer'));
    const apply = () => client.apply(ConfigMap({ metadata: { namespace, name: 'a' } }), { fieldManager: 'm' });
    expect(await outcome(apply())).toBe(
      '403 configmaps "a" is forbidden: User "jane" cannot create resource "configmaps" in API group "" in the namespace "shop"',
    );
    await admin.create(ConfigMap({ metadata: { namespace, name: 'a' } }));
    expect(await outcome(apply())).toBe('allowed');
  });
});

describe('escalation', () => {
  const held = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['get'] }];
  const secrets = [{ apiGroups: [''], resources: ['secrets'], verbs: ['get'] }];
  const notHeld =
    'user "jane" (groups=["dev" "system:authenticated"]) is attempting to grant RBAC permissions not currently held:\n' +
    '{APIGroups:[""], Resources:["secrets"], Verbs:["get"]}';

  async function roleManager(verbs: readonly string[] = []) {
    const { admin, jane: client } = await start();
    const roles = ['roles', 'rolebindings'];
    const manage = { apiGroups: [apiGroup], resources: roles, verbs: ['create', 'update', 'patch', 'get', ...verbs] };
    await admin.create(Role({ metadata: { namespace, name: 'manager' }, rules: [manage, ...held] }));
    await admin.create(bindJane('Role', 'manager'));
    return { admin, client };
  }

  test('roles give no rights that their writer lacks', async () => {
    const { client } = await roleManager();
    expect(await outcome(client.create(Role({ metadata: { namespace, name: 'r' }, rules: held })))).toBe('allowed');
    const more = client.create(Role({ metadata: { namespace, name: 's' }, rules: secrets }));
    expect(await outcome(more)).toBe(`403 roles.rbac.authorization.k8s.io "s" is forbidden: ${notHeld}`);
    const patched = client.patch(Role, { namespace, name: 'manager' }, merge({ rules: secrets }));
    expect(await outcome(patched)).toContain(notHeld);
    const finalized = client.patch(
      Role,
      { namespace, name: 'r' },
      merge({ metadata: { finalizers: ['example.com/x'] } }),
    );
    expect(await outcome(finalized)).toBe('allowed');
  });

  test('unless it may escalate', async () => {
    const { client } = await roleManager(['escalate']);
    expect(await outcome(client.create(Role({ metadata: { namespace, name: 's' }, rules: secrets })))).toBe('allowed');
  });

  test('bindings give no rights that their writer lacks, unless it may bind', async () => {
    const { admin, client } = await roleManager();
    await admin.create(Role({ metadata: { namespace, name: 's' }, rules: secrets }));
    const bind = (kind: string, name: string) => outcome(client.create(bindJane(kind, name)));
    expect(await bind('Role', 's')).toBe(
      `403 rolebindings.rbac.authorization.k8s.io "jane-s" is forbidden: ${notHeld}`,
    );
    expect(await bind('Role', 'nope')).toBe('404 rolebindings.rbac.authorization.k8s.io "nope" not found');
    expect(await bind('ClusterRole', 'cluster-admin')).toContain('is attempting to grant RBAC permissions');
    const may = { apiGroups: [apiGroup], resources: ['roles'], resourceNames: ['s'], verbs: ['bind'] };
    await admin.create(Role({ metadata: { namespace, name: 'binder' }, rules: [may] }));
    await admin.create(bindJane('Role', 'binder'));
    expect(await bind('Role', 's')).toBe('allowed');
  });

  test('collecting roles needs all rights', async () => {
    const { admin, jane: client } = await start();
    const manage = [{ apiGroups: [apiGroup], resources: ['clusterroles'], verbs: ['*'], resourceNames: ['x'] }];
    const create = [{ apiGroups: [apiGroup], resources: ['clusterroles'], verbs: ['create', 'update'] }];
    await admin.create(ClusterRole({ metadata: { name: 'manager' }, rules: [...manage, ...create] }));
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'manager' };
    await admin.create(ClusterRoleBinding({ metadata: { name: 'manager' }, roleRef, subjects: [jane] }));
    const aggregationRule = { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] };
    const collecting = client.create(ClusterRole({ metadata: { name: 'y' }, rules: [], aggregationRule }));
    expect(await outcome(collecting)).toBe(
      '403 clusterroles.rbac.authorization.k8s.io "y" is forbidden: must have cluster-admin privileges to use the aggregationRule',
    );
  });
});

describe('impersonation', () => {
  const impersonate = { user: 'joe', groups: ['ops'], uid: '7', extra: { 'example.com/team': ['blue'] } };

  test('is for who may do everything', async () => {
    const { server } = await start();
    const client = createClient({ ...server.config, impersonate }, { runtime: { log } });
    const roles = { 'example.com/team': ['blue'] };
    const groups = ['ops', 'system:authenticated'];
    expect((await client.create(SelfSubjectReview({ metadata: {} }))).status?.userInfo).toEqual({
      ...{ username: 'joe', uid: '7', groups, extra: roles },
    });
    expect(await outcome(get(client))).toContain('User "joe" cannot get');
  });

  test('needs rights to the user, each group, the uid and each extra', async () => {
    const { server, admin } = await start();
    const client = createClient({ ...server.as({ user: 'jane' }).config, impersonate }, { runtime: { log } });
    const review = () => outcome(client.create(SelfSubjectReview({ metadata: {} })));
    const grant = async (name: string, group: string, resource: string, resourceNames: readonly string[]) => {
      const rule = { apiGroups: [group], resources: [resource], verbs: ['impersonate'], resourceNames };
      await admin.create(ClusterRole({ metadata: { name }, rules: [rule] }));
      const roleRef = { apiGroup, kind: 'ClusterRole', name };
      await admin.create(ClusterRoleBinding({ metadata: { name }, roleRef, subjects: [jane] }));
    };
    expect(await review()).toContain(
      'User "jane" cannot impersonate-on:user-info:create resource "selfsubjectreviews"',
    );
    await grant('a', '', 'users', ['joe']);
    expect(await review()).toContain('403');
    await grant('b', '', 'groups', ['ops']);
    await grant('c', 'authentication.k8s.io', 'uids', ['7']);
    expect(await review()).toContain('403');
    await grant('d', 'authentication.k8s.io', 'userextras/example.com/team', ['blue']);
    expect(await review()).toBe('allowed');
    const masters = { ...impersonate, groups: ['ops', 'system:masters'] };
    const higher = createClient({ ...server.as({ user: 'jane' }).config, impersonate: masters }, { runtime: { log } });
    expect(await outcome(higher.create(SelfSubjectReview({ metadata: {} })))).toBe(
      '403 groups "system:masters" is forbidden: User "jane" cannot impersonate resource "groups" in API group "" at the cluster scope',
    );
  });
});

describe('reviews', () => {
  test('say what a user may do, and why', async () => {
    const { admin, jane: client } = await start();
    await admin.create(Role({ metadata: { namespace, name: 'reader' }, rules }));
    await admin.create(bindJane('Role', 'reader'));
    const resourceAttributes = { namespace, verb: 'get', resource: 'configmaps' };
    const reason = 'RBAC: allowed by RoleBinding "jane-reader/shop" of Role "reader" to User "jane"';
    const yes = { allowed: true, reason };
    const self = SelfSubjectAccessReview({ metadata: {}, spec: { resourceAttributes } });
    expect((await client.create(self)).status).toEqual(yes);
    const other = { metadata: {}, spec: { user: 'jane', resourceAttributes } };
    expect((await admin.create(SubjectAccessReview(other))).status).toEqual(yes);
    expect((await admin.create(LocalSubjectAccessReview({ ...other, metadata: { namespace } }))).status).toEqual(yes);
    const elsewhere = { user: 'jane', resourceAttributes: { ...resourceAttributes, namespace: 'default' } };
    expect((await admin.create(SubjectAccessReview({ metadata: {}, spec: elsewhere }))).status).toEqual({
      allowed: false,
    });
    const path = {
      user: 'jane',
      groups: ['system:authenticated'],
      nonResourceAttributes: { path: '/api', verb: 'get' },
    };
    expect((await admin.create(SubjectAccessReview({ metadata: {}, spec: path }))).status).toMatchObject({
      allowed: true,
    });
    const own = await client.create(SelfSubjectRulesReview({ metadata: {}, spec: { namespace } }));
    expect(own.status?.resourceRules).toContainEqual({ ...rules[0] });
    expect(own.status?.incomplete).toBe(false);
  });
});

test('identities that can be none are refused', async () => {
  const { server } = await start();
  expect(() => server.as({ user: '' })).toThrow('ApiServer.as: user must be a name, got ""');
  expect(() => server.as({ serviceAccount: 'A B', namespace })).toThrow(
    'ApiServer.as: "shop/A B" is not the namespace and name of a ServiceAccount',
  );
  expect(() => server.as({ user: 'jane', group: 'dev' } as never)).toThrow('group');
});
