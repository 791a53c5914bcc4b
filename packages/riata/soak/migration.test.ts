import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { createClient } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { Manager } from 'riata/manager';
import { installCrds } from 'riata/patterns';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger, systemClock, systemRandom } from 'riata/runtime';
import { conversion } from 'riata/webhook';
import { expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { FirstSite, Site } from './site-kind.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));
const objects = 10_000;
const kills = 3;
/** In how many parallel rows the objects are created. */
const rows = 40;
const namespace = 'migration';

test(`${objects} objects are rewritten once or twice, though the process is killed ${kills} times`, async () => {
  const plane = controlPlaneFromEnv();
  const config = await configFromKubeconfig(plane.kubeconfig);
  await using client = createClient(config, { runtime: { log: silentLogger } });
  await client.create(Namespace({ metadata: { name: namespace } }));
  await installCrds(client, [FirstSite]);
  await Promise.all(
    Array.from({ length: rows }, async (_, row) => {
      for (let index = row; index < objects; index += rows) {
        await client.create(
          FirstSite({ metadata: { namespace, name: `s${index}` }, spec: { image: `nginx:${index}` } }),
        );
      }
    }),
  );
  await installCrds(client, [Site]);
  const { name } = Site.crd().metadata;
  const storedVersions = async () => (await client.get(CustomResourceDefinition, { name })).status?.storedVersions;
  expect(await storedVersions()).toEqual(['v1', 'v2']);
  expect(await countWrites(plane.etcdUrl)).toEqual({ v1: { 1: objects } });

  const webhooks = { name: 'migration', namespace, host: '127.0.0.1', port: 0 } as const;
  await using manager = await Manager.create({ config, webhooks, runtime: { log: silentLogger } });
  manager.add(conversion(Site));
  const stop = new AbortController();
  const ran = manager.run({ signal: stop.signal });
  await until('objects are converted', () =>
    client.list(Site, { namespace, limit: 1 }).then(
      () => true,
      () => false,
    ),
  );

  const dir = mkdtempSync(join(tmpdir(), 'riata-migration-'));
  const kubeconfig = join(dir, 'kubeconfig');
  writeFileSync(kubeconfig, plane.kubeconfig);
  const startedAt = systemClock.monotonic();
  const report: unknown[] = [];
  let migrator: ChildProcess | undefined;
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      migrator = await startMigrator(kubeconfig, /migrating stored objects/);
      // In the middle of a page, with requests in flight.
      const enough = kill * 2500 + systemRandom.int(1600, 1900);
      await until(`${enough} are rewritten`, async () => (await countRewritten(plane.etcdUrl)) >= enough, 3000);
      const killed = once(migrator, 'exit');
      migrator.kill('SIGKILL');
      expect(await killed).toEqual([null, 'SIGKILL']);
      expect(await storedVersions()).toEqual(['v1', 'v2']);
      report.push(await countWrites(plane.etcdUrl));
    }
    migrator = await startMigrator(kubeconfig, /migrated all stored objects/);
    expect(await storedVersions()).toEqual(['v2']);
    const writes = await countWrites(plane.etcdUrl);
    const seconds = Math.round((systemClock.monotonic() - startedAt) / 100) / 10;
    process.stdout.write(`migration: ${JSON.stringify({ seconds, afterEachKill: report, inTheEnd: writes })}\n`);
    // The first write made the object.
    expect(Object.keys(writes)).toEqual(['v2']);
    const { 2: once_ = 0, 3: twice = 0, ...others } = writes.v2 ?? {};
    expect(others).toEqual({});
    expect(once_ + twice).toBe(objects);
    const { items } = await client.list(Site, { namespace });
    expect(new Set(items.map(({ spec }) => spec.tag)).size).toBe(objects);
  } finally {
    migrator?.kill('SIGKILL');
    rmSync(dir, { recursive: true });
    stop.abort();
    await ran;
  }
});

/** Resolves when it has written a line like this. */
async function startMigrator(kubeconfig: string, line: RegExp): Promise<ChildProcess> {
  const program = join(root, 'packages/riata/soak/migrator.ts');
  const env = { ...process.env, MIGRATOR_KUBECONFIG: kubeconfig };
  const child = spawn(process.execPath, [join(root, 'tools/run-ts.mjs'), program], { cwd: root, env });
  let log = '';
  await new Promise<void>((resolve, reject) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.on('data', (bytes: Buffer) => {
        log += String(bytes);
        if (line.test(log)) resolve();
      });
    }
    child.once('exit', () => reject(new Error(`the migrator has ended:\n${log}`)));
  });
  return child;
}

/** How many objects are stored in each version, by how often each was written: etcd counts the writes of a key. */
async function countWrites(etcdUrl: string): Promise<Record<string, Record<number, number>>> {
  const counts: Record<string, Record<number, number>> = {};
  for (const { version, value = '' } of await readEtcd(etcdUrl)) {
    const { apiVersion } = JSON.parse(Buffer.from(value, 'base64').toString()) as { readonly apiVersion: string };
    const stored = apiVersion.split('/')[1] as string;
    counts[stored] ??= {};
    counts[stored][Number(version)] = (counts[stored][Number(version)] ?? 0) + 1;
  }
  return counts;
}

async function countRewritten(etcdUrl: string): Promise<number> {
  return (await readEtcd(etcdUrl, { keys_only: true })).filter(({ version }) => version !== '1').length;
}

interface StoredValue {
  readonly version: string;
  readonly value?: string;
}

async function readEtcd(etcdUrl: string, options: object = {}): Promise<readonly StoredValue[]> {
  const prefix = `/registry/${Site.group}/${Site.plural}/`;
  const base64 = (text: string) => Buffer.from(text).toString('base64');
  const end = `${prefix.slice(0, -1)}0`;
  const body = JSON.stringify({ key: base64(prefix), range_end: base64(end), ...options });
  const response = await fetch(`${etcdUrl}/v3/kv/range`, { method: 'POST', body });
  const { kvs = [] } = (await response.json()) as { readonly kvs?: readonly StoredValue[] };
  return kvs;
}

async function until(what: string, probe: () => Promise<boolean>, most = 600): Promise<void> {
  for (let tries = 0; !(await probe()); tries += 1) {
    if (tries === most) throw new Error(`timed out: ${what}`);
    await systemClock.sleep(100);
  }
}
