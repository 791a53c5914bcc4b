import { type ChildProcess, spawn } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { build } from 'rolldown';

const root = fileURLToPath(new URL('../../..', import.meta.url));

/** A server program that is compiled once and can be started, and killed, any number of times. */
export class ServerProgram implements AsyncDisposable {
  readonly #file: string;

  private constructor(file: string) {
    this.#file = file;
  }

  static async build(): Promise<ServerProgram> {
    // Inside the repository, so that the packages left outside the bundle are found.
    const folder = join(root, 'node_modules/.cache/crash-test');
    mkdirSync(folder, { recursive: true });
    const file = join(folder, `${process.pid}.mjs`);
    await build({
      input: join(root, 'packages/apiserver/soak/serve.ts'),
      platform: 'node',
      resolve: { conditionNames: ['riata-source', 'node', 'import', 'default'] },
      external: ['yaml', 'classic-level'],
      transform: { target: 'node20' },
      output: { file, format: 'esm', codeSplitting: false },
    });
    return new ServerProgram(file);
  }

  /** Starts it on a data directory. Rejects with what it wrote if it does not come up. */
  async start(dataDir: string): Promise<ServerProcess> {
    const child = spawn(process.execPath, [this.#file, dataDir], { stdio: ['ignore', 'pipe', 'pipe'] });
    let errors = '';
    child.stderr.on('data', (part) => {
      errors += String(part);
    });
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(child.stdout).once('line', resolve);
      child.once('exit', (code) => reject(new Error(`the server has ended with ${code}: ${errors}`)));
    });
    return new ServerProcess(child, JSON.parse(line) as { url: string; token: string });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.#file, { force: true });
  }
}

/** A server in another process. */
export class ServerProcess {
  readonly pid: number;
  readonly url: string;
  readonly token: string;
  readonly #child: ChildProcess;

  constructor(child: ChildProcess, { url, token }: { readonly url: string; readonly token: string }) {
    this.#child = child;
    this.pid = child.pid ?? 0;
    this.url = url;
    this.token = token;
  }

  /** Ends it where it is. Resolves when it is gone. */
  kill(): Promise<void> {
    return new Promise((resolve) => {
      this.#child.once('exit', () => resolve());
      if (!this.#child.kill('SIGKILL')) resolve();
    });
  }

  request(method: string, path: string, body?: unknown): Promise<Response> {
    const headers = { authorization: `Bearer ${this.token}`, 'content-type': 'application/json' };
    return fetch(this.url + path, { method, headers, body: body === undefined ? null : JSON.stringify(body) });
  }
}
