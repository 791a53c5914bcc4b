import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { copyFileSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { rolldown } from 'rolldown';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { bundle } from './bundle.mjs';

const root = fileURLToPath(new URL('..', import.meta.url));

/** An operator that makes one mistake for each ConfigMap, by its name, and logs lines of JSON. The server refuses `bad`. */
const program = `
import { control, Manager, signalHandler } from 'riata';
import { createOrUpdate } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { createLogger } from 'riata/runtime';


const bad = () => Secret({ metadata: { namespace: 'default', name: 'Bad_Name' } });
const say = (level, message, fields) => console.log(JSON.stringify({ level, message, ...fields, error: String(fields.error) }));
const mistakes = {
  async awaited({ client }) {
    await client.create(bad(), { fieldManager: 'awaited' });
  },
  async applied({ apply }) {
    await apply(bad(), { fieldManager: 'applied' });
  },
  async helped({ client }) {
    await createOrUpdate(client, Secret, bad().metadata, () => {}, { fieldManager: 'helped' });
  },
  forgotten({ client }) {
    client.create(bad(), { fieldManager: 'forgotten' });
  },
  'forgotten-apply'({ apply }) {
    apply(bad(), { fieldManager: 'forgotten-apply' });
  },
  looped({ client }) {
    ['x'].forEach(async () => {
      await client.create(bad(), { fieldManager: 'looped' });
    });
  },
  chained({ client }) {
    client.create(bad(), { fieldManager: 'chained' }).then(() => {});
  },
  async early({ client, clock }) {
    client.create(bad(), { fieldManager: 'early' });
    await clock.sleep(500);
  },
  thrown() {
    throw new Error('thrown', { fieldManager: 'thrown' });
  },
  'closure-forgotten'() {
    manager.client.create(bad(), { fieldManager: 'closure-forgotten' });
  },
  'closure-looped'() {
    ['x'].forEach(async () => {
      await manager.client.create(bad(), { fieldManager: 'closure-looped' });
    });
  },
  'closure-chained'() {
    manager.connection.create(bad(), { fieldManager: 'closure-chained' }).then(() => {});
  },
  'closure-all'() {
    Promise.all([manager.leaderClient.create(bad(), { fieldManager: 'closure-all' })]);
  },
};
const maps = control(ConfigMap, { name: 'maps', backoff: () => '1h' }).reconcile(async (context) => {
  await mistakes[context.object.metadata.name]?.(context);
});
if (process.env.REJECTED) setTimeout(() => Promise.reject(new Error(process.env.REJECTED)), 500);
const start = async () => {
  manager = await Manager.create({ runtime: { log: createLogger(say, 'info') } });
  manager.add(maps);
  await manager.run({ signal: signalHandler().signal });
  process.exit();
};
let manager;
void start();
`;
const unhandled = 'a call failed, and nothing awaited it or handled its failure';
const names = [...program.matchAll(/fieldManager: '([\w-]+)'/g)].map(([, name = '']) => name);

interface Line {
  readonly message: string;
  readonly level: string;
  readonly key?: string;
  readonly at?: string;
  readonly during?: readonly string[];
  readonly error?: string;
}

let folder = '';
let server: ApiServer;

beforeAll(async () => {
  const cache = join(root, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  folder = mkdtempSync(join(cache, 'operator-process-'));
  const riata = join(folder, 'node_modules/riata');
  await bundle(join(root, 'packages/riata'), join(riata, 'dist'));
  copyFileSync(join(root, 'packages/riata/package.json'), join(riata, 'package.json'));
  writeFileSync(join(folder, 'main.mjs'), program);
  const build = await rolldown({
    input: join(folder, 'main.mjs'),
    platform: 'node',
    // As other bundlers leave it in CommonJS.
    transform: { define: { 'import.meta.url': 'undefined' } },
    external: ['prom-client', 'yaml'],
  });
  await build.write({ file: join(folder, 'main.cjs'), format: 'cjs', sourcemap: true, codeSplitting: false });
  await build.close();
  server = await ApiServer.start();
  const { url, ca } = await server.listen();
  writeFileSync(join(folder, 'kubeconfig'), adminKubeconfig({ url, ca, token: server.token }));
  const client = createClient(server.connect());
  for (const name of names) await client.create(ConfigMap({ metadata: { namespace: 'default', name } }));
  await client.close();
});

afterAll(async () => {
  await server?.stop();
  rmSync(folder, { recursive: true, force: true });
});

/** Starts a program, resolves when every mistake was logged; then ends it in order. */
async function operate(args: readonly string[]): Promise<{ readonly lines: readonly Line[]; readonly code: number }> {
  const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig') };
  const child: ChildProcess = spawn(process.execPath, args, { cwd: folder, env, stdio: ['ignore', 'pipe', 'pipe'] });
  const lines: Line[] = [];
  let errors = '';
  child.stderr?.on('data', (chunk) => {
    errors += String(chunk);
  });
  const exit = once(child, 'exit') as Promise<[number]>;
  const missing = new Set(names);
  try {
    for await (const text of createInterface({ input: child.stdout as NodeJS.ReadableStream })) {
      const line = JSON.parse(text) as Line;
      lines.push(line);
      missing.delete(mistakeOf(line) ?? '');
      if (missing.size === 0) child.kill('SIGTERM');
    }
    const [code] = await exit;
    expect(errors).toBe('');
    expect([...missing]).toEqual([]);
    return { lines, code };
  } finally {
    child.kill('SIGKILL');
  }
}

/** The mistake that a line is about. */
function mistakeOf({ message, key, during }: Line): string | undefined {
  if (message.startsWith('the reconcile failed')) return key?.replace('default/', '');
  return message === unhandled ? during?.join().replace('maps default/', '') : undefined;
}

test('a rejection that has nothing to do with the operator ends the process, as ever', async () => {
  const env = { ...process.env, KUBECONFIG: join(folder, 'kubeconfig'), REJECTED: 'of the program' };
  const child = spawn(process.execPath, ['main.mjs'], { cwd: folder, env, stdio: ['ignore', 'ignore', 'pipe'] });
  let errors = '';
  child.stderr.on('data', (chunk) => {
    errors += String(chunk);
  });
  expect(await once(child, 'close')).toEqual([1, null]);
  expect(errors).toContain('Error: of the program');
});

describe.each([
  ['the package', ['main.mjs'], 'main.mjs'],
  ['the package with source maps', ['--enable-source-maps', 'main.mjs'], 'main.mjs'],
  ['a bundle in CommonJS', ['main.cjs'], 'main.cjs'],
  ['a bundle in CommonJS with source maps', ['--enable-source-maps', 'main.cjs'], 'main.mjs'],
])('an operator on %s', (_, args, file) => {
  test('survives calls that it does not await, and names the line of each failure', async () => {
    const { lines, code } = await operate(args);
    expect(code).toBe(0);
    const text = readFileSync(join(folder, file), 'utf8').split('\n');
    const lineOf = (name: string) =>
      text.findIndex((line) => line.includes(`fieldManager: "${name}"`) || line.includes(`fieldManager: '${name}'`)) +
      1;
    const failed = lines.filter((line) => mistakeOf(line) !== undefined);
    const placed = Object.fromEntries(failed.map((line) => [mistakeOf(line), line.at ?? '']));
    const expected = Object.fromEntries(names.map((name) => [name, `${file}:${lineOf(name)}`]));
    expect(
      Object.fromEntries(Object.entries(placed).map(([name, at]) => [name, /[^/]+:\d+(?=:\d+\)?$)/.exec(at)?.[0]])),
    ).toEqual(expected);
    const reported = lines.filter(({ message }) => message === 'the reconciler returned without awaiting a call');
    expect(reported.map(({ key }) => key?.replace('default/', '')).sort()).toEqual(
      ['chained', 'early', 'forgotten', 'forgotten-apply', 'looped'].sort(),
    );
  });
});
