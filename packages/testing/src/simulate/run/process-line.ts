import { Buffer } from 'node:buffer';
import { setMaxListeners } from 'node:events';
import { type Transport, TransportError, type TransportRequest, type TransportSink } from 'riata/rest';
import { isWriteVerb, type RequestReader, type RequestTarget } from '../../requests/request-target.js';
import { type HoldReason, type WatchedEvent, WatchGate } from './watch-gate.js';

/** What becomes of a write. */
export type WriteFate =
  | 'pass'
  | 'slow'
  | 'crash-before'
  | 'crash-after'
  | 'lost-answer'
  | 'conflict'
  | 'error'
  | 'cut-off';

/** Decides the fate of each request of one process, and is notified of answers and events. */
export interface LineObserver {
  onWrite(target: RequestTarget, request: TransportRequest): WriteFate;
  /** The answer to a write has come from the server. */
  onAnswer(request: TransportRequest, code: number): void;
  onEvent(target: RequestTarget, event: WatchedEvent): { readonly hold?: HoldReason };
  onSeen(target: RequestTarget, event: WatchedEvent): void;
  onListed(target: RequestTarget, count: number): void;
}

/** How long a slow write takes to the server. */
const slowMs = 200;

/** What a {@link ProcessLine} is made of. */
export interface ProcessLineParts {
  readonly inner: Transport;
  readonly reader: RequestReader;
  readonly observer: LineObserver;
  readonly delay: (ms: number, fn: () => void) => void;
  /** The API server lags behind: lists show this revision, and watches are held back. @default up to date */
  readonly lagAt?: number;
}

/** The connection of one simulated process to the API server. When the process dies, nothing comes or goes any more. */
export class ProcessLine implements Transport {
  readonly #parts: ProcessLineParts;
  readonly #gates = new Set<WatchGate>();
  readonly #death = new AbortController();
  #lagAt: number | undefined;
  #isDead = false;

  constructor(parts: ProcessLineParts) {
    this.#parts = parts;
    this.#lagAt = parts.lagAt;
    // One listener for each watch, and some processes have many.
    setMaxListeners(0, this.#death.signal);
  }

  /** Watches that hold events back. */
  get holding(): readonly WatchGate[] {
    return [...this.#gates].filter(({ hold }) => hold !== undefined);
  }

  /** The API server has caught up. */
  catchUp(): void {
    this.#lagAt = undefined;
  }

  /** Lets everything arrive that is held back. */
  releaseAll(): void {
    this.catchUp();
    for (const gate of this.holding) {
      if (gate.hold === 'missed') gate.expire();
      else gate.release();
    }
  }

  kill(): void {
    this.#isDead = true;
    this.#death.abort();
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    if (this.#isDead) return;
    const { reader, inner } = this.#parts;
    const target = reader.read(request.method, request.path, request.body);
    if (isWriteVerb(target.verb) && !target.isDryRun) {
      this.#write(target, request, sink);
      return;
    }
    if (target.verb === 'watch') {
      this.#watch(target, request, sink);
      return;
    }
    const asked = target.verb === 'list' && this.#lagAt !== undefined ? atRevision(request, this.#lagAt) : request;
    inner.dispatch(this.#untilDeath(asked), this.#living(sink));
  }

  async close(): Promise<void> {
    await this.#parts.inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #write(target: RequestTarget, request: TransportRequest, sink: TransportSink): void {
    const { observer, inner } = this.#parts;
    const fate = observer.onWrite(target, request);
    if (fate === 'crash-before' || fate === 'cut-off') return;
    if (fate === 'conflict') {
      answer(sink, 409, 'Conflict', conflictMessage(target));
      return;
    }
    if (fate === 'error') {
      answer(sink, 500, 'InternalError', 'a simulated failure');
      return;
    }
    const isLost = fate === 'lost-answer';
    const to = this.#living(sink);
    const noted: TransportSink = {
      onHeaders: (status, headers, flow) => {
        observer.onAnswer(request, status);
        if (!isLost) to.onHeaders(status, headers, flow);
      },
      onData: (chunk) => {
        if (!isLost) to.onData(chunk);
      },
      onEnd: () => {
        if (isLost) to.onError(new TransportError('the answer was lost', { kind: 'reset', requestSent: true }));
        else to.onEnd();
      },
      onError: (error) => to.onError(error),
    };
    if (fate === 'slow') {
      this.#parts.delay(slowMs, () => inner.dispatch(this.#untilDeath(request), noted));
      return;
    }
    // A write that was sent before the crash arrives all the same.
    inner.dispatch(fate === 'crash-after' ? { ...request, signal: undefined } : this.#untilDeath(request), noted);
  }

  #watch(target: RequestTarget, request: TransportRequest, sink: TransportSink): void {
    const isInitial = request.path.includes('sendInitialEvents=true');
    if (this.#lagAt !== undefined && isInitial) {
      // Streaming lists are consistent: only a server that does not know them shows the past.
      answer(sink, 422, 'Invalid', 'sendInitialEvents is forbidden: watch-list is not supported by this server');
      return;
    }
    const { observer, inner } = this.#parts;
    const stop = new AbortController();
    const gate: WatchGate = new WatchGate(
      this.#living(sink, () => this.#gates.delete(gate)),
      {
        onEvent: (event) => (this.#isDead ? {} : observer.onEvent(target, event)),
        onSeen: (event) => observer.onSeen(target, event),
        onListed: (count) => observer.onListed(target, count),
        ...(this.#lagAt !== undefined && { hold: 'stale' }),
      },
      { isInitial, abort: () => stop.abort() },
    );
    this.#gates.add(gate);
    const { signal } = request;
    signal?.addEventListener('abort', () => stop.abort(signal.reason), { once: true });
    this.#death.signal.addEventListener('abort', () => stop.abort(), { once: true });
    inner.dispatch({ ...request, signal: stop.signal }, gate);
  }

  #untilDeath(request: TransportRequest): TransportRequest {
    return { ...request, signal: request.signal ?? this.#death.signal };
  }

  /** Nothing is heard after death. */
  #living(sink: TransportSink, onOver?: () => void): TransportSink {
    return {
      onHeaders: (status, headers, flow) => {
        if (!this.#isDead) sink.onHeaders(status, headers, flow);
      },
      onData: (chunk) => {
        if (!this.#isDead) sink.onData(chunk);
      },
      onEnd: () => {
        onOver?.();
        if (!this.#isDead) sink.onEnd();
      },
      onError: (error) => {
        onOver?.();
        if (!this.#isDead) sink.onError(error);
      },
    };
  }
}

/** The same list as it was at a revision. */
function atRevision(request: TransportRequest, revision: number): TransportRequest {
  const [path = '', asked] = request.path.split('?', 2);
  const query = new URLSearchParams(asked);
  query.delete('limit');
  query.delete('continue');
  query.set('resourceVersion', String(revision));
  query.set('resourceVersionMatch', 'Exact');
  return { ...request, path: `${path}?${query}` };
}

function conflictMessage({ kind, name = '' }: RequestTarget): string {
  return `Operation cannot be fulfilled on ${kind} "${name}": the object has been modified; please apply your changes to the latest version and try again`;
}

/** Answers in place of the server, in a later turn. */
function answer(sink: TransportSink, code: number, reason: string, message: string): void {
  const status = { kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', message, reason, code };
  const flow = { pause() {}, resume() {}, abort() {} };
  queueMicrotask(() => {
    sink.onHeaders(code, { 'content-type': 'application/json' }, flow);
    sink.onData(Buffer.from(JSON.stringify(status)));
    sink.onEnd();
  });
}
