// @ts-check
// Finds the binaries of the control plane, or builds them from the Go modules that go.mod and go.sum pin.

import { spawnSync } from 'node:child_process';
import { accessSync, constants, readFileSync, statSync } from 'node:fs';
import { mkdir, readdir, rename, rm, stat, writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, isAbsolute, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from './file-lock.mjs';
import { startKeeper } from './keeper.mjs';
import { tailOf } from './log-tail.mjs';

/**
 * Absolute paths.
 * @typedef {object} Binaries
 * @property {string} etcd
 * @property {string} kubeApiserver
 * @property {string} kubectl
 * @property {string | undefined} kubeControllerManager Only KUBEBUILDER_ASSETS can lack it.
 *
 * @typedef {object} BuildOptions
 * @property {NodeJS.ProcessEnv} [env] Where PATH, XDG_CACHE_HOME and KUBEBUILDER_ASSETS are read. Default process.env.
 * @property {(line: string) => void} [log] Told about a build, which takes minutes. Default: standard error.
 */

const here = fileURLToPath(new URL('.', import.meta.url));

/** The package of each binary; etcd first, so that a network without modules is noticed early. */
const packages = {
  etcd: 'go.etcd.io/etcd/server/v3',
  kubectl: 'k8s.io/kubernetes/cmd/kubectl',
  'kube-apiserver': 'k8s.io/kubernetes/cmd/kube-apiserver',
  'kube-controller-manager': 'k8s.io/kubernetes/cmd/kube-controller-manager',
};
const names = /** @type {(keyof typeof packages)[]} */ (Object.keys(packages));
const stampFile = 'complete.json';

/**
 * The binaries in KUBEBUILDER_ASSETS if that is set, else those in the cache folder, built first if they are not there.
 * Any number of processes may call this at once.
 * @param {BuildOptions} [options]
 * @returns {Promise<Binaries>}
 */
export async function ensureBinaries({ env = process.env, log = console.error } = {}) {
  if (env.KUBEBUILDER_ASSETS) return assetsIn(resolve(env.KUBEBUILDER_ASSETS));
  const { root, key } = cacheFolder(env);
  const dir = join(root, key);
  if (!(await isComplete(dir))) {
    requireGo(env);
    await mkdir(root, { recursive: true });
    const onWait = () => log(`control plane: waiting for another build into ${dir}`);
    await withFileLock(join(root, `${key}.lock`), { onWait }, async () => {
      if (!(await isComplete(dir))) await build(dir, env, log);
    });
  }
  return binariesIn(dir);
}

/**
 * Where the built binaries live; the key changes with the pinned versions, so that old ones are never taken for new.
 * @param {NodeJS.ProcessEnv} [env]
 */
export function cacheFolder(env = process.env) {
  const xdg = env.XDG_CACHE_HOME;
  // A relative XDG_CACHE_HOME counts as unset: so the XDG specification.
  const caches = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.cache');
  const { kubernetes, etcd } = pinnedVersions();
  const key = `kubernetes-${kubernetes}-etcd-${etcd}-${process.platform}-${process.arch}`;
  return { root: join(caches, 'riata', 'control-plane'), key };
}

/** The versions that go.mod asks for, e.g. `v1.36.3`. */
export function pinnedVersions() {
  const goMod = readFileSync(join(here, 'go.mod'), 'utf8');
  /** @param {string} module */
  const versionOf = (module) => {
    const line = goMod.split('\n').find((text) => text.startsWith(`\t${module} v`));
    if (!line) throw new Error(`${join(here, 'go.mod')} requires no ${module}`);
    return line.trim().split(' ')[1] ?? '';
  };
  return { kubernetes: versionOf('k8s.io/kubernetes'), etcd: versionOf('go.etcd.io/etcd/server/v3') };
}

/** @param {string} dir @param {NodeJS.ProcessEnv} env @param {(line: string) => void} log */
async function build(dir, env, log) {
  const keeper = await startKeeper(); // go and its compilers end with this process too
  const started = Date.now();
  try {
    const partial = `${dir}.partial-${process.pid}`;
    await keeper.removeAtEnd(partial);
    await mkdir(partial, { recursive: true });
    /** @type {Record<string, number>} */
    const sizes = {};
    for (const [index, name] of names.entries()) {
      log(`control plane: building ${name} (${index + 1} of ${names.length}; minutes the first time) …`);
      const logFile = join(keeper.dir, `${name}.log`);
      const args = ['build', ...buildFlags(), '-o', join(partial, name), packages[name]];
      const go = await keeper.start({ name, command: 'go', args, env: goEnv(env, keeper.dir), cwd: here, logFile });
      const { code, signal } = await go.exited;
      if (code !== 0) {
        throw new Error(`building ${name} failed (go build: ${signal ?? `exit code ${code}`})\n${tailOf(logFile)}`);
      }
      sizes[name] = (await stat(join(partial, name))).size;
    }
    await writeFile(join(partial, stampFile), `${JSON.stringify(sizes, null, 2)}\n`);
    await install(partial, dir);
  } finally {
    await keeper.end();
  }
  log(`control plane: built into ${dir} in ${Math.round((Date.now() - started) / 1000)} s`);
}

/**
 * In one step, so that nobody ever sees half of it. What an interrupted build left of old is removed with it.
 * @param {string} partial @param {string} dir
 */
async function install(partial, dir) {
  if (await isComplete(dir)) return;
  await rm(dir, { recursive: true, force: true });
  await rename(partial, dir);
  const leftOver = (await readdir(dirname(dir))).filter((name) => name.startsWith(`${basename(dir)}.partial-`));
  for (const name of leftOver) await rm(join(dirname(dir), name), { recursive: true, force: true });
}

function buildFlags() {
  const { kubernetes } = pinnedVersions();
  const [, major, minor] = /^v(\d+)\.(\d+)/.exec(kubernetes) ?? [];
  const version = 'k8s.io/component-base/version';
  // Without these, /version says v0.0.0-master and kubectl refuses to work.
  const values = { gitVersion: kubernetes, gitMajor: major, gitMinor: minor };
  const sets = Object.entries(values).map(([name, value]) => `-X ${version}.${name}=${value}`);
  return ['-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', ['-s -w', ...sets].join(' ')];
}

/**
 * No C compiler, no workspace of the user's, no other platform than this one; scratch files where they get removed.
 * @param {NodeJS.ProcessEnv} env @param {string} scratch
 */
function goEnv(env, scratch) {
  return { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: '', GOARCH: '', GOTMPDIR: scratch };
}

/** @param {NodeJS.ProcessEnv} env */
function requireGo(env) {
  if (spawnSync('go', ['version'], { env, cwd: here }).status === 0) return;
  const goMod = readFileSync(join(here, 'go.mod'), 'utf8');
  const expected = /^go (\d+\.\d+)/m.exec(goMod)?.[1];
  throw new Error(
    `The real control plane needs either Go ${expected} or newer on the PATH, to build it once, or KUBEBUILDER_ASSETS ` +
      'set to a folder that holds the programs etcd, kube-apiserver and kubectl.',
  );
}

/**
 * Complete is what the stamp names, in the size it names: the stamp is written last, and a disk that lost the end of a
 * file in a crash shows in its size.
 * @param {string} dir
 */
async function isComplete(dir) {
  try {
    const sizes = JSON.parse(readFileSync(join(dir, stampFile), 'utf8'));
    return names.every((name) => statSync(join(dir, name)).size === sizes[name]);
  } catch {
    return false;
  }
}

/** @param {string} dir @returns {Binaries} */
function assetsIn(dir) {
  const missing = ['etcd', 'kube-apiserver', 'kubectl'].filter((name) => !isExecutable(join(dir, name)));
  if (missing.length > 0) {
    throw new Error(`KUBEBUILDER_ASSETS is "${dir}", but there is no program ${missing.join(', no ')} in it.`);
  }
  return binariesIn(dir);
}

/** @param {string} dir @returns {Binaries} */
function binariesIn(dir) {
  const controllerManager = join(dir, 'kube-controller-manager');
  return {
    etcd: join(dir, 'etcd'),
    kubeApiserver: join(dir, 'kube-apiserver'),
    kubectl: join(dir, 'kubectl'),
    kubeControllerManager: isExecutable(controllerManager) ? controllerManager : undefined,
  };
}

/** @param {string} path */
function isExecutable(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}
