import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ApiServer } from '@riata/apiserver';
import { memoryLogger, systemClock } from 'riata/runtime';
import { afterAll, beforeAll, expect } from 'vitest';
import { controlPlaneFromEnv } from '../../../../tools/control-plane/client.mjs';
import { adminKubeconfig } from '../../src/http/admin-kubeconfig.js';
import { admissionOfPlane } from '../pair.js';
import { Kubectl, plain } from './kubectl.js';

export type ServerName = 'real' | 'embedded';

/** A command for both servers, and what has to come of it. */
export interface Command {
  /** The words after `kubectl`. */
  readonly args: readonly string[];
  /** What it reads, for `-f -`. An object is sent as JSON. */
  readonly input?: string | object;
  readonly env?: Readonly<Record<string, string>>;
  /** @default 0 */
  readonly code?: number;
  /** What the output has to be; a text must be part of it. */
  readonly expects?: readonly (string | RegExp)[];
  /**
   * Whether both servers must lead to the same output: not where the real one has sentences about its own kinds.
   * @default true
   */
  readonly same?: boolean;
  /** What a server does in its own time: it is run again until it is as it should be. @default false */
  readonly later?: boolean;
}

const patienceMs = 60_000;

/** The real and the embedded server under kubectl, for the tests of a file. */
export class KubectlPair {
  readonly servers: Readonly<Record<ServerName, Kubectl>>;

  constructor(real: Kubectl, embedded: Kubectl) {
    this.servers = { real, embedded };
  }

  /** Runs commands one after the other, on both servers side by side; reports all problems at once. */
  async play(commands: readonly Command[]): Promise<void> {
    const [real, embedded] = await Promise.all([this.#playOn('real', commands), this.#playOn('embedded', commands)]);
    const problems = commands.flatMap((command, index) => {
      const [theirs, ours] = [real[index] as Played, embedded[index] as Played];
      const differs = command.same !== false && own(theirs.shown) !== own(ours.shown);
      return [
        ...[...theirs.problems, ...ours.problems].map((problem) => `${titleOf(command)}\n${problem}`),
        ...(differs ? [`${titleOf(command)}\n--- real\n${theirs.shown}\n--- embedded\n${ours.shown}`] : []),
      ];
    });
    expect(problems.join('\n\n')).toBe('');
  }

  async #playOn(name: ServerName, commands: readonly Command[]): Promise<Played[]> {
    const played: Played[] = [];
    for (const command of commands) {
      let now = await this.#runOn(name, command);
      const deadline = systemClock.monotonic() + patienceMs;
      while (command.later && now.problems.length > 0 && systemClock.monotonic() < deadline) {
        await systemClock.sleep(50);
        now = await this.#runOn(name, command);
      }
      played.push(now);
    }
    return played;
  }

  async #runOn(name: ServerName, { args, input, env, code = 0, expects = [] }: Command): Promise<Played> {
    const text = typeof input === 'object' ? JSON.stringify(input) : input;
    const run = await this.servers[name].run(args, text, env);
    const all = run.out + run.err;
    const has = (part: string | RegExp) => (typeof part === 'string' ? all.includes(part) : part.test(all));
    const wrong = [
      ...(run.code === code ? [] : [`ends with ${run.code}, not ${code}`]),
      ...expects.filter((part) => !has(part)).map((part) => `lacks ${part}`),
    ];
    return { shown: plain(`${run.out}${run.err}`), problems: wrong.map((why) => `on ${name}: ${why}\n${all}`) };
  }
}

/** The effects of a command, in a comparable form, and its own problems. */
interface Played {
  readonly shown: string;
  readonly problems: readonly string[];
}

function titleOf({ args }: Command): string {
  return `kubectl ${args.join(' ')}`;
}

/** Starts an embedded server beside the real one. To be called inside tests only. */
export function kubectlPair(): () => KubectlPair {
  let pair: KubectlPair | undefined;
  const folder = mkdtempSync(join(tmpdir(), 'riata-kubectl-'));
  const log = memoryLogger();
  let server: ApiServer | undefined;
  beforeAll(async () => {
    const { kubeconfig, kubectlPath } = controlPlaneFromEnv();
    server = await ApiServer.start({ controllers: false, log, admission: admissionOfPlane() });
    const { url, ca } = await server.listen();
    const [theirs, own] = [join(folder, 'real.kubeconfig'), join(folder, 'embedded.kubeconfig')];
    writeFileSync(theirs, kubeconfig);
    writeFileSync(own, adminKubeconfig({ url, ca, token: server.token }));
    pair = new KubectlPair(
      new Kubectl(kubectlPath, theirs, join(folder, 'real')),
      new Kubectl(kubectlPath, own, join(folder, 'embedded')),
    );
  });
  afterAll(async () => {
    await server?.stop();
    rmSync(folder, { recursive: true, force: true });
    expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
  });
  return () => {
    if (pair === undefined) throw new Error('the servers have not been started yet');
    return pair;
  };
}

/** Without the lines about kinds that others have defined on the same server. */
function own(text: string): string {
  const lines = text.split('\n');
  return lines
    .filter((line) => !/\.(riata\.dev|example\.com)\b/.test(line) || /kubectl\.example\.com/.test(line))
    .join('\n');
}
