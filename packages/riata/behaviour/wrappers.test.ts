import { readFile } from 'node:fs/promises';
import { impersonating, inNamespace, intercept, type Operation, withFieldOwner, withUserAgent } from 'riata/client';
import { ClusterRole, ClusterRoleBinding, ConfigMap, Namespace } from 'riata/kinds';
import { SelfSubjectReview } from 'riata/kinds/authentication.k8s.io/v1';
import { isForbidden } from 'riata/rest';
import { expect, test } from 'vitest';
import { controlPlane, describeServers, realOnly, rejection, testOn, uniqueName, until } from './servers.js';

interface AuditLine {
  readonly verb: string;
  readonly userAgent?: string;
  readonly user: { readonly username: string };
  readonly impersonatedUser?: { readonly username: string; readonly groups?: readonly string[] };
  readonly objectRef?: { readonly namespace?: string; readonly name?: string };
}

describeServers('wrappers', (server) => {
  test('inNamespace: one namespace in every verb, any other refused', async () => {
    const { client } = server();
    const [namespace, other] = await Promise.all([server().namespace(), server().namespace()]);
    await client.create(ConfigMap({ metadata: { namespace: other, name: 'theirs' } }));
    const here = inNamespace(client, namespace);
    const made = await here.create(ConfigMap({ metadata: { name: 'a' } }));
    expect(made.metadata.namespace).toBe(namespace);
    expect((await here.update(ConfigMap({ metadata: { name: 'a' }, data: { a: '1' } }))).data).toEqual({ a: '1' });
    await here.patch(ConfigMap, { name: 'a' }, { type: 'merge', body: { data: { b: '2' } } });
    await here.apply(ConfigMap({ metadata: { name: 'a' }, data: { c: '3' } }), { fieldManager: 'me' });
    expect((await here.get(ConfigMap, { name: 'a' })).data).toEqual({ a: '1', b: '2', c: '3' });
    expect((await here.list(ConfigMap)).items.map((c) => c.metadata.name)).toEqual(['a']);
    await using watch = await here.watch(ConfigMap, { sendInitialEvents: true, resourceVersion: '' });
    const seen: string[] = [];
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') break;
      if (event.type !== 'ERROR') seen.push(event.object.metadata.name);
    }
    expect(seen).toEqual(['a']);
    await expect(here.create(ConfigMap({ metadata: { namespace: other, name: 'b' } }))).rejects.toThrow(
      `this client is for namespace "${namespace}" alone`,
    );
    await here.deleteCollection(ConfigMap);
    expect(await client.find(ConfigMap, { namespace: other, name: 'theirs' })).toBeDefined();
    expect(await here.find(ConfigMap, { name: 'a' })).toBeUndefined();
  });

  test('withFieldOwner: the manager of every write, unless the call names another', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const owned = withFieldOwner(client, 'shop-operator');
    const made = await owned.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
    const updated = await owned.update({ ...made, data: { a: '1', b: '2' } }, { fieldManager: 'other' });
    await owned.patch(ConfigMap, made.metadata, { type: 'merge', body: { data: { c: '3' } } });
    const applied = await owned.apply(ConfigMap({ metadata: { namespace, name: 'a' }, data: { d: '4' } }));
    const managers = (object: typeof made) =>
      object.metadata.managedFields?.map((entry) => `${entry.manager} ${entry.operation}`).sort();
    expect(managers(made)).toEqual(['shop-operator Update']);
    expect(managers(updated)).toEqual(['other Update', 'shop-operator Update']);
    expect(managers(applied)).toEqual(['other Update', 'shop-operator Apply', 'shop-operator Update']);
  });

  testOn(realOnly, 'impersonating: the rights of that user and no others', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const user = uniqueName('jane-');
    const group = uniqueName('testers-');
    const jane = impersonating(client, {
      user,
      groups: ['developers', group],
      extra: { 'riata.dev/why': ['a b'] },
    });
    const error = await rejection(jane.list(ConfigMap, { namespace }));
    expect(error).toSatisfy(isForbidden);
    expect(error.message).toContain(`User "${user}" cannot list resource "configmaps"`);
    const name = user;
    const rules = [{ apiGroups: [''], resources: ['configmaps'], verbs: ['list'] }];
    await client.create(ClusterRole({ metadata: { name }, rules }));
    await client.create(
      ClusterRoleBinding({
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [{ kind: 'Group', apiGroup: 'rbac.authorization.k8s.io', name: group }],
      }),
    );
    const list = await until('the role is in force', () =>
      jane.list(ConfigMap, { namespace }).catch((e: unknown) => {
        if (isForbidden(e)) return undefined;
        throw e;
      }),
    );
    expect(list.items).toEqual([]);
    await expect(jane.create(ConfigMap({ metadata: { namespace, name: 'a' } }))).rejects.toSatisfy(isForbidden);
    const who = await jane.create(SelfSubjectReview({ metadata: {} }));
    expect(who.status?.userInfo).toMatchObject({ username: user, extra: { 'riata.dev/why': ['a b'] } });
    const line = await audited((l) => l.verb === 'list' && l.impersonatedUser?.username === user);
    expect(line.user.username).toBe('admin');
    expect(line.impersonatedUser?.groups).toEqual(['developers', group, 'system:authenticated']);
  });

  testOn(
    realOnly,
    'withUserAgent: the name in the audit log, and the field manager that the server makes of it',
    async () => {
      const { client } = server();
      const namespace = await server().namespace();
      const agent = `${uniqueName('shop-')}/1.2 (linux)`;
      const named = withUserAgent(client, agent);
      const made = await named.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: '1' } }));
      expect(made.metadata.managedFields?.[0]?.manager).toBe(agent.split('/')[0]);
      const line = await audited((l) => l.userAgent === agent);
      expect(line).toMatchObject({ verb: 'create', objectRef: { namespace, name: 'a' } });
      await client.get(Namespace, { name: namespace });
      const ours = await audited((l) => l.verb === 'get' && l.objectRef?.name === namespace);
      expect(ours.userAgent).toMatch(/^riata\/\S+ \(\w+\/\w+\)$/);
    },
  );

  test('intercept: sees every operation, can change it and answer itself; wrappers stack', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const seen: string[] = [];
    const reported = intercept(client, (operation, next) => {
      seen.push(nameOf(operation));
      return next(operation);
    });
    const here = withFieldOwner(inNamespace(reported, namespace), 'me');
    await here.create(ConfigMap({ metadata: { name: 'a' } }));
    await here.find(ConfigMap, { name: 'b' });
    await here.list(ConfigMap);
    (await here.watch(ConfigMap)).stop();
    await here.patch(ConfigMap, { name: 'a' }, { type: 'merge', body: { data: { a: '1' } } });
    await here.delete(ConfigMap, { name: 'a' });
    await here.deleteCollection(ConfigMap);
    expect(seen).toEqual([
      `create configmaps ${namespace}`,
      `get configmaps ${namespace} b`,
      `list configmaps ${namespace}`,
      `watch configmaps ${namespace}`,
      `patch configmaps ${namespace} a`,
      `delete configmaps ${namespace} a`,
      `deletecollection configmaps ${namespace}`,
    ]);

    const renaming = intercept(client, (operation, next) =>
      next(operation.name === 'alias' ? { ...operation, name: 'real' } : operation),
    );
    const real = await client.create(ConfigMap({ metadata: { namespace, name: 'real' } }));
    expect(await renaming.get(ConfigMap, { namespace, name: 'alias' })).toEqual(real);
    const broken = intercept(client, async () => {
      throw new Error('not today');
    });
    await expect(broken.get(ConfigMap, real.metadata)).rejects.toThrow('not today');
  });
});

function nameOf({ verb, kind, namespace, name }: Operation): string {
  return [verb, kind.plural, namespace, name].filter((part) => part !== undefined).join(' ');
}

/** The first line of the audit log that matches; the server writes it a moment after it has answered. */
function audited(matches: (line: AuditLine) => boolean): Promise<AuditLine> {
  return until('the audit log has the line', async () => {
    // What comes after the last line break is half a line, at whatever it ends.
    const lines = (await readFile(controlPlane().auditLogPath, 'utf8')).split('\n').slice(0, -1);
    return lines.map((line) => JSON.parse(line) as AuditLine).find(matches);
  });
}
