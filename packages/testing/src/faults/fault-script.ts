import type { Fault, FaultAnswer, FaultRequest, Faults } from '@riata/apiserver';
import { type Duration, durationMs } from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { type CutOptions, cutOptionNames } from '../requests/recording-transport.js';
import { matches, type RequestMatch, type RequestReader, refuseUnknown } from '../requests/request-target.js';
import type { ServerControl } from '../test-server.js';
import type { TestTime } from '../test-time.js';
import { type FaultRule, type FaultTurns, faultTurnsOptionNames } from './fault-turns.js';
import { type WebhookFault, WebhookFaults, type WebhookMatch } from './webhook-faults.js';

interface Rule {
  readonly match: RequestMatch;
  readonly fault: Fault;
  readonly after: number;
  readonly times: number;
  seen: number;
  hits: number;
}

interface Delay {
  readonly match: RequestMatch;
  readonly delayMs: number;
}

const faultNames: ReadonlySet<string> = new Set([
  'delayMs',
  'answerDelayMs',
  'eventDelayMs',
  'refuse',
  'fail',
  'cut',
  'stall',
]);
const points: ReadonlySet<string> = new Set(['request', 'answer']);

/** A malformed fault would let a test pass silently. */
function refuseNothing(fault: Fault): void {
  const names = Object.keys(fault);
  if (names.length === 0 || names.some((name) => !faultNames.has(name))) {
    throw new TypeError(`faults.add: expected some of ${[...faultNames].join(', ')}; got ${JSON.stringify(fault)}`);
  }
  for (const point of [fault.cut, fault.stall]) {
    if (typeof point !== 'string' || points.has(point)) continue;
    throw new TypeError(
      `faults.add: expected 'request', 'answer', { afterBytes } or { afterEvents } for cut and stall; got '${point}'`,
    );
  }
}

/** How a server goes away and comes back. */
export interface FaultRestartOptions {
  /** How long connections are refused. @default '0s' */
  readonly down?: Duration;
  /** Whether requests in flight are answered first. @default false */
  readonly graceful?: boolean;
}

export const faultRestartOptionNames = optionNames<FaultRestartOptions>({ down: true, graceful: true });

/** What a {@link FaultScript} works on. */
export interface FaultParts {
  /** Faults of the server itself. */
  readonly control: Partial<ServerControl>;
  readonly time: TestTime;
  readonly reader: RequestReader;
  /** Whether faults are the server's own, and cost nothing where none happens. */
  readonly isInProcess: boolean;
  /** Cuts what managers and connections have open. */
  readonly cut: (options?: CutOptions) => void;
}

/**
 * Faults between the managers and connections of an environment and the server, in the order of the test. `env.client`
 * is spared. Rules do not know the name of a created object: it is in the body. All servers support this, real ones
 * too; but faults of the server itself need an embedded one, or an `OwnServer` that supports them.
 *
 * @example
 * env.faults.failWrite(2, { code: 409, reason: 'Conflict' });      // the second write from now on
 * env.faults.add({ verb: 'patch', kind: ConfigMap }, { cut: 'answer' }, { times: 1 });   // done, and the answer lost
 * env.faults.add({ client: 'first' }, { refuse: true });   // that replica is cut off
 * env.faults.delayEvents('5s', { kind: Secret });
 */
export class FaultScript {
  readonly #parts: FaultParts;
  readonly #rules = new Set<Rule>();
  readonly #delays = new Set<Delay>();
  readonly #hooks = new Set<{ readonly faults: Faults }>();
  /** @internal Those of the webhooks that managers serve. */
  readonly webhooks = new WebhookFaults();
  #isDown = false;

  constructor(parts: FaultParts) {
    this.#parts = parts;
  }

  /** Has this happen to requests that match; where several rules match, to the first added. `Fault` lists what there is. */
  add(match: RequestMatch, fault: Fault, turns: FaultTurns = {}): FaultRule {
    refuseUnknownOptions('faults.add', turns, faultTurnsOptionNames);
    const { after = 0, times = Number.POSITIVE_INFINITY } = turns;
    refuseUnknown(match, 'faults.add');
    refuseNothing(fault);
    const rule: Rule = { match, fault, after, times, seen: 0, hits: 0 };
    this.#rules.add(rule);
    const remove = () => void this.#rules.delete(rule);
    return {
      get hits() {
        return rule.hits;
      },
      remove,
      [Symbol.dispose]: remove,
    };
  }

  /**
   * Has this happen to calls of webhooks that managers serve, on every server: they are slow, down, or answer nonsense.
   * The API server does what the webhook's `failurePolicy` says.
   *
   * @example
   * env.faults.addWebhook({ webhook: 'sites' }, { hang: true }, { times: 1 });
   * env.faults.addWebhook({}, { answer: { status: 503 } });
   */
  addWebhook(match: WebhookMatch, fault: WebhookFault, turns: FaultTurns = {}): FaultRule {
    return this.webhooks.add(match, fault, turns);
  }

  /** The n-th write from now on, counted from 1, is answered with an error. @default 500 InternalError */
  failWrite(nth: number, answer: FaultAnswer = { code: 500, reason: 'InternalError' }, match: RequestMatch = {}) {
    if (!Number.isSafeInteger(nth) || nth < 1) {
      throw new RangeError(`failWrite: the number of the write must be an integer ≥ 1, got ${nth}`);
    }
    return this.add({ verb: 'write', ...match }, { fail: answer }, { after: nth - 1, times: 1 });
  }

  /**
   * Has events of watches come late until the answer is removed: on the in-process server those of all, of open ones too;
   * elsewhere those of watches that begin meanwhile.
   */
  delayEvents(by: Duration, match: Omit<RequestMatch, 'verb' | 'name'> = {}): Disposable {
    refuseUnknown(match, 'faults.delayEvents');
    const delay: Delay = { match, delayMs: durationMs(by, 'delayEvents') };
    this.#delays.add(delay);
    return { [Symbol.dispose]: () => void this.#delays.delete(delay) };
  }

  /**
   * Has a function decide about every request that no rule is for, such as `randomFaults` of `@riata/apiserver`, until the
   * answer is disposed of.
   */
  use(faults: Faults): Disposable {
    const hook = { faults };
    this.#hooks.add(hook);
    return { [Symbol.dispose]: () => void this.#hooks.delete(hook) };
  }

  /** Cuts all connections of managers and connections now; they may reconnect at once. */
  dropConnections(options?: CutOptions): void {
    refuseUnknownOptions('faults.dropConnections', options, cutOptionNames);
    this.#parts.cut(options);
  }

  /** The server forgets the past: watches that go on from before get 410, and list again. */
  async compact(): Promise<void> {
    await this.#able('compact')();
  }

  /**
   * Stops the server, with all objects kept: by force, or, with `graceful`, in order, with requests in flight answered
   * first. Connections are refused until {@link resume}.
   */
  async suspend(options: CutOptions = {}): Promise<void> {
    refuseUnknownOptions('faults.suspend', options, cutOptionNames);
    const { graceful = false } = options;
    const { time } = this.#parts;
    const suspend = this.#able('suspend');
    this.#isDown = true;
    await time.drive(suspend({ graceful }), 'the end of the server');
    // By then clients have noticed that their connections were cut.
    await time.quiet();
  }

  /** The server comes back after {@link suspend}. A reset has it come back, too. */
  async resume(): Promise<void> {
    await this.#parts.time.drive(this.#able('resume')(), 'the return of the server');
    this.#isDown = false;
  }

  /** The server goes away and comes back; objects stay. On the virtual clock, `down` passes meanwhile. @default '0s' */
  async restart(options: FaultRestartOptions = {}): Promise<void> {
    refuseUnknownOptions('faults.restart', options, faultRestartOptionNames);
    const { down = '0s', graceful = false } = options;
    const { time } = this.#parts;
    const [suspend, resume] = [this.#able('suspend'), this.#able('resume')];
    const downMs = durationMs(down, 'restart: down');
    const restart = async () => {
      await suspend({ graceful });
      if (downMs > 0) await time.clock.sleep(downMs);
      await resume();
      this.#isDown = false;
    };
    await time.drive(restart(), 'the restart of the server');
    await time.quiet();
  }

  /** All goes well from now on. */
  clear(): void {
    this.#rules.clear();
    this.#delays.clear();
    this.#hooks.clear();
    this.webhooks.clear();
  }

  /** @internal Removes all faults. */
  async repair(): Promise<void> {
    this.clear();
    if (this.#isDown) await this.resume();
  }

  /** @internal The hook for the server's connections. */
  decide(request: FaultRequest): Fault | undefined {
    const { reader, isInProcess } = this.#parts;
    if (!isInProcess && this.#rules.size + this.#hooks.size + this.#delays.size === 0) return undefined;
    const query = request.query.toString();
    const read = reader.read(request.method, query === '' ? request.path : `${request.path}?${query}`);
    const target = { ...read, client: request.client };
    const fault = this.#next((match) => matches(target, match)) ?? this.#ask(request);
    if (!request.watch || (!isInProcess && this.#delays.size === 0)) return fault;
    const eventDelayMs = () =>
      [...this.#delays].reduce((most, { match, delayMs }) => Math.max(most, matches(target, match) ? delayMs : 0), 0);
    return { eventDelayMs, ...fault };
  }

  #ask(request: FaultRequest): Fault | undefined {
    for (const { faults } of this.#hooks) {
      const fault = faults(request);
      if (fault !== undefined) return fault;
    }
    return undefined;
  }

  #next(isMeant: (match: RequestMatch) => boolean): Fault | undefined {
    let fault: Fault | undefined;
    for (const rule of this.#rules) {
      if (!isMeant(rule.match)) continue;
      rule.seen += 1;
      if (fault !== undefined || rule.seen <= rule.after || rule.hits >= rule.times) continue;
      rule.hits += 1;
      fault = rule.fault;
    }
    return fault;
  }

  #able<A extends keyof ServerControl>(action: A): ServerControl[A] {
    const { control } = this.#parts;
    const found = control[action];
    if (found !== undefined) return found.bind(control) as ServerControl[A];
    throw new Error(
      `to ${action} the server, it needs to be an embedded one, or an OwnServer that can do so: this test runs on another`,
    );
  }
}
