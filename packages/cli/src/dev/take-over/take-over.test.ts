import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { TestEnvironment } from '@riata/testing';
import { Deployment, Lease } from 'riata/kinds';
import { expect, test, vi } from 'vitest';
import { webhookHost } from '../webhook-host.js';
import { CrashGuard } from './crash-guard.js';
import { giveBack, replicasAnnotation } from './give-back.js';
import { takeOver } from './take-over.js';

const key = { namespace: 'default', name: 'site-operator' };
const labels = { app: 'site-operator' };
const deployed = Deployment({
  metadata: key,
  spec: {
    replicas: 2,
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: { containers: [{ name: 'main', image: 'registry.example.com/site-operator' }] },
    },
  },
});

async function cluster() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  await env.client.create(deployed);
  const notes: string[] = [];
  const stop = new AbortController();
  const parts = (holder: string) => ({
    ...{ client: env.client, ...key, holder, clock: env.clock, signal: stop.signal },
    note: (line: string) => void notes.push(line),
  });
  /** As the controller of Deployments would. */
  const scale = async () => {
    const { metadata, spec } = await env.client.get(Deployment, key);
    const status = { observedGeneration: metadata.generation ?? 0, replicas: spec?.replicas ?? 0 };
    await env.client.status.patch(Deployment, key, { type: 'merge', body: { status } });
  };
  const replicas = async () => {
    const { metadata, spec } = await env.client.get(Deployment, key);
    return [spec?.replicas, metadata.annotations?.[replicasAnnotation]];
  };
  return { env, notes, stop, parts, scale, replicas };
}

/** Moves time until something is over. */
async function driven<T>(env: TestEnvironment, work: Promise<T>): Promise<T> {
  let isOver = false;
  const ended = work.finally(() => {
    isOver = true;
  });
  ended.catch(() => {});
  while (!isOver) await env.advance('1s');
  return ended;
}

test('the deployed operator is scaled to zero, and gets its replicas back', async () => {
  const { env, notes, parts, scale, replicas } = await cluster();
  await using _ = env;
  const taking = takeOver(parts('ann'));
  await vi.waitFor(async () => expect(await replicas()).toEqual([0, '2']));
  await scale();
  const place = await driven(env, taking);
  expect(notes).toEqual(['scaled Deployment default/site-operator to zero; it gets 2 replicas again on exit']);
  await expect(takeOver(parts('bob'))).rejects.toThrow(
    /default\/site-operator is taken over by riata dev of ann, renewed \d+ s ago; stop that one, or wait 30 s if it has crashed/,
  );
  await expect(giveBack(parts('bob'))).rejects.toThrow('is taken over by riata dev of ann');
  // It is renewed as long as it is held.
  await env.advance('2m');
  await expect(giveBack(parts('bob'))).rejects.toThrow('is taken over by riata dev of ann');
  await place?.giveBack();
  expect(await replicas()).toEqual([2, undefined]);
  expect(await env.client.find(Lease, { ...key, name: 'site-operator-riata-dev' })).toBeUndefined();
  expect(await giveBack(parts('bob'))).toEqual({});
});

test('after a crash, another one takes over with what is remembered, or gives back', async () => {
  const { env, parts, scale, replicas } = await cluster();
  await using _ = env;
  const renewTime = new Date(env.clock.now()).toISOString().replace('Z', '000Z');
  const metadata = { annotations: { [replicasAnnotation]: '3' } };
  await env.client.patch(Deployment, key, { type: 'merge', body: { metadata, spec: { replicas: 0 } } });
  await env.client.create(
    Lease({
      metadata: { ...key, name: 'site-operator-riata-dev' },
      spec: { holderIdentity: 'ann', leaseDurationSeconds: 30, renewTime },
    }),
  );
  await expect(takeOver(parts('bob'))).rejects.toThrow('riata dev of ann');
  await env.advance('31s');
  await scale();
  const place = await driven(env, takeOver(parts('bob')));
  expect(await replicas()).toEqual([0, '3']);
  await place?.giveBack();
  expect(await replicas()).toEqual([3, undefined]);
});

test('if the Pods do not go, the place is given back', async () => {
  const { env, parts, replicas } = await cluster();
  await using _ = env;
  await expect(driven(env, takeOver(parts('ann')))).rejects.toThrow(
    'the Pods of Deployment default/site-operator are still there after 2m',
  );
  expect(await replicas()).toEqual([2, undefined]);
  await env.client.delete(Deployment, key);
  expect(await takeOver(parts('ann'))).toBeUndefined();
});

test('the guard runs its command when its owner ends without a word, and only then', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'riata-guard-'));
  try {
    const made = (name: string) => {
      const file = join(folder, name);
      const write = `require('node:fs').writeFileSync(${JSON.stringify(file)}, '')`;
      return { file, guard: new CrashGuard({ command: [execPath, '-e', write], cwd: folder, env: process.env }) };
    };
    const [crashed, ended] = [made('crashed'), made('ended')];
    await ended.guard.end();
    await crashed.guard.end({ isDone: false });
    await vi.waitFor(() => expect(existsSync(crashed.file)).toBe(true), { timeout: 30_000 });
    expect(existsSync(ended.file)).toBe(false);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
});

test.each([
  ['kind on Linux', { context: 'kind-dev', nodeAddresses: ['172.18.0.2'] }, '172.18.0.1'],
  ['a machine in the same network', { context: 'lab', nodeAddresses: ['10.0.0.7'] }, '10.0.0.5'],
  ['kind behind a virtual machine', { context: 'kind-dev', nodeAddresses: ['192.168.97.2'] }, 'host.docker.internal'],
  ['k3d behind a virtual machine', { context: 'k3d-dev', nodeAddresses: [] }, 'host.docker.internal'],
  [
    'minikube behind a virtual machine',
    { context: 'minikube', nodeAddresses: ['192.168.49.2'] },
    'host.minikube.internal',
  ],
  ['a cluster elsewhere', { context: 'production', nodeAddresses: ['10.8.0.3'] }, undefined],
])('webhooks reach this machine from %s', (_, given, host) => {
  const own = (cidr: string, internal = false) => {
    const [address = ''] = cidr.split('/');
    return [{ address, cidr, internal, family: 'IPv4' as const, netmask: '', mac: '' }];
  };
  const interfaces = { lo: own('127.0.0.1/8', true), eth0: own('10.0.0.5/24'), 'br-1': own('172.18.0.1/16') };
  expect(webhookHost({ server: 'https://127.0.0.1:6443', interfaces, ...given })).toBe(host);
});
