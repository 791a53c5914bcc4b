import type { Pod } from '../../kinds/generated/groups/core/v1.js';
import { isNotFound } from '../../rest/errors/error-guards.js';
import type { ByteStream } from '../../rest/stream/byte-stream.js';
import { link } from '../../runtime/signals.js';
import type { Scheduler } from '../../runtime/time/clock.js';
import type { PodLogOptions } from '../operation/pod-log-operation.js';
import { type CallOptions, callOptionNames, type Selection } from '../options.js';
import { lines } from '../watch/lines.js';
import type { RetryingWatchEvent } from '../watch/retrying-watch.js';

/** One line of the log of a container. */
export interface LogLine {
  readonly namespace: string;
  readonly pod: string;
  readonly container: string;
  /** When the node has got it, RFC 3339. */
  readonly time: string;
  readonly text: string;
}

/** Options of `client.logs` for several Pods. */
export interface MergedLogOptions extends CallOptions {
  /** Go on with what containers write from now on, with their restarts and with new Pods. @default false */
  readonly follow?: boolean;
  /** Only containers of this name. @default all but init containers */
  readonly container?: string;
  /** As many lines of each container that runs already. @default all */
  readonly tailLines?: number;
  readonly sinceSeconds?: number;
  /** Called when a log could not be read; if it is followed, that is tried again. @default nothing */
  readonly onError?: (error: unknown) => void;
}

export const mergedLogOptionNames = callOptionNames.and<MergedLogOptions>({
  follow: true,
  container: true,
  tailLines: true,
  sinceSeconds: true,
  onError: true,
});

/** What logs are read with. */
export interface LogSource {
  readonly clock: Scheduler;
  list(selection: Selection, signal: AbortSignal): Promise<readonly Pod[]>;
  watch(selection: Selection, signal: AbortSignal): AsyncIterable<RetryingWatchEvent<Pod>>;
  open(pod: { readonly namespace: string; readonly name: string }, options: PodLogOptions): Promise<ByteStream>;
}

/** Lines that wait for the reader before logs are no longer read. */
const maxWaiting = 1_000;
/** Wait before a log that ended or failed is opened again. */
const againMs = 1_000;

/**
 * The logs of several Pods as one stream of lines, to be read once; those of one container are in order. A slow reader
 * slows all of them down. Leaving the loop or disposing it ends the requests.
 */
export class MergedLogs implements AsyncIterableIterator<LogLine>, AsyncDisposable {
  readonly #source: LogSource;
  readonly #selection: Selection;
  readonly #options: MergedLogOptions;
  readonly #scope: ReturnType<typeof link>;
  /** Containers whose logs are read, by the Pod's UID. */
  readonly #pods = new Map<string, { isGone: boolean; readonly containers: Set<string> }>();
  readonly #lines: LogLine[] = [];
  #running = 1;
  /** Pods that come from here on are read from their beginning. */
  #isSynced = false;
  #end: { readonly error?: unknown } | undefined;
  #wakeReader: () => void = () => {};
  #wakeWriters: (() => void)[] = [];

  constructor(source: LogSource, selection: Selection, options: MergedLogOptions) {
    this.#source = source;
    this.#selection = selection;
    this.#options = options;
    this.#scope = link(options.signal);
    this.#find().then(
      () => this.#left(),
      (error) => this.#finish({ error }),
    );
  }

  async next(): Promise<IteratorResult<LogLine>> {
    while (true) {
      const line = this.#lines.shift();
      if (line !== undefined) {
        if (this.#lines.length < maxWaiting) for (const wake of this.#wakeWriters.splice(0)) wake();
        return { value: line, done: false };
      }
      this.#options.signal?.throwIfAborted();
      if (this.#end !== undefined) {
        const { error } = this.#end;
        this.#end = {};
        if (error !== undefined) throw error;
        return { value: undefined, done: true };
      }
      await new Promise<void>((resolve) => {
        this.#wakeReader = resolve;
      });
    }
  }

  async return(): Promise<IteratorResult<LogLine>> {
    this.#finish({});
    this.#lines.length = 0;
    return { value: undefined, done: true };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.return();
  }

  [Symbol.asyncIterator](): this {
    return this;
  }

  /** Finds Pods; while logs are followed, as long as they are read. */
  async #find(): Promise<void> {
    const { signal } = this.#scope;
    if (!this.#options.follow) {
      for (const pod of await this.#source.list(this.#selection, signal)) this.#add(pod);
      return;
    }
    for await (const event of this.#source.watch(this.#selection, signal)) {
      if (event.type === 'ADDED' || event.type === 'MODIFIED') this.#add(event.object);
      else if (event.type === 'DELETED') this.#remove(event.object);
      else if (event.type === 'SYNCED') this.#isSynced = true;
    }
  }

  #add(pod: Pod): void {
    const { uid = '', namespace = '', name } = pod.metadata;
    const known = this.#pods.get(uid) ?? { isGone: false, containers: new Set<string>() };
    this.#pods.set(uid, known);
    known.isGone = pod.status?.phase === 'Succeeded' || pod.status?.phase === 'Failed';
    for (const { name: container, state, restartCount } of pod.status?.containerStatuses ?? []) {
      const isChosen = this.#options.container === undefined || this.#options.container === container;
      const hasStarted = state?.running !== undefined || state?.terminated !== undefined || restartCount > 0;
      if (!isChosen || !hasStarted || known.containers.has(container)) continue;
      known.containers.add(container);
      this.#running += 1;
      void this.#read({ namespace, name, container }, known).finally(() => this.#left());
    }
  }

  #remove(pod: Pod): void {
    const known = this.#pods.get(pod.metadata.uid ?? '');
    if (known !== undefined) known.isGone = true;
    this.#pods.delete(pod.metadata.uid ?? '');
  }

  /** Reads the log of one container, and while it is followed those of its later runs. */
  async #read(
    { namespace, name, container }: { readonly namespace: string; readonly name: string; readonly container: string },
    pod: { readonly isGone: boolean },
  ): Promise<void> {
    const { follow = false, tailLines, sinceSeconds, onError } = this.#options;
    const { signal } = this.#scope;
    const limits = {
      ...(tailLines !== undefined && { tailLines }),
      ...(sinceSeconds !== undefined && { sinceSeconds }),
    };
    const first = this.#isSynced ? {} : limits;
    /** The time of the last line, and how many lines had that time: a log that is opened again begins with them. */
    const last = { time: '', count: 0 };
    while (!signal.aborted) {
      const wasGone = pod.isGone;
      const from = last.time === '' ? first : { sinceTime: last.time };
      try {
        const options = { container, follow, timestamps: true, signal, ...from };
        await this.#pass(
          await this.#source.open({ namespace, name }, options),
          { namespace, pod: name, container },
          last,
        );
      } catch (error) {
        if (signal.aborted || isNotFound(error)) return;
        onError?.(error);
      }
      if (!follow || wasGone) return;
      await this.#source.clock.sleep(againMs, { signal, background: true }).catch(() => {});
    }
  }

  async #pass(
    stream: ByteStream,
    place: Pick<LogLine, 'namespace' | 'pod' | 'container'>,
    last: { time: string; count: number },
  ): Promise<void> {
    const until = { ...last };
    let repeated = 0;
    for await (const line of lines(stream)) {
      const space = line.indexOf(' ');
      const [time, text] = space < 0 ? [line, ''] : [line.slice(0, space), line.slice(space + 1)];
      if (time < until.time) continue;
      if (time === until.time) {
        repeated += 1;
        if (repeated <= until.count) continue;
      }
      if (time === last.time) last.count += 1;
      else Object.assign(last, { time, count: 1 });
      if (this.#end !== undefined) return;
      this.#lines.push({ ...place, time, text });
      this.#wakeReader();
      if (this.#lines.length >= maxWaiting) await new Promise<void>((resolve) => this.#wakeWriters.push(resolve));
    }
  }

  #left(): void {
    this.#running -= 1;
    if (this.#running === 0) this.#finish({});
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    this.#scope.abort(new Error('the logs are no longer read'));
    this.#scope[Symbol.dispose]();
    this.#wakeReader();
    for (const wake of this.#wakeWriters.splice(0)) wake();
  }
}
