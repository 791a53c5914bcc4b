import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Pod,
  ValidatingAdmissionPolicy,
  ValidatingAdmissionPolicyBinding,
} from 'riata/kinds';
import { Manager } from 'riata/manager';
import { defineKind } from 'riata/object';
import { collectRbac, installCrds } from 'riata/patterns';
import { isForbidden } from 'riata/rest';
import { memoryLogger } from 'riata/runtime';
import { admit, conversion, migration, policy } from 'riata/webhook';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { versionedKind } from './versions-play.js';
import { onLoopback, startGuarded } from './webhooks-play.js';

describeServers('rights and connections', (server) => {
  test('a policy with params and a migration run with the rights that collectRbac gives', async () => {
    const { client, config } = server();
    const { First, Site } = versionedKind(`${uniqueName('g')}.riata.dev`);
    const namespace = await server().namespace();
    await installCrds(client, [First]);
    await client.create(First({ metadata: { namespace, name: 'old' }, spec: { image: 'web:1' } }));
    await installCrds(client, [Site]);
    await using _ = await startGuarded(server(), onLoopback(uniqueName('hooks-'), namespace), [conversion(Site)]);
    const name = uniqueName('rights-');
    // A kind of its own: a server stops watching params of a kind when the last policy for them goes.
    const Limits = defineKind({
      group: First.group,
      version: 'v1',
      kind: 'Limits',
      plural: 'limits',
      spec: z.object({ max: z.int() }),
    });
    await installCrds(client, [Limits]);
    const prices = policy(ConfigMap, {
      name,
      params: Limits,
      bindings: [{ paramRef: { name, namespace } }],
      objectSelector: { matchLabels: { guarded: name } },
    }) //
      .require(({ object }) => object.metadata.name.size().lt(50), { message: 'the name is too long' });
    const definitions = [prices, migration(Site, { grace: '0s' })];
    const rules = collectRbac(definitions, { leaderElection: false }).map(
      ({ ownNamespace: _, clusterWide: __, ...rule }) => rule,
    );
    const subject = { kind: 'User', apiGroup: 'rbac.authorization.k8s.io', name } as const;
    await client.create(ClusterRole({ metadata: { name }, rules: rules as never }));
    await client.create(
      ClusterRoleBinding({
        metadata: { name },
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name },
        subjects: [subject],
      }),
    );
    const log = memoryLogger('warn');
    const impersonate = { user: name, groups: ['system:authenticated'] };
    await using manager = await Manager.create({ config: { ...config, impersonate }, runtime: { log } });
    const crd = { name: `${Site.plural}.${Site.group}` };
    await until('the rights are in force', () =>
      manager.connection.get(CustomResourceDefinition, crd).then(
        () => true,
        () => false,
      ),
    );
    for (const definition of definitions) manager.add(definition);
    const stop = new AbortController();
    const ended = manager.run({ signal: stop.signal });
    await until('the objects are there', async () => {
      const [found, bound, { status }] = await Promise.all([
        client.find(ValidatingAdmissionPolicy, { name }),
        client.find(ValidatingAdmissionPolicyBinding, { name: prices.objects[1]?.metadata.name ?? '' }),
        client.get(CustomResourceDefinition, crd),
      ]);
      return found !== undefined && bound !== undefined && status?.storedVersions?.join() === 'v2';
    });
    stop.abort();
    expect(await ended).toMatchObject({ reason: 'stopped' });
    expect(log.records.filter(({ fields }) => String(fields.error).includes('forbidden'))).toEqual([]);
  });

  test('connections to Pods are reviewed before they are made', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const seen: unknown[] = [];
    const rules = admit(Pod, { namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } } }) //
      .validates({ on: ['connect'], subresource: 'exec' }, ({ object, operation, subresource, user, deny }) => {
        seen.push([operation, subresource, (object as { readonly command?: unknown }).command, user.name !== '']);
        deny('nobody runs commands here');
      });
    await using _ = await startGuarded(server(), onLoopback(uniqueName('connect-'), namespace), [rules]);
    const spec = { containers: [{ name: 'c', image: 'i' }], automountServiceAccountToken: false };
    await client.create(Pod({ metadata: { namespace, name: 'p' }, spec }));
    const exec = client.rest
      .post()
      .absPath(`/api/v1/namespaces/${namespace}/pods/p/exec`)
      .param('command', 'id')
      .param('stdout', 'true');
    const refused = await rejection(exec.do());
    expect(isForbidden(refused)).toBe(true);
    expect(String(refused)).toContain('nobody runs commands here');
    expect(seen).toEqual([['connect', 'exec', ['id'], true]]);
  });
});
