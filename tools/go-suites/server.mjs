// @ts-check
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../..', import.meta.url));

/**
 * A fresh embedded API server, in a process of its own.
 *
 * @param {import('../control-plane/keeper.mjs').Keeper} keeper @param {string} name
 */
export async function startServer(keeper, name) {
  const kubeconfig = join(keeper.dir, `${name}.kubeconfig`);
  const logFile = join(keeper.dir, `${name}.server.log`);
  const program = ['tools/run-ts.mjs', 'packages/apiserver/src/bin.ts'];
  // As envtest: nobody creates the accounts that the plugin requires.
  const asEnvtest = ['--no-controllers', '--disable-admission-plugins', 'ServiceAccount'];
  const args = [...program, ...asEnvtest, '--port', '0', '--kubeconfig', kubeconfig];
  const server = await keeper.start({ name: 'riata-apiserver', command: process.execPath, args, cwd: root, logFile });
  const log = () => (existsSync(logFile) ? readFileSync(logFile, 'utf8') : '');
  let ended = false;
  void server.exited.then(() => {
    ended = true;
  });
  while (!log().includes('is ready at')) {
    if (ended) throw new Error(`the embedded API server has ended\n${log()}`);
    await sleep(50);
  }
  return {
    kubeconfig,
    /** Resolves when it has ended: only then can the next one be started. */
    async stop() {
      if (!ended) process.kill(server.pid, 'SIGTERM');
      await server.exited;
    },
  };
}
