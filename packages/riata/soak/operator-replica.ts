import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import process from 'node:process';
import { fileURLToPath } from 'node:url';
import { lostLeaseCode, upLine } from './operator-signs.js';

const root = fileURLToPath(new URL('../../../', import.meta.url));

/**
 * One replica of the operator: a process that is restarted whenever it ends, under a new identity, as the Pods of a
 * Deployment are: it has to acquire again what the one before it held.
 */
export class OperatorReplica implements AsyncDisposable {
  readonly name: string;
  readonly #env: NodeJS.ProcessEnv;
  /** How long it may take to stop. */
  readonly #stopMs: number;
  readonly #log: string[] = [];
  #child: ChildProcess | undefined;
  /** Resolves when the child can be asked to stop, or has ended. */
  #up: Promise<void> = Promise.resolve();
  #isSelected = true;
  #starts = 0;
  #isPaused = false;

  constructor(
    name: string,
    options: {
      readonly dir: string;
      readonly kubeconfig: string;
      readonly namespace: string;
      readonly mode: string;
      /** Whether it has no time limit; see the operator. @default false */
      readonly isPatient?: boolean;
    },
  ) {
    const { dir, kubeconfig, namespace, mode, isPatient = false } = options;
    const path = join(dir, `${name}.kubeconfig`);
    writeFileSync(path, kubeconfig);
    this.name = name;
    this.#stopMs = isPatient ? 240_000 : 60_000;
    const own = {
      WIDGET_KUBECONFIG: path,
      WIDGET_NAMESPACE: namespace,
      WIDGET_MODE: mode,
      WIDGET_PATIENT: isPatient ? 'yes' : '',
    };
    this.#env = { ...process.env, ...own };
    this.#start();
  }

  /** What the process calls itself. */
  get identity(): string {
    return `${this.name}-${this.#starts}`;
  }

  get starts(): number {
    return this.#starts;
  }

  /** The last lines that it wrote, for when something goes wrong. */
  get log(): string {
    return this.#log.join('').slice(-4_000);
  }

  kill(): void {
    this.resume();
    this.#child?.kill('SIGKILL');
  }

  pause(): void {
    this.#isPaused = true;
    this.#child?.kill('SIGSTOP');
  }

  resume(): void {
    if (this.#isPaused) this.#child?.kill('SIGCONT');
    this.#isPaused = false;
  }

  /**
   * Asks it to end; returns its exit code, or how it was killed after a minute, or four. If it was about to end for a
   * lost lease, the one that is started in its place is asked.
   */
  async stop(): Promise<number | string | null> {
    this.#isSelected = false;
    this.resume();
    for (;;) {
      const outcome = await this.#stopChild();
      if (outcome !== lostLeaseCode) return outcome;
      this.#start();
    }
  }

  async #stopChild(): Promise<number | string | null> {
    // A process that is only just starting would die of the signal.
    await this.#up;
    const child = this.#child;
    if (child === undefined || child.exitCode !== null || child.signalCode !== null) {
      return child?.exitCode ?? child?.signalCode ?? null;
    }
    const ended = once(child, 'exit') as Promise<[number | null, string | null]>;
    child.kill('SIGTERM');
    const timer = setTimeout(() => child.kill('SIGKILL'), this.#stopMs);
    const [code, signal] = await ended;
    clearTimeout(timer);
    return code ?? signal;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  #start(): void {
    this.#starts += 1;
    const program = join(root, 'packages/riata/soak/widget-operator.ts');
    const env = { ...this.#env, WIDGET_REPLICA: this.identity };
    const child = spawn(process.execPath, [join(root, 'tools/run-ts.mjs'), program], { cwd: root, env });
    this.#child = child;
    let isUp = () => {};
    this.#up = new Promise((resolve) => {
      isUp = resolve;
    });
    for (const stream of [child.stdout, child.stderr]) {
      stream?.on('data', (bytes: Buffer) => {
        if (bytes.includes(upLine)) isUp();
        this.#log.push(String(bytes));
        if (this.#log.length > 200) this.#log.shift();
      });
    }
    child.once('exit', () => {
      isUp();
      if (this.#isSelected) this.#start();
    });
  }
}
