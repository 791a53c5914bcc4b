import { type Duration, durationMs } from 'riata/object';
import { abortable, optionNames, type Runtime, refuseUnknownOptions } from 'riata/runtime';
import type { WebhookAnswer, WebhookDefinition, WebhookRoute } from 'riata/webhook';
import { type FaultRule, type FaultTurns, faultTurnsOptionNames } from './fault-turns.js';

/** Which calls of webhooks a fault is for; those that fit all that is given. */
export interface WebhookMatch {
  /** The name of the webhook, as its definition has it. @default any */
  readonly webhook?: string;
  /** The path that is called. @default any */
  readonly path?: string;
  /** The name of the manager that serves it. @default any */
  readonly manager?: string;
}

export const webhookMatchOptionNames = optionNames<WebhookMatch>({ webhook: true, path: true, manager: true });

/** What goes wrong with the call of a webhook; exactly one of these. */
export interface WebhookFault {
  /** It answers, but late. */
  readonly delay?: Duration;
  /** It never answers: the API server waits until its timeout. */
  readonly hang?: true;
  /** The connection breaks before an answer, as when the process has just died. */
  readonly cut?: true;
  /** It answers with this instead: an HTTP status, a body that is no review, or both. */
  readonly answer?: { readonly status?: number; readonly body?: string };
}

export const webhookFaultOptionNames = optionNames<WebhookFault>({ delay: true, hang: true, cut: true, answer: true });

interface Rule {
  readonly match: WebhookMatch;
  readonly fault: WebhookFault;
  readonly after: number;
  readonly times: number;
  seen: number;
  hits: number;
}

/** The faults of the webhooks that managers of an environment serve. */
export class WebhookFaults {
  readonly #rules = new Set<Rule>();
  readonly #onFault: (fault: WebhookFault, call: Required<WebhookMatch>) => void;
  /** How many calls there were. */
  calls = 0;

  /** `onFault` is called when a call gets a fault. */
  constructor(onFault: (fault: WebhookFault, call: Required<WebhookMatch>) => void = () => {}) {
    this.#onFault = onFault;
  }

  /** See `FaultScript.addWebhook`. */
  add(match: WebhookMatch, fault: WebhookFault, turns: FaultTurns): FaultRule {
    refuseUnknownOptions('faults.addWebhook', match, webhookMatchOptionNames);
    refuseUnknownOptions('faults.addWebhook: fault', fault, webhookFaultOptionNames);
    refuseUnknownOptions('faults.addWebhook: turns', turns, faultTurnsOptionNames);
    const given = Object.keys(fault);
    if (given.length !== 1) {
      throw new TypeError(
        `faults.addWebhook: give exactly one of delay, hang, cut and answer; got ${given.join(', ')}`,
      );
    }
    if (fault.delay !== undefined) durationMs(fault.delay, 'faults.addWebhook: delay');
    const { after = 0, times = Number.POSITIVE_INFINITY } = turns;
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

  clear(): void {
    this.#rules.clear();
  }

  /** The same webhook, on a manager of this name, with the faults that are set when it is called. */
  around(definition: WebhookDefinition, manager: string): WebhookDefinition {
    const { name, readKinds, targets } = definition;
    return {
      ...{ name, readKinds, targets },
      bind: (parts) =>
        definition.bind(parts).map((route): WebhookRoute => {
          const { path } = route;
          return {
            path,
            answer: async (request) => {
              const fault = this.#next({ webhook: name, path, manager });
              if (fault === undefined) return route.answer(request);
              return faultyAnswer(fault, { route, request, clock: parts.runtime.clock });
            },
          };
        }),
      addTo: (to) => definition.addTo(to),
    };
  }

  #next(call: Required<WebhookMatch>): WebhookFault | undefined {
    this.calls += 1;
    let fault: WebhookFault | undefined;
    for (const rule of this.#rules) {
      const names = Object.keys(rule.match) as (keyof WebhookMatch)[];
      if (!names.every((name) => rule.match[name] === undefined || rule.match[name] === call[name])) continue;
      rule.seen += 1;
      if (fault !== undefined || rule.seen <= rule.after || rule.hits >= rule.times) continue;
      rule.hits += 1;
      fault = rule.fault;
    }
    if (fault !== undefined) this.#onFault(fault, call);
    return fault;
  }
}

async function faultyAnswer(
  { delay, hang, answer }: WebhookFault,
  call: {
    readonly route: WebhookRoute;
    readonly request: Parameters<WebhookRoute['answer']>[0];
    readonly clock: Runtime['clock'];
  },
): Promise<WebhookAnswer> {
  const { route, request, clock } = call;
  const { signal } = request;
  if (delay !== undefined) {
    await clock.sleep(durationMs(delay), { signal });
    return route.answer(request);
  }
  if (hang) await abortable(new Promise<never>(() => {}), signal);
  if (answer !== undefined) return { status: answer.status ?? 200, body: answer.body ?? '' };
  return { status: 200, body: brokenOff() };
}

/** A body that breaks off before its first byte takes the connection with it. */
async function* brokenOff(): AsyncGenerator<string> {
  yield await Promise.reject(new Error('EOF'));
}
