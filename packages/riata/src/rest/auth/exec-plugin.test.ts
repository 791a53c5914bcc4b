import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { ExecPlugin, type ExecPluginOptions } from './exec-plugin.js';
import { isExecPluginError } from './exec-plugin-error.js';

const v1 = 'client.authentication.k8s.io/v1';
const x509: {
  issueCertificate(options: { commonName: string }): { cert: string; key: string };
} = await import(new URL('../../../../../tools/control-plane/x509.mjs', import.meta.url).href);

let dir: string;
let clock: VirtualClock;

beforeEach(async () => {
  dir = await mkdtemp(join(tmpdir(), 'riata-exec-'));
  clock = new VirtualClock();
});
afterEach(() => rm(dir, { recursive: true }));

/** A plugin that runs `body`, which can use `answer(status)` and `runs`, the number of this run. */
async function plugin(body: string, options: Partial<ExecPluginOptions> = {}) {
  const [script, counter] = [join(dir, 'plugin.mjs'), join(dir, 'runs')];
  await writeFile(
    script,
    `import { appendFileSync, readFileSync } from 'node:fs';
     appendFileSync(${JSON.stringify(counter)}, '.');
     const runs = readFileSync(${JSON.stringify(counter)}).length;
     const answer = (status, apiVersion = '${v1}') =>
       process.stdout.write(JSON.stringify({ kind: 'ExecCredential', apiVersion, status }));
     ${body}`,
  );
  const exec = new ExecPlugin({
    apiVersion: v1,
    command: process.execPath,
    args: [script],
    env: [],
    interactiveMode: 'Never',
    baseEnv: process.env,
    clock,
    timeoutMs: 60_000,
    terminal: false,
    ...options,
  });
  return { exec, runs: async () => (await readFile(counter, 'utf8')).length };
}

const failure = async (exec: ExecPlugin): Promise<string> => {
  const error: unknown = await exec.authorization().then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return isExecPluginError(error) ? error.message : `no ExecPluginError: ${String(error)}`;
};

const turn = () => new Promise((resolve) => setImmediate(resolve));

/** Real time passes until the plugin's timer is set. */
async function started(): Promise<void> {
  while (clock.pending === 0) await turn();
}

/** What a plugin writes to a file, once it is there. */
async function written(file: string): Promise<string> {
  for (;;) {
    const text = await readFile(file, 'utf8').catch(() => '');
    if (text !== '') return text;
    await turn();
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

describe('caching', () => {
  test('one run for all who ask at once, and for those after', async () => {
    const { exec, runs } = await plugin('answer({ token: "t" + runs })');
    expect(await Promise.all([exec.authorization(), exec.authorization(), exec.clientCertificate()])).toEqual([
      'Bearer t1',
      'Bearer t1',
      undefined,
    ]);
    await clock.advance(365 * 24 * 3_600_000);
    expect(await exec.authorization()).toBe('Bearer t1');
    expect(await runs()).toBe(1);
  });

  test('a token is renewed shortly before it expires', async () => {
    const expires = new Date(clock.now() + 600_000).toISOString();
    const { exec } = await plugin(`answer({ token: 't' + runs, expirationTimestamp: '${expires}' })`);
    expect(await exec.authorization()).toBe('Bearer t1');
    await clock.advance(589_999);
    expect(await exec.authorization()).toBe('Bearer t1');
    await clock.advance(1);
    expect(await exec.authorization()).toBe('Bearer t2');
  });

  test('a token that lives for less than the margin is still used for most of its life', async () => {
    const expires = new Date(clock.now() + 5_000).toISOString();
    const { exec, runs } = await plugin(`answer({ token: 't', expirationTimestamp: '${expires}' })`);
    await exec.authorization();
    await clock.advance(4_499);
    await exec.authorization();
    expect(await runs()).toBe(1);
  });

  test('a 401 runs the plugin again, once for all requests that were refused', async () => {
    const { exec, runs } = await plugin('answer({ token: "t" + runs })');
    await exec.authorization();
    const rejected = 'Bearer t1';
    expect(await Promise.all([exec.refresh({ rejected }), exec.refresh({ rejected })])).toEqual([true, true]);
    expect(await exec.refresh({ rejected })).toBe(true);
    expect(await exec.authorization()).toBe('Bearer t2');
    expect(await runs()).toBe(2);
  });

  test('the same token again is not worth another try', async () => {
    const { exec } = await plugin('answer({ token: "same" })');
    await exec.authorization();
    expect(await exec.refresh({ rejected: 'Bearer same' })).toBe(false);
    expect(await exec.refresh()).toBe(false);
  });

  test('a refresh that fails leaves the 401 to the caller and the error to the next request', async () => {
    const { exec } = await plugin('if (runs > 1) process.exit(3); answer({ token: "t" })');
    await exec.authorization();
    expect(await exec.refresh({ rejected: 'Bearer t' })).toBe(false);
    expect(await failure(exec)).toContain('exit code 3');
  });
});

test('a client certificate is the same object until it changes', async () => {
  const [a, b] = [x509.issueCertificate({ commonName: 'a' }), x509.issueCertificate({ commonName: 'b' })];
  const { exec } = await plugin(`
    const [a, b] = ${JSON.stringify([a, b])};
    const { cert, key } = runs < 3 ? a : b;
    answer({ clientCertificateData: cert, clientKeyData: key });`);
  const first = await exec.clientCertificate();
  expect(first).toEqual(a);
  expect(await exec.authorization()).toBeUndefined();
  expect(await exec.refresh()).toBe(false);
  expect(await exec.clientCertificate()).toBe(first);
  expect(await exec.refresh()).toBe(true);
  expect(await exec.clientCertificate()).toEqual(b);
});

describe('what the plugin is given', () => {
  const show = 'answer({ token: Buffer.from(process.env.KUBERNETES_EXEC_INFO).toString("base64url") })';
  const info = async (exec: ExecPlugin): Promise<unknown> =>
    JSON.parse(Buffer.from((await exec.authorization())?.slice('Bearer '.length) ?? '', 'base64url').toString());

  test('the version and whether it may ask, without the cluster unless wanted', async () => {
    const { exec } = await plugin(show);
    expect(await info(exec)).toEqual({ kind: 'ExecCredential', apiVersion: v1, spec: { interactive: false } });
  });

  test('the cluster as it is now', async () => {
    const { exec } = await plugin(show, { cluster: async () => ({ server: 'https://x:1', config: { arn: 7 } }) });
    expect(await info(exec)).toMatchObject({ spec: { cluster: { server: 'https://x:1', config: { arn: 7 } } } });
  });

  test('arguments without a shell, and environment variables over the inherited ones', async () => {
    const script = join(dir, 'plugin.mjs');
    const { exec } = await plugin('answer({ token: [process.argv[2], process.env.A, process.env.B].join("+") })', {
      args: [script, '$HOME;`id`'],
      env: [{ name: 'A', value: 'mine' }],
      baseEnv: { A: 'theirs', B: 'kept' },
    });
    expect(await exec.authorization()).toBe('Bearer $HOME;`id`+mine+kept');
  });

  test('with a terminal it may ask the user, unless its mode is Never', async () => {
    const terminal = true;
    const { exec } = await plugin(show, { terminal, interactiveMode: 'IfAvailable' });
    expect(await info(exec)).toMatchObject({ spec: { interactive: true } });
    const { exec: never } = await plugin(show, { terminal, interactiveMode: 'Never' });
    expect(await info(never)).toMatchObject({ spec: { interactive: false } });
  });

  test('interactiveMode Always without a terminal is refused before anything runs', async () => {
    const { exec } = await plugin('', { interactiveMode: 'Always' });
    expect(await failure(exec)).toContain('standard input is not a terminal');
  });

  test('v1beta1', async () => {
    const beta = 'client.authentication.k8s.io/v1beta1';
    const { exec } = await plugin(`answer({ token: 'old' }, '${beta}')`, { apiVersion: beta });
    expect(await exec.authorization()).toBe('Bearer old');
  });
});

describe('failures', () => {
  test('a command that is not there comes with the install hint', async () => {
    const { exec } = await plugin('', { command: 'riata-no-such-plugin', installHint: 'Install it with apt.' });
    expect(await failure(exec)).toBe(
      'exec plugin riata-no-such-plugin: the executable was not found; install it, or correct the command or PATH\n' +
        'Install it with apt.',
    );
  });

  test('an exit code comes with the end of stderr, never with stdout, environment or secret arguments', async () => {
    const { exec } = await plugin(
      `process.stdout.write('{"status":{"token":"SECRET-STDOUT"}}');
       process.stderr.write('x'.repeat(100_000) + '\\x1b[31mlogin for ' + process.env.PASS + ' ' + process.argv[3] + ' failed\\x1b[0m');
       process.exitCode = 7;`,
      {
        env: [{ name: 'PASS', value: 'SECRET-ENV' }],
        args: [join(dir, 'plugin.mjs'), '--client-secret', 'SECRET-ARG'],
      },
    );
    const message = await failure(exec);
    expect(message).toContain('failed with exit code 7');
    expect(message).toMatch(/login for \[redacted\] \[redacted\] failed$/);
    expect(message).not.toContain('SECRET');
    expect(message.length).toBeLessThan(2_300);
  });

  test.each([
    [
      'answer({ token: "SECRET" }, "client.authentication.k8s.io/v1beta1")',
      'the plugin answered with client.authentication.k8s.io/v1beta1; change apiVersion',
    ],
    ['process.stdout.write("SECRET: not json")', 'wrote no JSON object to stdout (16 characters)'],
    ['process.stdout.write(JSON.stringify({ kind: "SECRET thing" }))', 'answered with kind none, not ExecCredential'],
    ['answer(undefined)', 'answered without a status'],
    ['answer({})', 'neither a token nor a client certificate'],
    ['answer({ clientKeyData: "SECRET" })', 'only one of'],
    [
      'answer({ clientKeyData: "SECRET", clientCertificateData: "SECRET" })',
      'cannot be used: the client certificate holds no PEM',
    ],
    ['answer({ token: "SECRET", expirationTimestamp: "SECRET" })', 'not an RFC 3339 time'],
    ['answer({ token: "SECRET\\nX: y" })', 'no HTTP header can carry'],
    ['answer({ token: 5 })', 'status.token that is not a string'],
    ['process.stdout.write("SECRET".repeat(400_000))', 'wrote more than 1048576 bytes'],
  ])('%s', async (body, expected) => {
    const { exec } = await plugin(body);
    const message = await failure(exec);
    expect(message).toContain(expected);
    expect(message).not.toContain('SECRET');
  });

  test('a command that cannot be started is reported without arguments and environment', async () => {
    const nul = await failure((await plugin('', { args: ['--password', 'hunter22\0'] })).exec);
    expect(nul).toContain('cannot be run: its command is empty, or an argument or environment variable holds a NUL');
    expect(nul).not.toContain('hunter22');
    const env = [{ name: 'X', value: 'hunter22\0' }];
    expect(await failure((await plugin('', { env })).exec)).toBe(nul);
    const cluster = async () => ({ server: 'https://a', 'certificate-authority-data': 'A'.repeat(3_000_000) });
    expect(await failure((await plugin('', { cluster })).exec)).toMatch(
      /too long for this system .*provideClusterInfo/,
    );
  });

  test('a plugin that leaves something running is not waited for longer than a second', async () => {
    const left = join(dir, 'left');
    const { exec } = await plugin(
      `const { spawn } = await import('node:child_process');
       const { writeFileSync } = await import('node:fs');
       const child = spawn(process.execPath, ['-e', 'setInterval(() => {}, 1000)'], { stdio: 'inherit', detached: true });
       writeFileSync(${JSON.stringify(left)}, String(child.pid));
       child.unref();
       answer({ token: 'there' });`,
      { timeoutMs: 0 },
    );
    const asked = exec.authorization();
    try {
      // Its end sets the only timer; what it wrote before has come by then, or comes in the same turn.
      await started();
      for (let i = 0; i < 10; i++) await turn();
      await clock.advance(1_000);
      expect(await asked).toBe('Bearer there');
      expect(clock.pending).toBe(0);
    } finally {
      process.kill(Number(await written(left)));
    }
  });

  test('a plugin that hangs is stopped at its limit', async () => {
    const { exec } = await plugin('setInterval(() => {}, 1000)');
    const message = failure(exec);
    await started();
    await clock.advance(60_000);
    expect(await message).toContain('gave no answer within 60000 ms and was stopped');
  });

  test('an abort ends the wait at once, and the plugin too, even one that does not want to', async () => {
    const pidFile = join(dir, 'pid');
    const { exec } = await plugin(`
      const { writeFileSync } = await import('node:fs');
      process.on('SIGTERM', () => writeFileSync(${JSON.stringify(join(dir, 'asked'))}, 'yes'));
      writeFileSync(${JSON.stringify(pidFile)}, String(process.pid));
      setInterval(() => {}, 1000);`);
    const controller = new AbortController();
    const waiting = exec.authorization({ signal: controller.signal });
    const pid = Number(await written(pidFile));
    controller.abort(new Error('shutting down'));
    await expect(waiting).rejects.toThrow('shutting down');
    expect(await written(join(dir, 'asked'))).toBe('yes');
    await clock.advance(2_000);
    while (isAlive(pid)) await turn();
    expect(isAlive(pid)).toBe(false);
  });
});

test('printing shows the command alone', async () => {
  const { exec } = await plugin('answer({ token: "t" })', { command: 'aws', args: ['--secret'] });
  expect(exec.describe()).toBe('exec aws');
});
