// @ts-check
// Programs of the Go world that tests run, built from the modules that go.mod and go.sum pin.

import { spawn, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { homedir } from 'node:os';
import { isAbsolute, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { withFileLock } from '../control-plane/file-lock.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));

/**
 * The package of each program, and what its version depends on: a module in go.mod, or files of this folder too.
 * @type {Record<string, { package: string, module: string, files?: string[] }>}
 */
const tools = {
  registry: {
    package: 'github.com/distribution/distribution/v3/cmd/registry',
    module: 'github.com/distribution/distribution/v3',
  },
  crane: {
    package: 'github.com/google/go-containerregistry/cmd/crane',
    module: 'github.com/google/go-containerregistry',
  },
  helm: { package: 'helm.sh/helm/v4/cmd/helm', module: 'helm.sh/helm/v4' },
  'bundle-check': {
    package: './bundle-check',
    module: 'github.com/operator-framework/api',
    files: ['bundle-check/main.go'],
  },
  'oci-check': { package: './oci-check', module: 'github.com/opencontainers/image-spec', files: ['oci-check/main.go'] },
};

/**
 * The path of a program, built first if it is not in the cache folder: up to two minutes the first time. Any number of
 * processes may call this at once. Undefined where there is no Go.
 * @param {keyof typeof tools} name
 * @param {NodeJS.ProcessEnv} [env]
 * @returns {Promise<string | undefined>}
 */
export async function goTool(name, env = process.env) {
  const tool = tools[name];
  if (tool === undefined) throw new Error(`no Go tool "${name}"; add it to tools/go-tools/go-tool.mjs`);
  const root = cacheFolder(env);
  const path = join(root, `${name}-${versionOf(tool)}-${process.platform}-${process.arch}`);
  if (existsSync(path)) return path;
  if (spawnSync('go', ['version'], { env, cwd: here }).status !== 0) return undefined;
  await mkdir(root, { recursive: true });
  await withFileLock(`${path}.lock`, {}, async () => {
    if (existsSync(path)) return;
    const partial = `${path}.partial-${process.pid}`;
    await build(tool.package, partial, env);
    await rename(partial, path);
  });
  return path;
}

/** @param {NodeJS.ProcessEnv} env */
function cacheFolder(env) {
  const xdg = env.XDG_CACHE_HOME;
  // A relative XDG_CACHE_HOME counts as unset: so the XDG specification.
  const caches = xdg && isAbsolute(xdg) ? xdg : join(env.HOME || homedir(), '.cache');
  return join(caches, 'riata', 'go-tools');
}

/** @param {{ module: string, files?: string[] }} tool */
function versionOf({ module, files = [] }) {
  const line = readFileSync(join(here, 'go.mod'), 'utf8')
    .split('\n')
    .find((text) =>
      text
        .replace(/^require /, '')
        .trim()
        .startsWith(`${module} v`),
    );
  const version = line
    ?.trim()
    .replace(/^require /, '')
    .split(' ')[1];
  if (version === undefined) throw new Error(`${join(here, 'go.mod')} requires no ${module}`);
  if (files.length === 0) return version;
  const hash = createHash('sha256');
  for (const file of files) hash.update(readFileSync(join(here, file)));
  return `${version}-${hash.digest('hex').slice(0, 12)}`;
}

/** @param {string} goPackage @param {string} output @param {NodeJS.ProcessEnv} env */
async function build(goPackage, output, env) {
  const args = ['build', '-trimpath', '-buildvcs=false', '-mod=readonly', '-ldflags', '-s -w', '-o', output, goPackage];
  const go = spawn('go', args, {
    cwd: here,
    // No C compiler, no workspace of the user's, no other platform than this one.
    env: { ...env, CGO_ENABLED: '0', GOWORK: 'off', GOOS: '', GOARCH: '' },
    stdio: ['ignore', 'ignore', 'pipe'],
  });
  let report = '';
  go.stderr.on('data', (piece) => {
    report = (report + piece).slice(-4_000);
  });
  const [code] = await new Promise((resolve, reject) => {
    go.once('error', reject);
    go.once('close', (...how) => resolve(how));
  });
  if (code !== 0) throw new Error(`building ${goPackage} failed (go build: exit code ${code})\n${report}`);
}
