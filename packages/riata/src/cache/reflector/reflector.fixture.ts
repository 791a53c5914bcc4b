import { onTestFinished } from 'vitest';
import type { ListOptions, WatchOptions } from '../../client/options.js';
import { makeKind } from '../../object/kind.js';
import type { KubeList, KubeObject } from '../../object/meta.js';
import { ApiError } from '../../rest/errors/api-error.js';
import { TransportError, type TransportErrorKind } from '../../rest/errors/transport-error.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import type { WatchConsumer } from '../../rest/stream/watch-stream.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { memoryMetrics } from '../../runtime/metrics.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { createStore } from '../store/indexer.js';
import type { ReflectorStore } from '../store/store.js';
import type { ListerWatcher, ListItems, WatchSource } from './list-watch.js';
import { Reflector } from './reflector.js';
import type { ReflectorHealth, ReflectorOptions } from './reflector-options.js';

export const Thing = makeKind<KubeObject>({
  group: 'test.riata.dev',
  version: 'v1',
  kind: 'Thing',
  plural: 'things',
  scope: 'Namespaced',
});

/** `thing('a5')`: name and resourceVersion. */
export function thing(text: string): KubeObject {
  const [, name = '', resourceVersion = ''] = /^(\D+)(\d+)$/.exec(text) ?? [];
  return {
    apiVersion: 'test.riata.dev/v1',
    kind: 'Thing',
    metadata: { namespace: 'shop', name, uid: `uid-${name}`, resourceVersion, creationTimestamp: '' },
  };
}

export const short = (object: KubeObject): string => `${object.metadata.name}${object.metadata.resourceVersion}`;

export const added = (text: string): WatchEvent => ({ type: 'ADDED', object: thing(text) });
export const modified = (text: string): WatchEvent => ({ type: 'MODIFIED', object: thing(text) });
export const deleted = (text: string): WatchEvent => ({ type: 'DELETED', object: thing(text) });
export const bookmark = (version: number, annotations?: Readonly<Record<string, string>>): WatchEvent => ({
  type: 'BOOKMARK',
  object: {
    apiVersion: 'test.riata.dev/v1',
    kind: 'Thing',
    metadata: { resourceVersion: String(version), ...(annotations && { annotations }) },
  },
});
/** The bookmark that ends the initial events of a WatchList. */
export const initialEnd = (version: number, value = 'true'): WatchEvent =>
  bookmark(version, { 'k8s.io/initial-events-end': value });

export function apiError(code: number, reason: string, more: { message?: string; details?: object } = {}): ApiError {
  const { message = reason, details } = more;
  return new ApiError({
    kind: 'Status',
    apiVersion: 'v1',
    metadata: {},
    status: 'Failure',
    message,
    reason,
    code,
    details,
  });
}
export const errorEvent = (error: ApiError): WatchEvent => ({ type: 'ERROR', error, object: error.status });
export const expired = apiError(410, 'Expired', { message: 'too old resource version' });
export const tooLarge = apiError(504, 'Timeout', { details: { causes: [{ reason: 'ResourceVersionTooLarge' }] } });
export const lostConnection = (kind: TransportErrorKind, requestSent = true) =>
  new TransportError(`scripted ${kind}`, { kind, requestSent });

/** A watch whose events a test pushes. Records when it is stopped; events after that are a failure. */
export class ScriptedWatch implements WatchSource<KubeObject> {
  readonly options: WatchOptions;
  isStopped = false;
  #consumer: WatchConsumer<KubeObject> | undefined;
  readonly #early: ((consumer: WatchConsumer<KubeObject>) => void)[] = [];

  constructor(options: WatchOptions) {
    this.options = options;
  }

  /** Also when it was stopped: a source may be slow to notice. */
  push(...events: readonly WatchEvent[]): void {
    for (const event of events) this.#report((consumer) => consumer.onEvent(event));
  }

  end(error?: unknown): void {
    this.#report((consumer) => consumer.onEnd(error));
  }

  stop(): void {
    this.isStopped = true;
  }

  consume(consumer: WatchConsumer<KubeObject>): void {
    this.#consumer = consumer;
    for (const report of this.#early.splice(0)) report(consumer);
  }

  [Symbol.asyncIterator](): AsyncIterator<WatchEvent> {
    throw new Error('a source that can be consumed must not be iterated');
  }

  #report(report: (consumer: WatchConsumer<KubeObject>) => void): void {
    if (this.#consumer === undefined) this.#early.push(report);
    else report(this.#consumer);
  }
}

type Listed = KubeList<KubeObject> | ListItems<KubeObject>;
/** How one request is answered: with this list, this error, this source, or a watch that this was done to. */
export type Step =
  | Listed
  | Error
  | ((watch: ScriptedWatch) => void)
  | { readonly hangs: true }
  | { readonly source: WatchSource<KubeObject> };

export const list = (version: number | string, things: string, token?: string): KubeList<KubeObject> => ({
  apiVersion: 'test.riata.dev/v1',
  kind: 'ThingList',
  metadata: { resourceVersion: String(version), ...(token && { continue: token }) },
  items: things === '' ? [] : things.split(' ').map(thing),
});
/** A watch that begins with these events and stays open. */
export const watch =
  (...events: readonly WatchEvent[]): Step =>
  (opened) =>
    opened.push(...events);
/** A watch that gives these events and ends in good order. */
export const closing =
  (...events: readonly WatchEvent[]): Step =>
  (opened) => {
    opened.push(...events);
    opened.end();
  };
export const hangs: Step = { hangs: true };

interface Setup extends ReflectorOptions<KubeObject> {
  /** Answers in order; after the last, watches stay open and lists hang. */
  readonly steps: readonly Step[];
  /** Runs before every write; if it throws, the store throws. */
  readonly onWrite?: (call: string) => void;
}

/** A Reflector of things on scripted answers and a virtual clock; plain LIST unless `useWatchList` is given. */
export function reflect({ steps, onWrite, ...options }: Setup) {
  const clock = (options.runtime?.clock as VirtualClock | undefined) ?? new VirtualClock();
  const metrics = memoryMetrics();
  const log = memoryLogger();
  const requests: { readonly what: string; readonly at: number; readonly options: ListOptions | WatchOptions }[] = [];
  const watches: ScriptedWatch[] = [];
  const errors: { readonly error: Error; readonly health: ReflectorHealth }[] = [];
  const answer = async (what: string, asked: ListOptions | WatchOptions): Promise<Listed | WatchSource<KubeObject>> => {
    const step = steps[requests.length] ?? (what.startsWith('list') ? hangs : watch());
    requests.push({ what, at: clock.monotonic(), options: asked });
    if (step instanceof Error) throw step;
    if (typeof step === 'object' && 'hangs' in step) return new Promise<never>(() => {});
    if (typeof step !== 'function') return 'source' in step ? step.source : step;
    const opened = new ScriptedWatch(asked as WatchOptions);
    watches.push(opened);
    step(opened);
    return opened;
  };
  const listerWatcher: ListerWatcher<KubeObject> = {
    list: async (asked) => (await answer(listText(asked), asked)) as Listed,
    watch: async (asked) => (await answer(watchText(asked), asked)) as WatchSource<KubeObject>,
  };
  const { store, calls } = noting(onWrite);
  const reflector = new Reflector(listerWatcher, store, {
    useWatchList: false,
    kind: Thing,
    onError: (error, health) => errors.push({ error: error as Error, health }),
    ...options,
    runtime: { clock, metrics, random: seededRandom(1), log, ...options.runtime },
  });
  const stopping = new AbortController();
  const stop = () => stopping.abort(new Error('the test is over'));
  onTestFinished(stop);
  return {
    ...{ clock, metrics, log, requests, watches, errors, calls, reflector, stop },
    /** Names and versions of what the store holds. */
    stored: () => store.inner.list().map(short).sort().join(' '),
    objects: () => store.inner.list(),
    whats: () => requests.map(({ what }) => what),
    /** The newest watch. */
    last: () => watches.at(-1) as ScriptedWatch,
    async start(): Promise<{ readonly done: Promise<void> }> {
      const done = reflector.run({ signal: stopping.signal });
      await clock.settle();
      return { done };
    },
    async push(...events: readonly WatchEvent[]): Promise<void> {
      watches.at(-1)?.push(...events);
      await clock.settle();
    },
    /** Moves time until this many requests were made; fails after an hour. */
    async until(count: number): Promise<void> {
      await clock.settle();
      const from = clock.monotonic();
      while (requests.length < count) {
        if (clock.monotonic() - from > 3_600_000) throw new Error(`an hour, and only ${requests.map((r) => r.what)}`);
        await clock.advance(100);
      }
    },
  };
}

/** A list whose items come one by one. */
export function streamed(answer: KubeList<KubeObject>): ListItems<KubeObject> {
  return {
    async consume(onItem) {
      for (const item of answer.items) onItem(item);
      return { metadata: answer.metadata };
    },
  };
}

function listText({ resourceVersion, resourceVersionMatch, limit, continue: token }: ListOptions): string {
  const version = `list ${JSON.stringify(resourceVersion)}`;
  return [version, resourceVersionMatch, limit && `limit ${limit}`, token && `continue ${token}`]
    .filter(Boolean)
    .join(' ');
}

function watchText({ resourceVersion, sendInitialEvents }: WatchOptions): string {
  return `${sendInitialEvents ? 'watch-list' : 'watch'} ${JSON.stringify(resourceVersion)}`;
}

function noting(onWrite: (call: string) => void = () => {}) {
  const calls: string[] = [];
  const inner = createStore<KubeObject>();
  const noted =
    <A extends readonly unknown[]>(text: (...args: A) => string, write: (...args: A) => void) =>
    (...args: A): void => {
      const call = text(...args);
      onWrite(call);
      calls.push(call);
      write(...args);
    };
  const store: ReflectorStore<KubeObject> & { readonly inner: typeof inner } = {
    inner,
    add: noted((object) => `add ${short(object)}`, inner.add.bind(inner)),
    update: noted((object) => `update ${short(object)}`, inner.update.bind(inner)),
    delete: noted((object) => `delete ${'key' in object ? object.key : short(object)}`, inner.delete.bind(inner)),
    replace: noted(
      (objects: readonly KubeObject[], version: string) => `replace ${version}: ${objects.map(short).join(' ')}`,
      inner.replace.bind(inner),
    ),
    bookmark: noted((version) => `bookmark ${version}`, inner.bookmark.bind(inner)),
    resync: noted(() => 'resync', inner.resync.bind(inner)),
  };
  return { store, calls };
}
