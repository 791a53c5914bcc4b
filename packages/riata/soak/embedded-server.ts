import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { loadConfig, type RestConfig } from 'riata/rest';

/** The embedded API server in a process of its own, over HTTPS: what it keeps does not count as ours. */
export async function startEmbeddedServer(): Promise<{ readonly config: RestConfig } & AsyncDisposable> {
  const root = fileURLToPath(new URL('../../../', import.meta.url));
  const dir = await mkdtemp(join(tmpdir(), 'riata-soak-'));
  const path = join(dir, 'kubeconfig');
  const program =
    process.env.RIATA_PACKED === 'true'
      ? ['node_modules/@riata/apiserver/dist/bin.js']
      : ['tools/run-ts.mjs', 'packages/apiserver/src/bin.ts'];
  const args = ['--port', '0', '--kubeconfig', path];
  const child = spawn(process.execPath, [...program, ...args], { cwd: root, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = once(child, 'exit');
  const stop = async () => {
    child.kill('SIGTERM');
    await exited;
    await rm(dir, { recursive: true });
  };
  try {
    const ready = once(child.stdout, 'data');
    const gone = exited.then(([code]) => Promise.reject(new Error(`the server ended at its start, exit code ${code}`)));
    await Promise.race([ready, gone]);
    gone.catch(() => {});
    return { config: await loadConfig({ path }), [Symbol.asyncDispose]: stop };
  } catch (error) {
    await stop();
    throw error;
  }
}
