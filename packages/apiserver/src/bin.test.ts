import { Buffer } from 'node:buffer';
import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { request } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-apiserver-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

function start(...args: readonly string[]): ChildProcess {
  return spawn(process.execPath, ['tools/run-ts.mjs', 'packages/apiserver/src/bin.ts', ...args], { cwd: root });
}

/** What it wrote, and how it ended. */
async function finish(child: ChildProcess): Promise<{ code: number | null; out: string; err: string }> {
  let out = '';
  let err = '';
  child.stdout?.on('data', (part) => {
    out += String(part);
  });
  child.stderr?.on('data', (part) => {
    err += String(part);
  });
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  return { code, out, err };
}

// A process is started and compiled for each, which takes its time on a busy machine.
describe('riata-apiserver', { timeout: 120_000 }, () => {
  test('prints its address, writes a kubeconfig, and stops on a signal', async () => {
    const kubeconfig = join(folder, 'kubeconfig');
    const child = start('--port', '0', '--token', 'mine', '--kubeconfig', kubeconfig);
    const line = new Promise<string>((resolve) => child.stdout?.once('data', (part) => resolve(String(part))));
    const ended = finish(child);
    const [, url = ''] = /^riata-apiserver is ready at (https:\/\/127\.0\.0\.1:\d+)\n$/.exec(await line) ?? [];
    const config = JSON.parse(await readFile(kubeconfig, 'utf8'));
    const { server, 'certificate-authority-data': authority } = config.clusters[0].cluster;
    expect(server).toBe(url);
    expect(config.users[0].user).toEqual({ token: 'mine' });
    expect((await stat(kubeconfig)).mode & 0o777).toBe(0o600);
    // The kubeconfig is all that is needed to trust the server and to be trusted by it.
    const ask = (headers: Record<string, string>) =>
      new Promise<{ code: number | undefined; body: unknown }>((resolve, reject) => {
        const options = { ca: Buffer.from(authority, 'base64'), headers, agent: false };
        const sent = request(`${url}/api/v1/namespaces/default`, options, async (answer) => {
          let text = '';
          for await (const part of answer) text += String(part);
          resolve({ code: answer.statusCode, body: JSON.parse(text) });
        });
        sent.on('error', reject).end();
      });
    expect(await ask({ authorization: 'Bearer mine' })).toMatchObject({
      code: 200,
      body: { kind: 'Namespace', metadata: { name: 'default' } },
    });
    expect(await ask({})).toMatchObject({ code: 403, body: { kind: 'Status', reason: 'Forbidden' } });
    expect(await ask({ authorization: 'Bearer other' })).toMatchObject({ code: 401, body: { reason: 'Unauthorized' } });
    child.kill('SIGTERM');
    expect(await ended).toMatchObject({ code: 0, err: '' });
  });

  test.each(['SIGTERM', 'SIGKILL'] as const)('ends with the npm that started it, also by %s', async (signal) => {
    const npm = spawn('npm', ['run', '--silent', 'apiserver', '--', '--port', '0'], { cwd: root });
    // Its outputs are open for as long as there is a process that holds them.
    const ended = finish(npm);
    await new Promise((resolve) => npm.stdout?.once('data', resolve));
    npm.kill(signal);
    expect((await ended).out).toMatch(/^riata-apiserver is ready at /);
  });

  test('refuses what it does not know, and says how it is used', async () => {
    const { code, out, err } = await finish(start('--nope'));
    expect([code, out]).toEqual([2, '']);
    expect(err).toContain('--nope');
    expect(err).toContain('Usage: riata-apiserver');
  });

  test('says what is in the way', async () => {
    const { code, err } = await finish(start('--host', '127.0.0.1', '--port', '1', '--kubeconfig', folder));
    expect([code, err]).toEqual([1, expect.stringMatching(/^riata-apiserver: .*(EACCES|EADDRINUSE|EISDIR)/)]);
  });
});
