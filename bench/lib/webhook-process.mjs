import { execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { promisify } from 'node:util';
import { rssMbOf } from './process-cost.mjs';

const run = promisify(execFile);
const LIMIT_MS = 300_000;

/** A webhook server as a process, which prints its port. */
export class WebhookProcess {
  #child;
  #port;

  static async start({ command, args, env = {} }, folder) {
    const server = new WebhookProcess();
    server.#child = spawn(command, [...args, folder], {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const ended = once(server.#child, 'exit').then(([code]) => {
      throw new Error(`${command} ${args.join(' ')} ended with ${code} before it listened`);
    });
    ended.catch(() => {});
    const [line] = await Promise.race([once(server.#child.stdout, 'data'), ended]);
    server.#port = Number(line);
    return server;
  }

  /** Sends reviews with the client in Go, and gives its report. */
  async review(client, { ca, reviews, protocol, concurrency, warmUp, count }) {
    const numbers = [concurrency, warmUp, count, this.#child.pid].map(String);
    const args = [`https://127.0.0.1:${this.#port}`, ca, reviews, protocol, ...numbers];
    const { stdout } = await run(client, args, { timeout: LIMIT_MS });
    return JSON.parse(stdout);
  }

  rssMb() {
    return rssMbOf([this.#child.pid]);
  }

  async stop() {
    const ended = once(this.#child, 'exit');
    this.#child.kill('SIGTERM');
    await ended;
  }
}
