import { fileURLToPath } from 'node:url';
import { build } from 'vite';
import { installPrograms } from '../../../tools/install-programs.mjs';

const chromium = '/usr/bin/chromium';

/** Builds the page, and installs Debian's Chromium if there is none. `CHROMIUM` names another one. */
export async function setup(): Promise<void> {
  const browser = process.env.CHROMIUM ?? chromium;
  installPrograms({ [browser]: ['chromium', 'fonts-dejavu-core'] });
  process.env.CHROMIUM = browser;
  await build({ logLevel: 'warn', configFile: fileURLToPath(new URL('../vite.config.ts', import.meta.url)) });
}
