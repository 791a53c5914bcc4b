import { execFile } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { createClient, loadConfig, silentLogger } from 'riata';
import { Namespace } from 'riata/kinds';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { eventually, realCluster } from './cluster.js';

const run = promisify(execFile);

/** kubectl comes with the real control plane. */
describe('kubectl', () => {
  describe('on the sandbox', () => plays(sandboxCluster));
  describe('on kube-controller-manager', () => plays(controllerManagerCluster));
});

type Stop = () => Promise<void>;

async function sandboxCluster(folder: string): Promise<readonly [kubeconfig: string, stop: Stop]> {
  const sandbox = await Sandbox.start({ nodes: 3 });
  const { url, ca } = await sandbox.listen({ port: 0 });
  const kubeconfig = join(folder, 'sandbox.yaml');
  await writeFile(kubeconfig, adminKubeconfig({ url, token: sandbox.server.token, ca }), { mode: 0o600 });
  return [kubeconfig, () => sandbox.stop()];
}

async function controllerManagerCluster(): Promise<readonly [kubeconfig: string, stop: Stop]> {
  const cluster = await realCluster();
  return [controlPlaneFromEnv().kubeconfigPath, async () => cluster[Symbol.asyncDispose]()];
}

function plays(start: (folder: string) => Promise<readonly [kubeconfig: string, stop: Stop]>): void {
  let folder = '';
  let kubeconfig = '';
  let namespace = '';
  let stop: Stop | undefined;
  const kubectlOnce = async (...args: readonly string[]): Promise<string> => {
    const all = ['--kubeconfig', kubeconfig, '-n', namespace, '--cache-dir', join(folder, 'cache'), ...args];
    const { stdout } = await run(controlPlaneFromEnv().kubectlPath, all, { timeout: 200_000 });
    return stdout;
  };
  /** A command that waits in vain doesn't say for what, so a failure comes with the state of the cluster. */
  const kubectl = async (...args: readonly string[]): Promise<string> => {
    try {
      return await kubectlOnce(...args);
    } catch (error) {
      const state = await Promise.all([
        kubectlOnce('get', 'nodes,pods', '-A', '-o', 'wide'),
        kubectlOnce('get', 'deployments,replicasets,statefulsets,daemonsets,replicationcontrollers', '-A'),
        kubectlOnce('get', 'events'),
      ]).catch(String);
      throw new Error(`kubectl ${args.join(' ')} failed; the cluster then:\n${state}`, { cause: error });
    }
  };

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'riata-kubectl-'));
    [kubeconfig, stop] = await start(folder);
    await using client = createClient(await loadConfig({ path: kubeconfig }), { runtime: { log: silentLogger } });
    namespace = (await client.create(Namespace({ metadata: { generateName: 'k-' } }))).metadata.name;
  });
  afterAll(async () => {
    await stop?.();
    await rm(folder, { recursive: true, force: true });
  });

  test('a Deployment is rolled out, undone, restarted and scaled', async () => {
    const names = async () => (await kubectl('get', 'pods', '-l', 'app=web', '-o', 'name')).trim().split('\n').sort();
    const image = () => kubectl('get', 'deployment', 'web', '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    expect(await kubectl('create', 'deployment', 'web', '--image=web:1', '--replicas=2')).toBe(
      'deployment.apps/web created\n',
    );
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('deployment "web" successfully rolled out');
    await kubectl('set', 'image', 'deployment/web', 'web=web:2');
    await kubectl('annotate', 'deployment/web', 'kubernetes.io/change-cause=second');
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('successfully rolled out');
    await eventually(async () => {
      const history = (await kubectl('rollout', 'history', 'deployment/web')).replace(/ +/g, ' ');
      expect(history).toContain('1 <none>\n2 second');
    });
    expect(await kubectl('rollout', 'undo', 'deployment/web')).toBe('deployment.apps/web rolled back\n');
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('successfully rolled out');
    expect(await image()).toBe('web:1');
    await eventually(async () => expect(await names()).toHaveLength(2));
    const before = await names();
    expect(await kubectl('rollout', 'restart', 'deployment/web')).toBe('deployment.apps/web restarted\n');
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('successfully rolled out');
    await eventually(async () => {
      const after = await names();
      expect(after).toHaveLength(2);
      expect(after.some((name) => before.includes(name))).toBe(false);
    });
    expect(await kubectl('scale', 'deployment/web', '--replicas=4')).toBe('deployment.apps/web scaled\n');
    expect(await kubectl('rollout', 'status', 'deployment/web')).toContain('successfully rolled out');
    const table = await kubectl('get', 'deployment', 'web', '--no-headers');
    expect(table.split(/\s+/).slice(0, 4)).toEqual(['web', '4/4', '4', '4']);
    const [victim = ''] = await names();
    await kubectl('delete', victim, '--wait=false');
    await eventually(async () => {
      const now = await names();
      expect(now).toHaveLength(4);
      expect(now).not.toContain(victim);
    });
    const wait = await kubectl('wait', '--for=condition=Available', 'deployment/web', '--timeout=100s');
    expect(wait).toBe('deployment.apps/web condition met\n');
  });

  test.each(['statefulset', 'daemonset'])('a %s is rolled out, shows its history, and is undone', async (kind) => {
    const name = `my-${kind}`;
    const file = join(folder, `${kind}.json`);
    const object = {
      apiVersion: 'apps/v1',
      kind: kind === 'statefulset' ? 'StatefulSet' : 'DaemonSet',
      metadata: { name, annotations: { 'kubernetes.io/change-cause': 'first' } },
      spec: {
        ...(kind === 'statefulset' && { replicas: 2, serviceName: 'web' }),
        selector: { matchLabels: { app: name } },
        template: {
          metadata: { labels: { app: name } },
          spec: { terminationGracePeriodSeconds: 1, containers: [{ name: 'web', image: 'web:1' }] },
        },
      },
    };
    const target = `${kind}/${name}`;
    const image = () => kubectl('get', target, '-o', 'jsonpath={.spec.template.spec.containers[0].image}');
    const history = async () => (await kubectl('rollout', 'history', target)).replace(/ +/g, ' ').trim().split('\n');
    const isDone = kind === 'statefulset' ? 'roll out complete: 2 new pods' : 'successfully rolled out';
    await writeFile(file, JSON.stringify(object));
    await kubectl('create', '-f', file);
    await kubectl('rollout', 'status', target);
    await kubectl('annotate', target, 'kubernetes.io/change-cause=second', '--overwrite');
    await kubectl('set', 'image', target, 'web=web:2');
    expect(await kubectl('rollout', 'status', target)).toContain(isDone);
    expect(await history()).toEqual([`${kind}.apps/${name} `, 'REVISION CHANGE-CAUSE', '1 first', '2 second']);
    expect(await kubectl('rollout', 'history', target, '--revision=1')).toContain('web:1');
    expect(await kubectl('rollout', 'undo', target)).toBe(`${kind}.apps/${name} rolled back\n`);
    expect(await kubectl('rollout', 'status', target)).toContain(isDone);
    expect(await image()).toBe('web:1');
    expect(await history()).toEqual([`${kind}.apps/${name} `, 'REVISION CHANGE-CAUSE', '2 second', '3 first']);
    expect(await kubectl('rollout', 'undo', target, '--to-revision=2')).toBe(`${kind}.apps/${name} rolled back\n`);
    expect(await kubectl('rollout', 'status', target)).toContain(isDone);
    expect(await image()).toBe('web:2');
    await kubectl('rollout', 'restart', target);
    expect(await kubectl('rollout', 'status', target)).toContain(isDone);
    expect(await history()).toHaveLength(5);
  });

  test('a ReplicationController is scaled, and a PodDisruptionBudget is shown', async () => {
    const file = join(folder, 'rc.json');
    const labels = { app: 'rc' };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'web:1' }] } };
    const object = { apiVersion: 'v1', kind: 'ReplicationController', metadata: { name: 'rc' } };
    await writeFile(file, JSON.stringify({ ...object, spec: { replicas: 1, template } }));
    await kubectl('create', '-f', file);
    expect(await kubectl('scale', 'rc/rc', '--replicas=3')).toBe('replicationcontroller/rc scaled\n');
    await kubectl('wait', 'rc/rc', '--for=jsonpath={.status.readyReplicas}=3', '--timeout=100s');
    await kubectl('create', 'pdb', 'rc', '--selector=app=rc', '--min-available=2');
    await kubectl('wait', 'pdb/rc', '--for=condition=DisruptionAllowed', '--timeout=100s');
    const cells = (await kubectl('get', 'pdb', 'rc', '--no-headers')).split(/\s+/);
    expect(cells.slice(0, 4)).toEqual(['rc', '2', 'N/A', '1']);
  });

  test('a rollout that is paused continues when it is resumed', async () => {
    await kubectl('create', 'deployment', 'slow', '--image=web:1');
    await kubectl('rollout', 'status', 'deployment/slow');
    await kubectl('rollout', 'pause', 'deployment/slow');
    await kubectl('set', 'image', 'deployment/slow', 'web=web:2');
    expect(await kubectl('rollout', 'history', 'deployment/slow')).not.toContain('\n2 ');
    await kubectl('rollout', 'resume', 'deployment/slow');
    expect(await kubectl('rollout', 'status', 'deployment/slow')).toContain('successfully rolled out');
    const pods = await kubectl('get', 'pods', '-l', 'app=slow', '-o', 'jsonpath={.items[*].spec.containers[0].image}');
    expect(pods).toContain('web:2');
  });
}
