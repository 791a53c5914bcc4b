import { optionNames, type Random, refuseUnknownOptions } from 'riata/runtime';

/** A request on its way from a client to the server, as fault hooks see it. */
export interface FaultRequest {
  /** The client's name, as given to `connect`. */
  readonly client: string;
  /** Counts the client's requests, from 1; one that is tried again counts again. */
  readonly number: number;
  readonly method: string;
  /** As sent, without the query. */
  readonly path: string;
  /** E.g. `query.get('resourceVersion')`. */
  readonly query: URLSearchParams;
  /** Whether it is a watch. */
  readonly watch: boolean;
}

/** An event of a watch on its way to the client. */
export interface FaultEvent {
  /** Counts the events of this watch, from 1. */
  readonly number: number;
  /** `ADDED`, `MODIFIED`, `DELETED`, `BOOKMARK` or `ERROR`. */
  readonly type: string;
  /** The object as it was sent. Read when asked for. */
  readonly object: unknown;
}

/** An answer in place of the server's. */
export interface FaultAnswer {
  /** E.g. 429, 500, 503. */
  readonly code: number;
  /** `Retry-After`. @default none */
  readonly retryAfterSeconds?: number;
  /** The reason in the Status, e.g. `TooManyRequests`. @default none */
  readonly reason?: string;
  /** @default one that says that it is a fault made on purpose */
  readonly message?: string;
  /** Whether the server does what was asked for all the same, as behind a gateway that lost patience. @default false */
  readonly handled?: boolean;
}

/**
 * Where a connection breaks: before the `request` has reached the server; before the `answer`, when the server has done
 * what was asked for; or in the answer, after so many bytes of its body or so many events of a watch.
 */
export type FaultPoint = 'request' | 'answer' | { readonly afterBytes: number } | { readonly afterEvents: number };

/** What becomes of a request and its answer. All times are on the server's clock. */
export interface Fault {
  /** How long the request takes to the server. @default 0 */
  readonly delayMs?: number;
  /** How long the answer takes back; of a watch, its head. @default 0 */
  readonly answerDelayMs?: number;
  /**
   * How long the events of a watch take to the client, each from the moment the server sent it. The order within a watch
   * stays, as on any connection: an event does not come before those sent earlier. But two clients, or two watches of
   * one client, see things in another order than they happened. @default 0
   */
  readonly eventDelayMs?: number | ((event: FaultEvent) => number);
  /** The connection is refused. */
  readonly refuse?: boolean;
  /** Answered in place of the server. */
  readonly fail?: FaultAnswer;
  /** The connection is reset here. */
  readonly cut?: FaultPoint;
  /** From here on nothing comes any more, and nothing is closed: a half-open connection. */
  readonly stall?: FaultPoint;
}

/** Decides what becomes of a client's requests, in the order in which they are sent. Undefined: all goes well. */
export type Faults = (request: FaultRequest) => Fault | undefined;

/** How often what goes wrong, from 0 (never, the default) to 1 (always). */
export interface FaultRates {
  /** Answered with 500, 503, or 429 and a `Retry-After` of a second. */
  readonly fail?: number;
  /** Reset before the server got the request, or after it has done what was asked for. */
  readonly cut?: number;
  /** Watches that are reset after some of their events: at most ten, or in the middle of one. */
  readonly cutWatch?: number;
  /** Watches that go silent after at most ten events. A client notices only by a limit of its own. */
  readonly stallWatch?: number;
  /** The longest time that a request, its answer, and each event of a watch take. Not a rate. @default 0 */
  readonly delayMs?: number;
}

export const faultRatesOptionNames = optionNames<FaultRates>({
  fail: true,
  cut: true,
  cutWatch: true,
  stallWatch: true,
  delayMs: true,
});

/**
 * Faults by chance: the same seed makes the same of the same requests.
 *
 * @example
 * const faults = randomFaults(seededRandom(7), { fail: 0.05, cut: 0.05, cutWatch: 0.5, delayMs: 200 });
 * const client = createClient(server.connect({ name: 'unlucky', faults }));
 */
export function randomFaults(random: Random, rates: FaultRates): Faults {
  refuseUnknownOptions('randomFaults', rates, faultRatesOptionNames);
  const happens = (rate = 0) => random.next() < rate;
  const { delayMs = 0 } = rates;
  const delay = () => (delayMs === 0 ? 0 : random.int(0, delayMs));
  return ({ watch }) => {
    const late = {
      delayMs: delay(),
      answerDelayMs: delay(),
      ...(watch && delayMs > 0 ? { eventDelayMs: delay } : {}),
    };
    if (happens(rates.fail)) return { ...late, fail: random.pick(failures) };
    if (happens(rates.cut)) return { ...late, cut: random.pick(['request', 'answer'] as const) };
    if (watch && happens(rates.cutWatch)) {
      const events = random.int(0, 10);
      return { ...late, cut: random.next() < 0.5 ? { afterEvents: events } : { afterBytes: random.int(1, 2000) } };
    }
    if (watch && happens(rates.stallWatch)) return { ...late, stall: { afterEvents: random.int(0, 10) } };
    return late;
  };
}

const failures: readonly FaultAnswer[] = [
  { code: 500, reason: 'InternalError' },
  { code: 503, reason: 'ServiceUnavailable' },
  { code: 429, reason: 'TooManyRequests', retryAfterSeconds: 1 },
];
