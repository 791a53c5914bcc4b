import { type ChildProcess, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createConnection } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { adminKubeconfig } from '@riata/apiserver';
import { type ContainerIo, Sandbox } from '@riata/sandbox';
import { Pod } from 'riata/kinds';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';

const run = promisify(execFile);
const pod = { namespace: 'default', name: 'web' };
let folder = '';
let sandbox: Sandbox;
const children: ChildProcess[] = [];

/** Runs a command of the test machine, in a folder that stands for the root of the container. */
async function runHere(command: readonly string[], io: ContainerIo): Promise<number> {
  const [program = '', ...args] = command;
  const child = spawn(program, args, { cwd: join(folder, 'root') });
  const reading = (async () => {
    for await (const bytes of io.stdin) child.stdin.write(bytes);
    child.stdin.end();
  })();
  const writing = [child.stdout, child.stderr].map(async (output, index) => {
    for await (const bytes of output) await (index === 0 ? io.stdout(bytes) : io.stderr(bytes));
  });
  const [code] = (await once(child, 'close')) as [number];
  await Promise.all(writing);
  await Promise.race([reading.catch(() => {}), Promise.resolve()]);
  return code;
}

const args = (...own: readonly string[]) => ['--kubeconfig', join(folder, 'config'), '--cache-dir', folder, ...own];
const kubectl = async (...own: readonly string[]) =>
  await run(controlPlaneFromEnv().kubectlPath, args(...own), { timeout: 100_000, cwd: folder });

function start(...own: readonly string[]): ChildProcess & { text: string } {
  const child = Object.assign(spawn(controlPlaneFromEnv().kubectlPath, args(...own)), { text: '' });
  for (const output of [child.stdout, child.stderr]) {
    output.on('data', (bytes) => {
      child.text += bytes;
    });
  }
  children.push(child);
  return child;
}

/** Waits for something to be shown. */
const seen = <T>(what: string, probe: () => T | Promise<T>): Promise<NonNullable<T>> =>
  vi.waitFor(
    async () => {
      const found = await probe();
      if (!found) throw new Error(`${what}: not yet`);
      return found;
    },
    { timeout: 100_000, interval: 50 },
  );

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-kubectl-'));
  await mkdir(join(folder, 'root'));
  sandbox = await Sandbox.start({
    nodes: 1,
    exec: (_pod, command, io) => runHere(command, io),
    http: (_pod, port, { method, url }) => {
      const { pathname, search } = new URL(url);
      return new Response(`${port} ${method} ${pathname}${search}`);
    },
    connect: async (_pod, port, connection) => {
      for await (const bytes of connection.input) await connection.write(`${port}: ${Buffer.from(bytes)}`);
    },
  });
  const { url, ca } = await sandbox.listen({ port: 0 });
  await writeFile(join(folder, 'config'), adminKubeconfig({ url, token: sandbox.server.token, ca }), { mode: 0o600 });
  await sandbox.client.create(Pod({ metadata: pod, spec: { containers: [{ name: 'main', image: 'web' }] } }));
  await kubectl('wait', '--for=condition=Ready', 'pod/web');
});
afterAll(async () => {
  for (const child of children) child.kill('SIGKILL');
  await sandbox?.stop();
  await rm(folder, { recursive: true, force: true });
});

test('exec: output, input, exit codes', async () => {
  expect((await kubectl('exec', 'web', '--', 'echo', 'hello')).stdout).toBe('hello\n');
  await expect(kubectl('exec', 'web', '--', 'sh', '-c', 'echo no >&2; exit 7')).rejects.toMatchObject({
    code: 7,
    stderr: expect.stringContaining('no\n'),
  });
  const child = start('exec', '-i', 'web', '--', 'wc', '-c');
  child.stdin?.end('x'.repeat(200_000));
  await once(child, 'close');
  expect(child.text.trim()).toBe('200000');
});

test('cp: into the container and back', async () => {
  const bytes = Buffer.from(Array.from({ length: 300_000 }, (_, n) => (n * 7919) >> 3));
  await writeFile(join(folder, 'there'), bytes);
  await kubectl('cp', 'there', 'web:copied');
  expect(bytes.equals(await readFile(join(folder, 'root', 'copied')))).toBe(true);
  await kubectl('cp', 'web:copied', 'back');
  expect(bytes.equals(await readFile(join(folder, 'back')))).toBe(true);
});

test('port-forward: several connections', async () => {
  const child = start('port-forward', 'pod/web', ':7000');
  const port = await seen('kubectl listens', () => Number(/127\.0\.0\.1:(\d+) -> 7000/.exec(child.text)?.[1]));
  for (const word of ['one', 'two']) {
    const socket = createConnection(port, '127.0.0.1');
    socket.write(word);
    const [answer] = await once(socket, 'data');
    expect(String(answer)).toBe(`7000: ${word}`);
    socket.destroy();
  }
});

test('logs -f and attach show what is written', async () => {
  await sandbox.writeLog(pod, 'one');
  const followed = start('logs', '-f', 'web');
  const attached = start('attach', 'web');
  await seen('the first line', () => followed.text.includes('one'));
  await seen('the second line', async () => {
    await sandbox.writeLog(pod, 'two');
    return followed.text.includes('two') && attached.text.includes('two');
  });
  expect(followed.text.startsWith('one\ntwo\n')).toBe(true);
  expect((await kubectl('logs', 'web', '--tail=1')).stdout).toBe('two\n');
});

test('get --raw: through the proxies of a Pod and a Node', async () => {
  const path = (rest: string) => `/api/v1/namespaces/default/pods/web:8080/proxy/${rest}`;
  expect((await kubectl('get', '--raw', path('a?b=c'))).stdout).toBe('8080 GET /a?b=c');
  expect((await kubectl('get', '--raw', '/api/v1/nodes/sandbox-1/proxy/healthz')).stdout).toBe('ok');
});

test('debug: adds a container and attaches to it', async () => {
  const child = start('debug', '-i', 'web', '--image=busybox', '--container=tools', '--', 'sh');
  await seen('kubectl is attached', async () => {
    await sandbox.writeLog(pod, 'from the tools', 'tools');
    return child.text.includes('from the tools');
  });
  const { spec } = await sandbox.client.get(Pod, pod);
  expect(spec.ephemeralContainers).toMatchObject([{ name: 'tools', image: 'busybox', command: ['sh'] }]);
});
