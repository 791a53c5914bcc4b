import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { build } from 'vite';

const chromium = '/usr/bin/chromium';

/** Builds the page, and installs Debian's Chromium if there is none. `CHROMIUM` names another one. */
export async function setup(): Promise<void> {
  const browser = process.env.CHROMIUM ?? chromium;
  if (!existsSync(browser)) {
    const run = (...args: string[]) => execFileSync('apt-get', args, { stdio: 'inherit' });
    try {
      run('update', '-qq');
      run('install', '-qq', '-y', '--no-install-recommends', 'chromium', 'fonts-dejavu-core');
    } catch (cause) {
      throw new Error(`no browser at ${browser}, and apt-get cannot install one; set CHROMIUM`, { cause });
    }
  }
  process.env.CHROMIUM = browser;
  await build({ logLevel: 'warn', configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)) });
}
