import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Builds what go.mod and go.sum pin, outside of the repository. Gives the program, or undefined if there is no Go. */
export function buildControllerRuntime(log) {
  const cwd = fileURLToPath(new URL('../subjects/controller-runtime', import.meta.url));
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'riata', 'bench', 'controller-runtime');
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    log('no Go here: controller-runtime is left out');
    return undefined;
  }
  mkdirSync(folder, { recursive: true });
  log('building controller-runtime (minutes, the first time)');
  execFileSync('go', ['build', '-mod=readonly', '-o', `${folder}/`, './...'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(folder, 'operator');
}
