// @ts-check
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, readdir, readFile, rename } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { cacheFolder } from '../control-plane/build.mjs';
import { tailOf } from '../control-plane/log-tail.mjs';

export const moduleName = 'sigs.k8s.io/controller-runtime@v0.25.2';
const goModule = fileURLToPath(new URL('../control-plane', import.meta.url));

/**
 * The tests of a package as a program, and the folder that they are to run in.
 *
 * @param {import('../control-plane/keeper.mjs').Keeper} keeper @param {string} name
 */
export async function buildSuite(keeper, name) {
  const source = await sourceFolder();
  const binary = join(keeper.dir, `${name}.test`);
  await go(keeper, source, ['test', '-c', '-vet=off', '-o', binary, `./pkg/${name}`]);
  return { binary, dir: join(source, 'pkg', name) };
}

/**
 * The client-go program. It is built once for what its source and the versions are.
 *
 * @param {import('../control-plane/keeper.mjs').Keeper} keeper
 */
export async function buildClientGo(keeper) {
  const { root, key } = cacheFolder();
  const source = await readFile(new URL('client-go/main.go', import.meta.url));
  const hash = createHash('sha256').update(key).update(source).digest('hex').slice(0, 16);
  const binary = join(dirname(root), 'go-suites', `client-go-${hash}`);
  if (existsSync(binary)) return binary;
  const partial = `${binary}.partial-${process.pid}`;
  await mkdir(dirname(binary), { recursive: true });
  await go(keeper, goModule, ['build', '-trimpath', '-o', partial, '../go-suites/client-go/main.go']);
  await rename(partial, binary);
  return binary;
}

/**
 * @param {import('../control-plane/keeper.mjs').Keeper} keeper @param {string} cwd @param {string[]} args
 */
async function go(keeper, cwd, args) {
  const logFile = join(keeper.dir, 'go.log');
  const env = { ...process.env, CGO_ENABLED: '0', GOWORK: 'off', GOTMPDIR: keeper.dir };
  const { exited } = await keeper.start({ name: 'go', command: 'go', args, cwd, env, logFile });
  const { code } = await exited;
  if (code !== 0) throw new Error(`go ${args[0]} failed\n${tailOf(logFile)}`);
}

/** The module outside of Go's own folder, which is read-only: its tests write beside themselves. */
async function sourceFolder() {
  const { root } = cacheFolder();
  const to = join(dirname(root), 'go-suites', moduleName.replaceAll('/', '_'));
  if (existsSync(to)) return to;
  const reported = execFileSync('go', ['mod', 'download', '-json', moduleName], { cwd: '/', encoding: 'utf8' });
  const partial = `${to}.partial-${process.pid}`;
  await mkdir(dirname(to), { recursive: true });
  await cp(JSON.parse(reported).Dir, partial, { recursive: true });
  await chmod(partial, 0o755);
  for (const path of await readdir(partial, { recursive: true })) await chmod(join(partial, path), 0o755);
  await rename(partial, to);
  return to;
}
