// @ts-check
// The owner's side of the keeper (keeper-process.mjs).

import { fork } from 'node:child_process';
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * @typedef {{ code: number | null, signal: NodeJS.Signals | null }} Exit
 *
 * @typedef {object} Launch
 * @property {string} name
 * @property {string} command
 * @property {string[]} args
 * @property {NodeJS.ProcessEnv} [env] Default: this process's.
 * @property {string} [cwd]
 * @property {string} [logFile] Both outputs are appended to it. Default: they are this process's own.
 * @property {boolean} [background] It does not keep this process alive while it runs. Default false.
 *
 * @typedef {object} KeptProcess
 * @property {number} pid
 * @property {Promise<Exit>} exited Never rejects.
 */

const program = fileURLToPath(new URL('./keeper-process.mjs', import.meta.url));

/**
 * Starts processes that cannot outlive this one: they and the temporary folder `dir` are gone soon after `end()`, and
 * also after this process ends in any other way. A keeper that runs nothing but background processes does not keep this
 * process alive.
 */
export async function startKeeper() {
  // Detached, so that a signal to this process's group (Ctrl-C, a CI runner's kill) leaves it to do its work.
  const child = fork(program, { detached: true, stdio: ['inherit', 'inherit', 'inherit', 'ipc'], execArgv: [] });
  const [ready] = await Promise.race([
    once(child, 'message'),
    once(child, 'exit').then(([code]) => {
      throw new Error(`the keeper process of the control plane ended at once with exit code ${code}`);
    }),
  ]);
  return new Keeper(child, ready.ready);
}

export class Keeper {
  /** Its temporary folder, removed at the end. @type {string} */
  dir;
  #child;
  #ended;
  #isGone = false;
  #nextId = 1;
  /** @type {Map<number, { resolve: (value: unknown) => void, reject: (reason: Error) => void }>} */
  #waiting = new Map();
  /** Everything that runs, by name. @type {Map<string, { pid: number, background: boolean, exit: (exit: Exit) => void }>} */
  #running = new Map();

  /** @param {import('node:child_process').ChildProcess} child @param {string} dir */
  constructor(child, dir) {
    this.dir = dir;
    this.#child = child;
    this.#ended = once(child, 'exit').then(() => this.#afterEnd());
    child.on('message', (message) => this.#receive(/** @type {any} */ (message)));
    child.unref();
    child.channel?.unref();
  }

  get pid() {
    return this.#child.pid;
  }

  /**
   * @param {Launch} launch
   * @returns {Promise<KeptProcess>}
   */
  async start({ name, command, args, env = process.env, cwd, logFile, background = false }) {
    if (this.#running.has(name)) throw new Error(`${name} is running already`);
    /** @type {(exit: Exit) => void} */
    let exit = () => {};
    /** @type {Promise<Exit>} */
    const exited = new Promise((resolve) => {
      exit = resolve;
    });
    // Known before it starts: a process that ends at once reports its end before the answer to this request.
    this.#running.set(name, { pid: 0, background, exit });
    try {
      const pid = /** @type {number} */ (await this.#ask({ op: 'start', name, command, args, env, cwd, logFile }));
      const entry = this.#running.get(name);
      if (entry) entry.pid = pid;
      return { pid, exited };
    } catch (error) {
      this.#running.delete(name);
      this.#holdOrLetGo();
      throw error;
    }
  }

  /**
   * Ends one process and waits for it; one that is not running is no error.
   * @param {string} name
   * @param {{ signal?: NodeJS.Signals, graceMs?: number }} [options] SIGKILL follows after `graceMs`.
   */
  async stop(name, { signal = 'SIGTERM', graceMs = 10_000 } = {}) {
    await this.#ask({ op: 'stop', name, signal, graceMs });
  }

  /** @param {string} name @param {NodeJS.Signals} signal */
  async signal(name, signal) {
    await this.#ask({ op: 'signal', name, signal });
  }

  /** Removes `path` at the end too, however the end comes. @param {string} path */
  async removeAtEnd(path) {
    await this.#ask({ op: 'removeAtEnd', path });
  }

  /** Kills what still runs, removes the folder, and waits until both are done. */
  async end() {
    this.#child.ref();
    this.#ask({ op: 'end' }).catch(() => {}); // it exits instead of answering
    await this.#ended;
  }

  /** @param {import('./keeper-process.mjs').Request} request */
  #ask(request) {
    return new Promise((resolve, reject) => {
      const id = this.#nextId++;
      this.#waiting.set(id, { resolve, reject });
      this.#holdOrLetGo();
      const gone = () => this.#settle(id, () => reject(new Error('the keeper process is gone')));
      // Its end may be known before that of the channel, and the other way round.
      if (this.#isGone || !this.#child.connected) gone();
      else this.#child.send({ id, request }, (error) => error && gone());
    });
  }

  /** @param {{ id: number, result?: unknown, error?: string } | { exit: string } & Exit} message */
  #receive(message) {
    if ('exit' in message) {
      const entry = this.#running.get(message.exit);
      this.#running.delete(message.exit);
      this.#holdOrLetGo();
      entry?.exit({ code: message.code, signal: message.signal });
      return;
    }
    const waiting = this.#waiting.get(message.id);
    this.#settle(message.id, () => {
      if (message.error === undefined) waiting?.resolve(message.result);
      else waiting?.reject(new Error(message.error));
    });
  }

  /** @param {number} id @param {() => void} finish */
  #settle(id, finish) {
    if (this.#waiting.delete(id)) finish();
    this.#holdOrLetGo();
  }

  /** An open answer and a running foreground process keep this process alive. */
  #holdOrLetGo() {
    const isHeld = this.#waiting.size > 0 || [...this.#running.values()].some(({ background }) => !background);
    if (isHeld) this.#child.channel?.ref();
    else this.#child.channel?.unref();
  }

  /** A keeper that was itself killed has cleaned up nothing, so it is done again from here. */
  #afterEnd() {
    this.#isGone = true;
    for (const { pid, exit } of this.#running.values()) {
      try {
        if (pid > 0) process.kill(-pid, 'SIGKILL');
      } catch {
        // Gone already.
      }
      exit({ code: null, signal: 'SIGKILL' });
    }
    this.#running.clear();
    for (const [id, { reject }] of this.#waiting) {
      this.#settle(id, () => reject(new Error('the keeper process ended')));
    }
    rmSync(this.dir, { recursive: true, force: true, maxRetries: 5 });
  }
}
