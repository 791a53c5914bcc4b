import { type AdmissionOptions, ApiServer } from '@riata/apiserver';
import { memoryLogger, systemClock, systemRandom } from 'riata/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { startControlPlane } from '../../../tools/control-plane/start.mjs';
import { answerDifferences, type Difference, describeDifference } from './difference.js';
import { knownDifferences } from './known-differences.js';
import { Normaliser } from './normalise.js';
import { type Answer, type Ask, type Place, Wire } from './wire.js';

/** What one server has answered in a play so far, by the names that the steps gave to their answers. */
export class Past {
  readonly #answers = new Map<string, Answer>();

  note(name: string, answer: Answer): void {
    this.#answers.set(name, answer);
  }

  knows(name: string): boolean {
    return this.#answers.has(name);
  }

  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the plays
  body(name: string): any {
    const found = this.#answers.get(name);
    if (found === undefined) throw new Error(`no step before this one has the name ${name}`);
    return found.body;
  }

  revision(name: string): string {
    return this.body(name).metadata?.resourceVersion ?? '0';
  }

  uid(name: string): string {
    return this.body(name).metadata?.uid ?? '';
  }
}

/** A request, one made from earlier answers, or watches that are open while other steps are done. */
export type Step =
  | Ask
  | ((past: Past) => Ask)
  | { readonly watches: readonly Step[]; readonly during: readonly Step[] };

interface Received {
  readonly step: string;
  readonly answer: unknown;
}

const patienceMs = 100_000;

/** The embedded and the real server, asked the same. */
export class Pair {
  readonly #real: Wire;
  readonly #embedded: Wire;
  readonly #forget: () => Promise<void>;
  /** How many answers were compared. */
  compared = 0;

  constructor(real: Wire, embedded: Wire, forget: () => Promise<void>) {
    this.#real = real;
    this.#embedded = embedded;
    this.#forget = forget;
  }

  /** Where the real server is, and where the embedded one. */
  get places(): readonly [real: Place, embedded: Place] {
    return [this.#real.place, this.#embedded.place];
  }

  /** Makes both servers drop their history. The real one has to be restarted: it serves watches from memory. */
  forgetPast(): Promise<void> {
    return this.#forget();
  }

  /** Does the same steps on both servers, and reports where the answers differ. */
  async differences(steps: readonly Step[]): Promise<Difference[]> {
    const [real, embedded] = await Promise.all([run(this.#real, steps), run(this.#embedded, steps)]);
    this.compared += real.length;
    return real.flatMap(({ step, answer }, index) => answerDifferences(answer, embedded[index]?.answer, step));
  }

  /** Asks both servers for something that is not compared, e.g. to prepare a play. */
  async both(ask: Ask): Promise<void> {
    await Promise.all([run(this.#real, [ask]), run(this.#embedded, [ask])]);
  }
}

/** Plugins that both servers run beside those that they have on. */
export interface PairOptions {
  readonly enable: readonly string[];
}

/**
 * Starts an embedded server beside the real one for the tests of a file; with options, a real one of its own, too. To be
 * called inside tests only.
 */
export function serverPair(options?: PairOptions): () => Pair {
  let pair: Pair | undefined;
  const log = memoryLogger();
  const closing: (() => Promise<void> | void)[] = [];
  let realWire: Wire | undefined;
  beforeAll(async () => {
    const real = options === undefined ? controlPlaneFromEnv() : await ownPlane(options, closing);
    const { url, ca, token } = real;
    const server = await ApiServer.start({ controllers: false, log, admission: admissionOfPlane(options?.enable) });
    const listening = await server.listen({ tls: false });
    const wires = [new Wire({ url, ca, token }), new Wire({ url: listening.url, token: server.token })] as const;
    realWire = wires[0];
    closing.push(...wires.map((wire) => () => wire.close()), () => server.stop());
    pair = new Pair(...wires, async () => {
      server.compact();
      // Its connections go with it.
      wires[0].close();
      await real.restartApiServer();
    });
  });
  afterAll(async () => {
    await removeQuotas(realWire);
    for (const close of closing) await close();
    // What the embedded server did not mean to throw.
    expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
  });
  return () => {
    if (pair === undefined) throw new Error('the servers have not been started yet');
    return pair;
  };
}

/**
 * What an embedded server has to be given to admit what a control plane of the tests admits: nobody creates accounts
 * there, so their plugin is off unless it is enabled.
 */
export function admissionOfPlane(enable: readonly string[] = []): AdmissionOptions {
  return { enable, disable: enable.includes('ServiceAccount') ? [] : ['ServiceAccount'] };
}

async function ownPlane({ enable }: PairOptions, closing: (() => Promise<void> | void)[]) {
  const plane = await startControlPlane({ apiServerArgs: [`--enable-admission-plugins=${enable.join(',')}`] });
  closing.push(() => plane.stop());
  return plane;
}

/** Quotas that no controller counts would refuse the writes of other test files into all namespaces. */
async function removeQuotas(real: Wire | undefined): Promise<void> {
  const { body } = (await real?.send({ method: 'GET', path: '/api/v1/resourcequotas' })) ?? { body: { items: [] } };
  for (const { metadata } of body.items as readonly { metadata: { namespace: string; name: string } }[]) {
    const path = `/api/v1/namespaces/${metadata.namespace}/resourcequotas/${metadata.name}`;
    await real?.send({ method: 'DELETE', path });
  }
}

/** A test: both servers answer these steps in the same way, but for what is known. */
export function play(pair: () => Pair, title: string, steps: () => readonly Step[]): void {
  test(title, async () => {
    const found = await pair().differences(steps());
    const known = knownDifferences.filter((k) => k.play === title);
    const unknown = found.filter((difference) => !known.some((k) => k.matches(difference)));
    const gone = known.filter((k) => !found.some((difference) => k.matches(difference)));
    expect(unknown.map(describeDifference).join('\n'), 'differences').toBe('');
    expect(
      gone.map((k) => k.reason),
      'known differences that are none any more',
    ).toEqual([]);
  });
}

/** A name that no other play has, and that both servers can be given. */
export function uniqueName(prefix: string): string {
  return `${prefix}${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
}

async function run(wire: Wire, steps: readonly Step[]): Promise<Received[]> {
  const past = new Past();
  const normaliser = new Normaliser();
  const received: Received[] = [];
  const take = (ask: Ask, answer: Answer) => {
    if (ask.as !== undefined) past.note(ask.as, answer);
    if (ask.silent) return;
    const body = ask.body === undefined ? '' : ` ${typeof ask.body === 'string' ? ask.body : JSON.stringify(ask.body)}`;
    const step = `${received.length}: ${ask.method} ${ask.path} ${ask.type ?? ''}${body.slice(0, 300)}`;
    received.push({ step, answer: normaliser.answer(withoutRandomness(ask, answer)) });
  };
  const askOf = (step: Step): Ask => {
    if ('watches' in step) throw new Error('watches cannot stand inside watches');
    return typeof step === 'function' ? step(past) : step;
  };
  for (const step of steps) {
    if (!('watches' in step)) {
      const ask = askOf(step);
      take(ask, await send(wire, ask));
      continue;
    }
    const watches = step.watches.map(askOf).map((ask) => ({ ask, ...wire.open(ask) }));
    await Promise.all(watches.map(({ ask, started }) => (ask.hangs ? undefined : started)));
    for (const inner of step.during) {
      const ask = askOf(inner);
      take(ask, await send(wire, ask));
    }
    for (const { ask, answer } of watches) take(ask, await answer);
  }
  return received;
}

/** The answer without what the real server leaves to chance, where a step says so. */
function withoutRandomness({ withoutReason, sorted }: Ask, answer: Answer): Answer {
  const { status } = answer.body ?? {};
  if (typeof status !== 'object' || status === null || !(withoutReason || sorted)) return answer;
  const { reason: _, ...bare } = status as Record<string, unknown>;
  const inOrder = Object.entries(withoutReason ? bare : status).map(([key, value]) => [
    key,
    sorted && Array.isArray(value) ? value.map((one) => JSON.stringify(one)).sort() : value,
  ]);
  return { ...answer, body: { ...answer.body, status: Object.fromEntries(inOrder) } };
}

async function send(wire: Wire, ask: Ask): Promise<Answer> {
  const deadline = systemClock.monotonic() + patienceMs;
  for (;;) {
    const answer = await wire.send(ask);
    if (ask.until === undefined || ask.until(answer)) return answer;
    if (systemClock.monotonic() > deadline) {
      throw new Error(`${ask.method} ${ask.path}: waited in vain: ${JSON.stringify(answer).slice(0, 2000)}`);
    }
    await systemClock.sleep(50);
  }
}
