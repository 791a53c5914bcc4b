import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, realpathSync, symlinkSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const bench = fileURLToPath(new URL('..', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));

function npm(args, cwd) {
  const { status, stdout, stderr } = spawnSync('npm', args, {
    cwd,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  if (status !== 0) throw new Error(`npm ${args.join(' ')} failed in ${cwd}:\n${stdout}\n${stderr}`);
  return stdout.trim();
}

/** Path of a newer Node than this one, from the npm registry: client-node 2 does not run on Node 20. */
export function newerNode(major) {
  return execFileSync('npx', ['-y', `node@${major}`, '-p', 'process.execPath'], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  }).trim();
}

/** Installs what a lock file below `bench` names, unless `name` is there. */
export function installLocked(folder, name) {
  if (!existsSync(join(folder, 'node_modules', name))) npm(['ci', '--no-audit', '--no-fund'], folder);
}

/** A folder with `node_modules/@kubernetes/client-node` and `subjects`. */
export function installClientNode(folder) {
  const peer = join(bench, 'subjects/client-node');
  installLocked(peer, '@kubernetes/client-node');
  const home = newHome(folder, 'client-node');
  symlinkSync(join(peer, 'node_modules'), join(home, 'node_modules'));
  return home;
}

/** Builds and packs riata and the embedded API server. Gives the tarballs. */
export function packRiata(folder, { build = true } = {}) {
  if (build) npm(['run', 'build'], root);
  const pack = (name) => {
    const [{ filename }] = JSON.parse(
      npm(['pack', '--json', '--pack-destination', folder], join(root, 'packages', name)),
    );
    return join(folder, filename);
  };
  return { riata: pack('riata'), apiserver: pack('apiserver') };
}

/** Packs the command and what it needs besides {@link packRiata}, which is built by then. */
export function packCommand(folder) {
  return ['sandbox', 'create-riata', 'dashboard', 'cli'].map((name) => {
    const from = join(root, 'packages', name);
    const [{ filename }] = JSON.parse(npm(['pack', '--json', '--pack-destination', folder], from));
    return join(folder, filename);
  });
}

/** Installs tarballs as users do, alone in a folder of their own, beside `subjects`. Gives the folder. */
export function installPacked(folder, name, tarballs) {
  const home = newHome(folder, name);
  npm(['install', '--no-audit', '--no-fund', ...tarballs], home);
  return home;
}

function newHome(folder, name) {
  const home = join(folder, name);
  mkdirSync(home);
  writeFileSync(join(home, 'package.json'), '{ "private": true, "type": "module" }\n');
  // What runs there takes what it needs from there.
  for (const part of ['subjects', 'lib']) {
    cpSync(join(bench, part), join(home, part), {
      recursive: true,
      filter: (path) => basename(path) !== 'node_modules',
    });
  }
  return home;
}

/** Space that `node_modules` takes on disk, in MB (as `du` counts), and how many packages are in it. */
export function installedSize(home) {
  const modules = realpathSync(join(home, 'node_modules'));
  const kilobytes = Number(execFileSync('du', ['-sk', modules], { encoding: 'utf8' }).split('\t')[0]);
  const names = readdirSync(modules, { recursive: true }).filter((path) =>
    /(^|node_modules\/)(@[^/]+\/)?[^/@.][^/]*\/package\.json$/.test(path),
  );
  return { megabytes: kilobytes / 1024, packages: names.length };
}
