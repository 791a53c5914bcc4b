import { execFileSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const subjects = fileURLToPath(new URL('../subjects', import.meta.url));
/** Builds are kept, outside of the repository. */
const cache = join(process.env.XDG_CACHE_HOME ?? join(homedir(), '.cache'), 'riata', 'bench');

function has(tool, flag) {
  try {
    execFileSync(tool, [flag], { stdio: 'ignore' });
    return true;
  } catch {
    return false;
  }
}

/** Builds what go.mod and go.sum pin. Gives the folder with `informer` and `encode`, or undefined if there is no Go. */
export function buildClientGo(log) {
  if (!has('go', 'version')) {
    log('no Go here: client-go is left out');
    return undefined;
  }
  const folder = join(cache, 'client-go');
  mkdirSync(folder, { recursive: true });
  log('building client-go (minutes, the first time)');
  execFileSync('go', ['build', '-mod=readonly', '-o', `${folder}/`, './...'], {
    cwd: join(subjects, 'client-go'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  return folder;
}

/** Builds what Cargo.lock pins. Gives `informer` or `operator`, or undefined if there is no Rust. */
export function buildKubeRs(log, name = 'informer') {
  if (!has('cargo', '--version')) {
    log('no Rust here: kube-rs is left out');
    return undefined;
  }
  const folder = join(cache, 'kube-rs');
  log('building kube-rs (minutes, the first time)');
  execFileSync('cargo', ['build', '--release', '--locked', '--quiet', '--target-dir', folder], {
    cwd: join(subjects, 'kube-rs'),
    stdio: ['ignore', 'ignore', 'inherit'],
  });
  const program = join(folder, 'release', name);
  if (!existsSync(program)) throw new Error(`cargo has built no ${program}`);
  return program;
}
