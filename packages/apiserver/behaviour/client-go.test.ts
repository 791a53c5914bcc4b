import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { startKeeper } from '../../../tools/control-plane/keeper.mjs';
import { buildClientGo } from '../../../tools/go-suites/build.mjs';

test('a client-go program syncs its informers and elects leaders', async () => {
  const log = memoryLogger();
  await using server = await ApiServer.start({ log });
  const { url, ca } = await server.listen();
  const keeper = await startKeeper();
  try {
    const kubeconfig = join(keeper.dir, 'kubeconfig');
    await writeFile(kubeconfig, adminKubeconfig({ url, token: server.token, ca }));
    const command = await buildClientGo(keeper);
    const logFile = join(keeper.dir, 'program.log');
    const env = { ...process.env, KUBECONFIG: kubeconfig };
    const { exited } = await keeper.start({ name: 'client-go', command, args: [], env, logFile });
    const { code } = await exited;
    const said = await readFile(logFile, 'utf8');
    expect([code, said.trim().split('\n').at(-1)], said).toEqual([
      0,
      'informers have synced and reported changes; two leaders have led',
    ]);
  } finally {
    await keeper.end();
  }
  expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
  // Where it was never built, that comes first.
}, 600_000);
