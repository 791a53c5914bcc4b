import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** Builds what go.mod and go.sum pin, outside of the repository. Gives the program, or undefined if there is no Go. */
export const buildControllerRuntime = (log) => buildGo('controller-runtime', 'operator', log);

/** The same for the program of any folder in `subjects`. */
export function buildGo(subject, program, log) {
  const cwd = fileURLToPath(new URL(`../subjects/${subject}`, import.meta.url));
  const cache = process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache');
  const folder = join(cache, 'riata', 'bench', subject);
  try {
    execFileSync('go', ['version'], { stdio: 'ignore' });
  } catch {
    log(`no Go here: ${subject} is left out`);
    return undefined;
  }
  mkdirSync(folder, { recursive: true });
  log(`building ${subject} (minutes, the first time)`);
  execFileSync('go', ['build', '-mod=readonly', '-o', `${folder}/`, './...'], {
    cwd,
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return join(folder, program);
}
