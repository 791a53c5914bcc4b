// 5,000 Ships on an embedded server, replicas as processes: one is killed, one is added, and every Ship is handled.
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient, systemClock } from 'riata';
import { CustomResourceDefinition } from 'riata/kinds';
import { Ship } from './main.js';

const count = Number(process.argv[2] ?? 5000);
const namespace = 'default';
await using server = await ApiServer.start();
const { url, ca } = await server.listen({ port: 0 });
const folder = await mkdtemp(join(tmpdir(), 'riata-fleet-'));
const kubeconfig = join(folder, 'kubeconfig');
await writeFile(kubeconfig, adminKubeconfig({ url, ca, token: server.token }), { mode: 0o600 });
await using client = createClient(server.config);
await client.apply(CustomResourceDefinition(Ship.crd()), { fieldManager: 'demo' });

const runTs = fileURLToPath(new URL('../../tools/run-ts.mjs', `file://${process.argv[1]}`));
const program = fileURLToPath(new URL('run.ts', `file://${process.argv[1]}`));
const start = (name: string): ChildProcess =>
  spawn(process.execPath, [runTs, program, namespace, name], {
    env: { ...process.env, KUBECONFIG: kubeconfig },
    stdio: ['ignore', 'ignore', 'inherit'],
  });

/** Prints how many Ships each replica has put on the new course, until all are on it. */
async function watch(title: string, course: number): Promise<void> {
  console.log(`\n${title}`);
  const begin = systemClock.monotonic();
  for (;;) {
    const byPilot = new Map<string, number>();
    let done = 0;
    for await (const { status } of client.each(Ship, { namespace })) {
      if (status?.course !== course) continue;
      const { pilot = '?' } = status;
      done += 1;
      byPilot.set(pilot, (byPilot.get(pilot) ?? 0) + 1);
    }
    const shares = [...byPilot].sort().map(([pilot, ships]) => `${pilot} ${ships}`);
    const seconds = ((systemClock.monotonic() - begin) / 1000).toFixed(1);
    console.log(
      `  ${seconds.padStart(5)} s: ${String(done).padStart(5)} of ${count} on course ${course}  ${shares.join('  ')}`,
    );
    if (done === count) return;
    await systemClock.sleep(1000);
  }
}

async function turn(course: number): Promise<void> {
  for (let from = 0; from < count; from += 100) {
    const names = Array.from({ length: Math.min(100, count - from) }, (_, index) => `ship-${from + index}`);
    await Promise.all(
      names.map((name) => client.patch(Ship, { namespace, name }, { type: 'merge', body: { spec: { course } } })),
    );
  }
}

const fleet = [start('anna'), start('bea'), start('cleo')];
try {
  for (let from = 0; from < count; from += 100) {
    const names = Array.from({ length: Math.min(100, count - from) }, (_, index) => `ship-${from + index}`);
    await Promise.all(
      names.map((name) => client.create(Ship({ metadata: { namespace, name }, spec: { course: 10 } }))),
    );
  }
  await watch(`${count} Ships, shared by three replicas`, 10);
  fleet[0]?.kill('SIGKILL');
  await turn(20);
  await watch('anna was killed while every course changed: the others take over when its lease has expired', 20);
  fleet.push(start('dora'));
  await turn(30);
  await watch('dora has joined and gets its share', 30);
} finally {
  for (const process of fleet) process.kill();
  await rm(folder, { recursive: true });
}
