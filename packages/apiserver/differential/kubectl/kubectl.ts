import { type ChildProcess, spawn } from 'node:child_process';

/** What a run of kubectl has led to. */
export interface Run {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

/** kubectl for one server. */
export class Kubectl {
  readonly #program: string;
  readonly #kubeconfig: string;
  readonly #cache: string;

  /** `folder` is for what it keeps between runs. */
  constructor(program: string, kubeconfig: string, folder: string) {
    this.#program = program;
    this.#kubeconfig = kubeconfig;
    this.#cache = folder;
  }

  /** Runs a command to its end. */
  async run(args: readonly string[], input = '', env: Readonly<Record<string, string>> = {}): Promise<Run> {
    const child = this.#spawn(args, env);
    child.stdin?.end(input);
    const [out, err] = [collect(child.stdout), collect(child.stderr)];
    const code = await new Promise<number>((resolve, reject) => {
      child.on('error', reject);
      child.on('close', (status) => resolve(status ?? -1));
    });
    return { code, out: out(), err: err() };
  }

  /** Starts a command that runs until it is stopped. */
  follow(args: readonly string[]): Following {
    return new Following(this.#spawn(args, {}));
  }

  #spawn(args: readonly string[], env: Readonly<Record<string, string>>): ChildProcess {
    const common = ['--kubeconfig', this.#kubeconfig, '--cache-dir', this.#cache];
    return spawn(this.#program, [...common, ...args], {
      // Each run is over before it would be worth while to collect garbage.
      env: { PATH: process.env.PATH, HOME: this.#cache, GOGC: 'off', ...env },
    });
  }
}

/** A command that goes on telling things. */
export class Following {
  readonly #child: ChildProcess;
  readonly #out: () => string;
  #received = () => {};

  constructor(child: ChildProcess) {
    this.#child = child;
    this.#out = collect(child.stdout);
    child.stdout?.on('data', () => this.#received());
    child.on('close', () => this.#received());
  }

  /** The lines so far that are meant, once there are so many, or it has ended. */
  async lines(count: number, isMeant: (line: string) => boolean): Promise<string[]> {
    for (;;) {
      const lines = this.#out().split('\n').slice(0, -1).filter(isMeant);
      if (lines.length >= count || this.#child.exitCode !== null) return lines;
      await new Promise<void>((resolve) => {
        this.#received = resolve;
      });
    }
  }

  async stop(): Promise<void> {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    const closed = new Promise((resolve) => this.#child.on('close', resolve));
    this.#child.kill();
    await closed;
  }
}

function collect(stream: NodeJS.ReadableStream | null): () => string {
  let text = '';
  stream?.setEncoding('utf8').on('data', (chunk: string) => {
    text += chunk;
  });
  return () => text;
}

/** Makes what kubectl prints comparable: what each server makes up itself, and how wide columns are. */
export function plain(text: string): string {
  return text
    .replace(/[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}/g, '<uid>')
    .replace(/\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:\.\d+)?(?:Z| \+0000)/g, '<time>')
    .replace(/(resourceVersion"?: )"\d+"/g, '$1<revision>')
    .replace(/\b(?:\d+[smhd]){1,2}\b/g, '<age>')
    .replace(/\/(LIVE|MERGED)-\d+\//g, '/$1/')
    .replace(/127\.0\.0\.1:\d+/g, '<address>')
    .replace(/ {2,}/g, '  ')
    .replace(/ +$/gm, '');
}
