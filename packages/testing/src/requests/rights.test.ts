import { control } from 'riata/controller';
import { ClusterRole, ClusterRoleBinding, ConfigMap, Namespace, Secret } from 'riata/kinds';
import { isForbidden } from 'riata/rest';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from '../test-environment.js';
import { Widget, widget, widgets } from '../widget.fixture.js';
import { expectRightsSuffice } from './expect-rights-suffice.js';
import type { RecordedRequest } from './request-recorder.js';
import { usedRights } from './used-rights.js';

const start = () => TestEnvironment.start({ kinds: [Widget] });
const shop = 'default';

describe('env.as', () => {
  test('a user may do what its roles allow', async () => {
    await using env = await start();
    const jane = env.as({ user: 'jane', groups: ['dev'] });
    await expect(jane.client.list(ConfigMap, { namespace: shop })).rejects.toSatisfy(isForbidden);
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await env.client.create(ClusterRole({ metadata: { name: 'r' }, rules }));
    const apiGroup = 'rbac.authorization.k8s.io';
    const roleRef = { apiGroup, kind: 'ClusterRole', name: 'r' };
    const subjects = [{ apiGroup, kind: 'Group', name: 'dev' }];
    await env.client.create(ClusterRoleBinding({ metadata: { name: 'r' }, roleRef, subjects }));
    expect(await jane.client.list(ConfigMap, { namespace: shop })).toBeDefined();
    await expect(jane.client.list(Secret, { namespace: shop })).rejects.toSatisfy(isForbidden);
    expect(env.requests.lines({ client: 'jane' })).toHaveLength(3);
  });

  test('a manager runs as a ServiceAccount', async () => {
    await using env = await start();
    const robot = env.as({ serviceAccount: 'robot', namespace: shop });
    expect(robot.user).toBe('system:serviceaccount:default:robot');
    const rules = [{ apiGroups: ['*'], resources: ['*'], verbs: ['*'] }];
    await env.client.create(ClusterRole({ metadata: { name: 'r' }, rules }));
    const roleRef = { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'r' };
    const subjects = [{ kind: 'ServiceAccount', name: 'robot', namespace: shop }];
    await env.client.create(ClusterRoleBinding({ metadata: { name: 'r' }, roleRef, subjects }));
    await robot.run(widgets);
    await env.client.create(widget('w'));
    await env.settle();
    expect((await env.client.get(ConfigMap, { namespace: shop, name: 'w' })).data).toEqual({ size: '1' });
  });
});

describe('usedRights', () => {
  const asked = (verb: string, path: string, more: Partial<RecordedRequest> = {}): RecordedRequest => ({
    ...{
      verb,
      path,
      client: 'c',
      kind: '',
      group: '',
      version: 'v1',
      object: '',
      isDryRun: false,
      headers: {},
      atMs: 0,
    },
    ...more,
  });

  test('are one rule for what is used alike, by scope', () => {
    const { clusterRules, namespaceRules } = usedRights([
      asked('list', '/api/v1/pods'),
      asked('watch', '/api/v1/pods?watch=true&sendInitialEvents=true'),
      asked('get', '/api/v1/namespaces/shop/pods/a', { namespace: 'shop' }),
      asked('list', '/api/v1/namespaces/shop/pods', { namespace: 'shop' }),
      asked('get', '/api/v1/namespaces/shop/secrets/a', { namespace: 'shop' }),
      asked('get', '/api/v1/namespaces/shop'),
      asked('patch', '/apis/apps/v1/namespaces/shop/deployments/d/status', {
        ...{ group: 'apps', namespace: 'shop', subresource: 'status' },
        headers: { 'content-type': 'application/apply-patch+yaml' },
      }),
      asked('get', '/apis/apps/v1'),
      asked('get', '/metrics', { version: '' }),
      asked('delete', '/api/v1/nodes/n', { code: 403 }),
      asked('create', '/apis/authorization.k8s.io/v1/selfsubjectaccessreviews', { group: 'authorization.k8s.io' }),
    ]);
    expect(clusterRules).toEqual([
      { apiGroups: [''], resources: ['namespaces'], verbs: ['get'] },
      { apiGroups: [''], resources: ['pods'], verbs: ['list', 'watch'] },
      { nonResourceURLs: ['/metrics'], verbs: ['get'] },
    ]);
    expect(namespaceRules).toEqual({
      shop: [
        { apiGroups: [''], resources: ['pods', 'secrets'], verbs: ['get'] },
        { apiGroups: ['apps'], resources: ['deployments/status'], verbs: ['patch'] },
      ],
    });
  });

  test('of a controller suffice for it', async () => {
    await using env = await start();
    await env.run(widgets);
    await env.client.create(widget('w'));
    await env.settle();
    const rights = usedRights(env.requests);
    expect(rights.namespaceRules).toEqual({
      default: [
        { apiGroups: [''], resources: ['configmaps'], verbs: ['create', 'patch'] },
        { apiGroups: ['testing.riata.dev'], resources: ['widgets/status'], verbs: ['patch'] },
      ],
    });
    expect(rights.clusterRules).toEqual([
      { apiGroups: [''], resources: ['configmaps'], verbs: ['list', 'watch'] },
      { apiGroups: ['testing.riata.dev'], resources: ['widgets'], verbs: ['list', 'watch'] },
    ]);
    await env.reset();
    await expectRightsSuffice(env, rights, async (operator) => {
      await operator.run(widgets);
      await env.client.create(widget('w'));
    });
    expect(await env.client.find(ClusterRole, { name: 'riata-rights-check' })).toBeUndefined();
  });
});

describe('expectRightsSuffice', () => {
  const nothing = usedRights([]);

  test('names the rule, the request and the line of a reconciler', async () => {
    await using env = await start();
    await env.run(widgets);
    await env.client.create(widget('w'));
    await env.settle();
    const rights = usedRights(env.requests);
    await env.reset();
    const careless = control(Widget)
      .owns(ConfigMap)
      .reconcile(async ({ client }) => {
        await client.get(Secret, { namespace: shop, name: 's' });
      });
    const tried = expectRightsSuffice(env, rights, async (operator) => {
      await operator.run(careless);
      await env.client.create(widget('w'));
    });
    await expect(tried).rejects.toThrow(
      /^rights do not suffice; grant:\n {2}\{"apiGroups":\[""\],"resources":\["secrets"\],"verbs":\["get"\]\} in namespace default: get Secret default\/s at .*rights\.test\.ts:\d+:\d+\)?$/,
    );
  });

  test('names the line of a plain call', async () => {
    await using env = await start();
    const tried = expectRightsSuffice(env, nothing, ({ client }) => client.get(Namespace, { name: shop }));
    await expect(tried).rejects.toThrow(
      /"resources":\["namespaces"\],"verbs":\["get"\]\} at the cluster scope: get Namespace default/,
    );
  });

  test('passes other failures on', async () => {
    await using env = await start();
    const tried = expectRightsSuffice(env, nothing, () => {
      throw new Error('something else');
    });
    await expect(tried).rejects.toThrow('something else');
  });
});
