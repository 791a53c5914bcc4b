// @ts-check
import { execFileSync, spawnSync } from 'node:child_process';

/**
 * Installs Debian's packages of programs that tests run and that this machine does not have.
 * @param {Record<string, string[]>} programs the packages of each, by its name or path
 */
export function installPrograms(programs) {
  const missing = Object.keys(programs).filter((name) => spawnSync(name, ['--version'], { stdio: 'ignore' }).error);
  if (missing.length === 0) return;
  /** @param {string[]} args */
  const run = (...args) => execFileSync('apt-get', args, { stdio: ['ignore', 'ignore', 'inherit'] });
  try {
    run('update', '-qq');
    run('install', '-qq', '-y', '--no-install-recommends', ...missing.flatMap((name) => programs[name] ?? []));
  } catch (cause) {
    throw new Error(`tests need ${missing.join(' and ')}, and apt-get cannot install it`, { cause });
  }
}
