import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { ConfigMap, Deployment } from 'riata/kinds';
import { extractFields } from 'riata/object';
import { isConflict, kubeconfigFor } from 'riata/rest';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { controlPlane, describeServers, realOnly, rejection } from './servers.js';

describeServers(
  'kubectl beside us',
  (server) => {
    let dir = '';
    beforeEach(async () => {
      dir = await mkdtemp(join(tmpdir(), 'riata-kubectl-'));
    });
    afterEach(() => rm(dir, { recursive: true }));

    /** Runs kubectl with a kubeconfig that we have written. */
    const kubectl = async (...args: string[]): Promise<string> => {
      const { url, ca, token, kubectlPath } = controlPlane();
      const kubeconfig = join(dir, 'kubeconfig');
      await writeFile(kubeconfig, JSON.stringify(kubeconfigFor({ server: url, ca, token })), { mode: 0o600 });
      const env = { PATH: process.env.PATH, HOME: dir, KUBECONFIG: kubeconfig };
      return (await promisify(execFile)(kubectlPath, args, { env })).stdout;
    };

    test('a kubeconfig by kubeconfigFor; what kubectl prints is what we read', async () => {
      const { client } = server();
      const namespace = await server().namespace();
      const data = { text: 'ä "quoted"\n', empty: '' };
      const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data }));
      const printed = await kubectl('get', 'configmap', 'a', '-n', namespace, '-o', 'json', '--show-managed-fields');
      expect(JSON.parse(printed)).toEqual(made);
      const { columnDefinitions, rows } = await client.table(ConfigMap, { namespace });
      const [heading, row] = (await kubectl('get', 'cm', '-n', namespace)).trim().split('\n');
      expect(heading?.split(/\s+/)).toEqual(columnDefinitions.map((column) => column.name.toUpperCase()));
      expect(row?.split(/\s+/).slice(0, 2)).toEqual(rows[0]?.cells.slice(0, 2).map(String));
    });

    test('two appliers: kubectl keeps what is its own, and we ours', async () => {
      const { client } = server();
      const namespace = await server().namespace();
      const labels = { app: 'web' };
      const file = join(dir, 'web.json');
      const manifest = Deployment({
        metadata: { namespace, name: 'web' },
        spec: {
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } },
        },
      });
      await writeFile(file, JSON.stringify(manifest));
      await kubectl('apply', '--server-side', '-f', file);
      const scaled = await client.applyFields(
        Deployment,
        { metadata: { namespace, name: 'web' }, spec: { replicas: 4 } },
        { fieldManager: 'scaler' },
      );
      expect(extractFields(scaled, { fieldManager: 'kubectl' })).toEqual(manifest);
      const image = (value: string) => ({
        metadata: { namespace, name: 'web' },
        spec: { template: { spec: { containers: [{ name: 'web', image: value }] } } },
      });
      const error = await rejection(client.applyFields(Deployment, image('web:2'), { fieldManager: 'scaler' }));
      expect(error).toSatisfy(isConflict);
      expect(error.message).toContain('conflict with "kubectl"');
      await kubectl('apply', '--server-side', '-f', file);
      expect((await client.get(Deployment, scaled.metadata)).spec?.replicas).toBe(4);
    });
  },
  realOnly,
);
