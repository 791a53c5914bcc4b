import { type ChildProcess, spawn } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createClient } from 'riata';
import { type RestConfig, staticCredentials } from 'riata/rest';
import { describeError, silentLogger, systemClock, systemRandom } from 'riata/runtime';
import { ProgramGuard } from './program-guard.js';

/** A real API server on an etcd of its own, started for tests. */
export interface ControlPlane extends AsyncDisposable {
  /** As an administrator. */
  readonly config: RestConfig;
}

const readyMs = 180_000;
/** Below the ports of outgoing connections: such a port could be free now, and taken a moment later. */
const ports = { first: 20_000, last: 29_999 };
/** Starts with other ports, where one was taken meanwhile. */
const mostStarts = 5;

/**
 * Starts `etcd` and `kube-apiserver` of a folder (`KUBEBUILDER_ASSETS`, as setup-envtest fetches them) on free ports of
 * the loopback interface, with their data in a temporary folder. There is no kube-controller-manager: no garbage
 * collection, and deleted namespaces are not emptied. Rejects, with the last lines of the log, if they do not become
 * ready. Both end with this process, also when it is killed.
 */
export async function startControlPlane(assets: string): Promise<ControlPlane> {
  for (let starts = 1; ; starts += 1) {
    const folder = await mkdtemp(join(tmpdir(), 'riata-testing-'));
    const guard = new ProgramGuard(folder);
    const programs: Program[] = [];
    const stop = async () => {
      for (const program of programs.toReversed()) await program.stop();
      await guard.end();
      await rm(folder, { recursive: true, force: true });
    };
    const start = (name: string, flags: readonly string[]) => {
      programs.push(new Program(join(assets, name), flags, guard));
    };
    try {
      const config = await startPrograms(folder, programs, start);
      return { config, [Symbol.asyncDispose]: stop };
    } catch (error) {
      await stop();
      if (starts === mostStarts || !programs.some(({ isPortTaken }) => isPortTaken)) throw error;
    }
  }
}

async function startPrograms(
  folder: string,
  programs: readonly Program[],
  start: (name: string, flags: readonly string[]) => void,
): Promise<RestConfig> {
  const [etcdPort, peerPort, port] = [await freePort(), await freePort(), await freePort()];
  const etcdUrl = `http://127.0.0.1:${etcdPort}`;
  start('etcd', etcdFlags(folder, etcdUrl, `http://127.0.0.1:${peerPort}`));
  const token = systemRandom.uuid();
  await writeFile(join(folder, 'tokens.csv'), `${token},admin,admin,"system:masters"\n`, { mode: 0o600 });
  await writeFile(join(folder, 'accounts.pem'), accountsKey(), { mode: 0o600 });
  start('kube-apiserver', apiServerFlags(folder, etcdUrl, port));
  return readyConfig({ folder, server: `https://127.0.0.1:${port}`, token, programs });
}

function etcdFlags(folder: string, url: string, peerUrl: string): readonly string[] {
  return [
    `--data-dir=${join(folder, 'etcd')}`,
    `--listen-client-urls=${url}`,
    `--advertise-client-urls=${url}`,
    `--listen-peer-urls=${peerUrl}`,
    `--initial-advertise-peer-urls=${peerUrl}`,
    `--initial-cluster=default=${peerUrl}`,
    '--unsafe-no-fsync',
  ];
}

function apiServerFlags(folder: string, etcdUrl: string, port: number): readonly string[] {
  const accounts = join(folder, 'accounts.pem');
  return [
    `--etcd-servers=${etcdUrl}`,
    '--bind-address=127.0.0.1',
    '--advertise-address=127.0.0.1',
    '--endpoint-reconciler-type=none', // the loopback address is no legal endpoint
    `--secure-port=${port}`,
    `--cert-dir=${join(folder, 'certificates')}`,
    `--token-auth-file=${join(folder, 'tokens.csv')}`,
    '--authorization-mode=RBAC',
    '--disable-admission-plugins=ServiceAccount', // the accounts that it requires are never created
    '--service-account-issuer=https://kubernetes.default.svc',
    `--service-account-key-file=${accounts}`,
    `--service-account-signing-key-file=${accounts}`,
    '--service-cluster-ip-range=10.0.0.0/24',
    '--shutdown-watch-termination-grace-period=1s',
  ];
}

function accountsKey(): string {
  const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  return privateKey.export({ type: 'pkcs1', format: 'pem' }).toString();
}

async function readyConfig(parts: {
  readonly folder: string;
  readonly server: string;
  readonly token: string;
  readonly programs: readonly Program[];
}): Promise<RestConfig> {
  const { folder, server, token, programs } = parts;
  const deadline = systemClock.monotonic() + readyMs;
  for (;;) {
    try {
      const ca = await readFile(join(folder, 'certificates', 'apiserver.crt'), 'utf8');
      const config = { server, credentials: staticCredentials({ token, ca }) };
      await using client = createClient(config, { runtime: { log: silentLogger } });
      await client.rest.get().absPath('/readyz').maxRetries(0).do();
      // A stranger's etcd would do as well, where ours did not get its port.
      if (programs.every(({ isRunning }) => isRunning)) return config;
      throw new Error('one of its programs has ended');
    } catch (error) {
      const ended = programs.find(({ isRunning }) => !isRunning);
      if (ended === undefined && systemClock.monotonic() < deadline) {
        await systemClock.sleep(100);
        continue;
      }
      const log = (ended ?? programs.at(-1))?.lastWords;
      throw new Error(`the control plane did not become ready: ${describeError(error)}\n${log}`, { cause: error });
    }
  }
}

/** A process that does not outlive this one. */
class Program {
  readonly #process: ChildProcess;
  readonly #ended: Promise<void>;
  readonly #path: string;
  #words = '';

  constructor(path: string, flags: readonly string[], guard: ProgramGuard) {
    this.#path = path;
    this.#process = spawn(path, flags, { stdio: ['ignore', 'pipe', 'pipe'] });
    guard.watch(this.#process);
    for (const stream of [this.#process.stdout, this.#process.stderr]) {
      stream?.on('data', (piece: Buffer) => {
        this.#words = (this.#words + piece.toString()).slice(-8000);
      });
    }
    this.#ended = new Promise((resolve) => {
      this.#process.once('error', (error) => {
        this.#words += describeError(error);
        resolve();
      });
      this.#process.once('close', () => resolve());
    });
  }

  get isRunning(): boolean {
    return this.#process.pid !== undefined && this.#process.exitCode === null && this.#process.signalCode === null;
  }

  get isPortTaken(): boolean {
    return this.#words.includes('address already in use');
  }

  get lastWords(): string {
    return `${this.#path}: ${this.#words.split('\n').slice(-10).join('\n')}`;
  }

  async stop(): Promise<void> {
    // Its data is thrown away: there is no need for an orderly shutdown.
    if (this.isRunning) this.#process.kill('SIGKILL');
    await this.#ended;
  }
}

/** One that was free a moment ago. */
async function freePort(): Promise<number> {
  for (;;) {
    const port = systemRandom.int(ports.first, ports.last);
    if (await isFree(port)) return port;
  }
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer();
    server.once('error', () => resolve(false));
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)));
  });
}
