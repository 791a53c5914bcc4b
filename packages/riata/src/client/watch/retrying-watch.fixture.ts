import { expect, onTestFinished } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import type { TransportErrorKind } from '../../rest/errors/transport-error.js';
import {
  type ScriptedAnswer,
  type ScriptedRequest,
  scriptedFailure,
  scriptedTransport,
} from '../../rest/transport/scripted-transport.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { createClient } from '../create-client.js';
import type { RetryingWatchEvent, RetryingWatchOptions } from './retrying-watch.js';

export type Step = ScriptedAnswer | ((request: ScriptedRequest) => ScriptedAnswer | Promise<ScriptedAnswer>);

export const object = (name: string, resourceVersion: number) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { namespace: 'shop', name, uid: name, resourceVersion: String(resourceVersion) },
});
export const event = (type: string, name: string, rv: number) =>
  `${JSON.stringify({ type, object: object(name, rv) })}\n`;
export const bookmark = (rv: number) => event('BOOKMARK', '', rv);
export const status = (code: number, reason: string, details?: object) => ({
  kind: 'Status',
  apiVersion: 'v1',
  metadata: {},
  status: 'Failure',
  message: reason,
  code,
  reason,
  ...(details && { details }),
});
export const errorEvent = (code: number, reason: string) =>
  `${JSON.stringify({ type: 'ERROR', object: status(code, reason) })}\n`;
export const refused = (code: number, reason: string, details?: object): Step => ({
  status: code,
  body: status(code, reason, details),
});
export const fails =
  (kind: TransportErrorKind): Step =>
  () => {
    throw scriptedFailure(kind);
  };
export const list = (rv: number, ...names: string[]): Step => ({
  body: {
    apiVersion: 'v1',
    kind: 'ConfigMapList',
    metadata: { resourceVersion: String(rv) },
    items: names.map((name) => object(name, rv)),
  },
});
/** A watch that sends this and ends; with an error last, breaks off; with `open`, stays open. */
export const watch =
  (...pieces: readonly (string | Error | typeof open | number)[]): Step =>
  ({ signal }) => ({
    body: (async function* () {
      for (const piece of pieces) {
        if (piece === open) await new Promise((resolve) => signal.addEventListener('abort', resolve));
        else if (typeof piece === 'number') await clocks.get(signal)?.sleep(piece);
        else if (typeof piece === 'object') throw piece;
        else yield piece as string;
      }
    })(),
  });
export const open: unique symbol = Symbol('open');
const clocks = new WeakMap<AbortSignal, VirtualClock>();

interface Setup extends RetryingWatchOptions {
  /** Answers to lists and watches, in order; after the last, watches stay open. */
  readonly steps: readonly Step[];
}

/** A retrying watch on scripted answers and a virtual clock. */
export function start({ steps, ...options }: Setup) {
  const clock = new VirtualClock();
  const requests: { readonly at: number; readonly what: string; readonly url: URL }[] = [];
  const transport = scriptedTransport(
    (request) => {
      clocks.set(request.signal, clock);
      const rv = request.url.searchParams.get('resourceVersion');
      const what = request.url.searchParams.get('watch') === 'true' ? `watch ${rv}` : 'list';
      const step = steps[requests.length] ?? watch(open);
      requests.push({ at: clock.monotonic(), what, url: request.url });
      return typeof step === 'function' ? step(request) : step;
    },
    { clock },
  );
  const runtime = { clock, random: seededRandom(1), log: silentLogger };
  const client = createClient({ server: 'http://a' }, { transport, runtime });
  const retries: { readonly error: unknown; readonly delayMs: number }[] = [];
  const watching = client.retryingWatch(ConfigMap, {
    onRetry: (error, delayMs) => retries.push({ error, delayMs }),
    ...options,
  });
  onTestFinished(() => watching.stop());
  const events: string[] = [];
  const iterate = async () => {
    for await (const e of watching) events.push(short(e));
  };
  return {
    clock,
    client,
    transport,
    watching,
    events,
    retries,
    requests,
    whats: () => requests.map((r) => r.what),
    /** Starts to read; says how it ended, once it did. */
    read() {
      const outcome: { ended?: true; error?: unknown } = {};
      iterate().then(
        () => Object.assign(outcome, { ended: true }),
        (error: unknown) => Object.assign(outcome, { error }),
      );
      return outcome;
    },
  };
}

/** An event in a few words. */
export function short(e: RetryingWatchEvent<ConfigMap>): string {
  if (e.type === 'RESET') return 'RESET';
  if (e.type === 'SYNCED') return `SYNCED ${e.resourceVersion}`;
  const { name, resourceVersion } = e.object.metadata as { name?: string; resourceVersion: string };
  return e.type === 'BOOKMARK' ? `BOOKMARK ${resourceVersion}` : `${e.type} ${name}`;
}

/** Each wait is the base plus up to as much again. */
export function expectBackoff(retries: readonly { readonly delayMs: number }[], bases: readonly number[]) {
  expect(retries.length).toBe(bases.length);
  for (const [i, base] of bases.entries()) {
    expect(retries[i]?.delayMs).toBeGreaterThanOrEqual(base);
    expect(retries[i]?.delayMs).toBeLessThan(base * 2);
  }
}
