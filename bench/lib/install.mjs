import { execFileSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

const npm = (args, cwd) =>
  execFileSync('npm', args, { cwd, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] }).trim();

/** Path of a newer Node than this one, from the npm registry: client-node 2 does not run on Node 20. */
export function newerNode(major) {
  return execFileSync('npx', ['-y', `node@${major}`, '-p', 'process.execPath'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Installs client-node where its lock file is, unless it is there. Gives the folder that holds `subjects`. */
export function installClientNode() {
  if (!existsSync(join(bench, 'node_modules/@kubernetes/client-node'))) npm(['ci', '--prefix', bench], bench);
  return bench;
}

/** Builds and packs riata and installs it as its users do, alone. Gives the folder that holds `subjects`. */
export function installRiata(folder, { build = true } = {}) {
  if (build) npm(['run', 'build'], root);
  const [{ filename }] = JSON.parse(
    npm(['pack', '--json', '--pack-destination', folder], join(root, 'packages/riata')),
  );
  const home = join(folder, 'riata');
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
  npm(['install', '--no-audit', '--no-fund', join(folder, filename)], home);
  cpSync(join(bench, 'subjects'), join(home, 'subjects'), { recursive: true });
  return home;
}

/** Space that `node_modules` takes on disk, in MB (as `du` counts), and how many packages are in it. */
export function installedSize(home) {
  const modules = join(home, 'node_modules');
  const kilobytes = Number(execFileSync('du', ['-sk', modules], { encoding: 'utf8' }).split('\t')[0]);
  const names = readdirSync(modules, { recursive: true }).filter((path) =>
    /(^|node_modules\/)(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path),
  );
  return { megabytes: kilobytes / 1024, packages: names.length };
}

/** As {@link installRiata}, with the embedded API server. */
export function installApiServer(folder, { build = true } = {}) {
  const home = installRiata(folder, { build });
  const [{ filename }] = JSON.parse(
    npm(['pack', '--json', '--pack-destination', folder], join(root, 'packages/apiserver')),
  );
  npm(['install', '--no-audit', '--no-fund', join(folder, filename)], home);
  return home;
}
