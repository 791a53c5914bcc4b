import { Buffer } from 'node:buffer';
import type { TransportFlow, TransportSink } from 'riata/rest';

const newline = 0x0a;

/** An event of a watch as it arrives. */
export interface WatchedEvent {
  readonly type: string;
  readonly namespace?: string;
  readonly name: string;
  readonly resourceVersion: string;
}

/** Why events of a watch are held back, and until when. */
export type HoldReason = 'reordered' | 'late' | 'missed' | 'stale';

/** What a {@link WatchGate} asks about each event. */
export interface WatchGateParts {
  /** Called with each arriving event, other than initial ones; says whether to hold it and those after it back. */
  readonly onEvent: (event: WatchedEvent) => { readonly hold?: HoldReason };
  /** Called when an event is handed to the process. */
  readonly onSeen: (event: WatchedEvent) => void;
  /** Called when all initial objects have arrived. */
  readonly onListed: (count: number) => void;
  /** Holds from the start. */
  readonly hold?: HoldReason;
}

interface HeldLine {
  readonly bytes: Uint8Array;
  readonly event?: WatchedEvent;
}

/** Stands between the API server and one watch of a process: counts its events, and holds them back on demand. */
export class WatchGate implements TransportSink {
  readonly #sink: TransportSink;
  readonly #parts: WatchGateParts;
  readonly #abort: () => void;
  #rest: Uint8Array | undefined;
  #hold: HoldReason | undefined;
  #held: HeldLine[] = [];
  #initial = 0;
  #isPaused = false;
  #hasEnded = false;
  #isOver = false;
  #isInitial: boolean;

  constructor(sink: TransportSink, parts: WatchGateParts, options: { isInitial: boolean; abort: () => void }) {
    this.#sink = sink;
    this.#parts = parts;
    this.#isInitial = options.isInitial;
    this.#abort = options.abort;
    this.#hold = parts.hold;
  }

  /** Why it holds events back now. */
  get hold(): HoldReason | undefined {
    return this.#isOver ? undefined : this.#hold;
  }

  onHeaders(status: number, headers: Parameters<TransportSink['onHeaders']>[1], flow: TransportFlow): void {
    if (status !== 200) this.#isInitial = false;
    this.#sink.onHeaders(status, headers, {
      pause: () => {
        this.#isPaused = true;
        flow.pause();
      },
      resume: () => {
        this.#isPaused = false;
        if (this.#hold === undefined) this.#flush();
        flow.resume();
      },
      abort: (reason) => flow.abort(reason),
    });
  }

  onData(chunk: Uint8Array): void {
    let bytes: Uint8Array = this.#rest === undefined ? chunk : Buffer.concat([this.#rest, chunk]);
    for (let end = bytes.indexOf(newline); end >= 0; end = bytes.indexOf(newline)) {
      this.#take(bytes.slice(0, end + 1));
      bytes = bytes.subarray(end + 1);
    }
    this.#rest = bytes.length === 0 ? undefined : bytes.slice();
  }

  onEnd(): void {
    this.#hasEnded = true;
    if (this.#held.length === 0) this.#end();
  }

  onError(error: unknown): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onError(error);
  }

  /** Hands over what was held back. */
  release(): void {
    this.#hold = undefined;
    if (!this.#isPaused) this.#flush();
  }

  /** Drops the held events: the process gets 410, as if its resourceVersion had been compacted. */
  expire(): void {
    if (this.#isOver) return;
    this.#hold = undefined;
    this.#held = [];
    const status = {
      ...{ kind: 'Status', apiVersion: 'v1', metadata: {}, status: 'Failure', code: 410, reason: 'Expired' },
      message: 'too old resource version',
    };
    this.#sink.onData(Buffer.from(`${JSON.stringify({ type: 'ERROR', object: status })}\n`));
    this.#end();
    this.#abort();
  }

  #end(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#sink.onEnd();
  }

  #take(bytes: Uint8Array): void {
    if (this.#isOver) return;
    const event = eventIn(bytes);
    const isOrdinary = event !== undefined && event.type !== 'BOOKMARK' && event.type !== 'ERROR';
    if (this.#isInitial) {
      if (isOrdinary) this.#initial += 1;
      else {
        this.#isInitial = false;
        this.#parts.onListed(this.#initial);
      }
      this.#pass({ bytes });
      return;
    }
    if (!isOrdinary) {
      this.#pass({ bytes });
      return;
    }
    const { hold } = this.#parts.onEvent(event);
    this.#hold ??= hold;
    this.#pass({ bytes, event });
  }

  #pass(line: HeldLine): void {
    if (this.#hold !== undefined || this.#isPaused || this.#held.length > 0) this.#held.push(line);
    else this.#give(line);
  }

  #give({ bytes, event }: HeldLine): void {
    if (event !== undefined) this.#parts.onSeen(event);
    this.#sink.onData(bytes);
  }

  #flush(): void {
    while (!this.#isPaused && this.#hold === undefined && !this.#isOver) {
      const line = this.#held.shift();
      if (line === undefined) break;
      this.#give(line);
    }
    if (this.#hasEnded && this.#held.length === 0) this.#end();
  }
}

function eventIn(bytes: Uint8Array): WatchedEvent | undefined {
  try {
    const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
    const { type, object } = JSON.parse(text) as {
      type: string;
      object: { metadata?: { namespace?: string; name?: string; resourceVersion?: string } };
    };
    const { namespace, name = '', resourceVersion = '' } = object.metadata ?? {};
    return { type, ...(namespace && { namespace }), name, resourceVersion };
  } catch {
    return undefined;
  }
}
