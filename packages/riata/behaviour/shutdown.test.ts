import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, type TestEnvironment } from '@riata/testing';
import { ConfigMap, Lease } from 'riata/kinds';
import { kubeconfigFor } from 'riata/rest';
import { expect, test } from 'vitest';
import { OperatorReplica } from '../soak/operator-replica.js';
import { Widget } from '../soak/widget-kind.js';
import { controlPlane, describeServers } from './servers.js';

/** As text, for another process. */
async function kubeconfigOf({ config, server }: TestEnvironment): Promise<string> {
  if (server === undefined) return controlPlane().kubeconfig;
  const tls = await config.credentials?.tls();
  return JSON.stringify(kubeconfigFor({ server: config.server, ca: tls?.ca, token: server.token }));
}

describeServers(
  'a process that is told to stop',
  (server) => {
    test('under load: no reconcile is cut in half, the lease is released, and the process exits', async () => {
      const { client } = server();
      await server().install(Widget);
      const namespace = await server().namespace();
      const count = 60;
      for (let size = 0; size < count; size += 1) {
        await client.create(Widget({ metadata: { namespace, name: `w-${size}` }, spec: { size } }));
      }
      const readyNames = async () =>
        (await client.list(Widget, { namespace })).items
          .filter(({ status }) => status?.size !== undefined)
          .map(({ metadata }) => metadata.name);
      const dir = mkdtempSync(join(tmpdir(), 'riata-shutdown-'));
      try {
        const kubeconfig = await kubeconfigOf(server());
        await using replica = new OperatorReplica('one', {
          dir,
          kubeconfig,
          namespace,
          mode: 'leader',
          isPatient: true,
        });
        const isAtWork = async () => (await readyNames()).length >= 5;
        await eventually(isAtWork, { what: 'it is at work', within: '4m' });
        expect(await replica.stop()).toBe(0);
      } finally {
        rmSync(dir, { recursive: true, force: true });
      }
      const made = (await client.list(ConfigMap, { namespace })).items.filter(({ data }) => data?.size !== undefined);
      // The status is the last that a reconcile writes.
      expect((await readyNames()).sort()).toEqual(made.map(({ metadata }) => metadata.name).sort());
      const lease = await client.get(Lease, { namespace, name: 'widgets' });
      expect(lease.spec?.holderIdentity ?? '').toBe('');
    });
  },
  ['https', 'kube-apiserver'],
);
