import { Buffer } from 'node:buffer';
import type { Transport, TransportRequest, TransportSink } from 'riata/rest';
import { isWriteVerb, type RequestReader, type RequestTarget } from '../../requests/request-target.js';

/** A write of the story. */
export interface StoryStep {
  readonly target: RequestTarget;
  readonly contentType: string;
  readonly body: string;
  /** Of an apply: whether fields of others are taken over. */
  readonly isForced: boolean;
  code?: number;
}

/** What a {@link StoryLine} is made of. */
export interface StoryLineParts {
  readonly inner: Transport;
  readonly reader: RequestReader;
  /** The story stops before the next write. @default never */
  readonly most?: number;
  /** Called before a write is sent, with its number, counted from 1. */
  readonly onStep: (step: StoryStep, number: number) => void;
  readonly onAnswer: (step: StoryStep, number: number, created: unknown) => void;
  /**
   * When a write that fails with 500 or more is sent again, as a user would: at once, as a webhook was made to fail, or by
   * {@link StoryLine.sendAgain}, as no process runs that serves the webhook.
   */
  readonly repeats: () => 'never' | 'at once' | 'when up';
}

/** The connection of the story's client: numbers its writes, and can stop the story early. */
export class StoryLine implements Transport {
  readonly #parts: StoryLineParts;
  readonly steps: StoryStep[] = [];
  #most: number;
  #stop: () => void = () => {};
  /** Writes that wait for a process. */
  #refused: (() => void)[] = [];
  #onRefused: () => void = () => {};
  /** Resolves when the story is stopped early. */
  readonly stopped: Promise<'stopped'>;

  constructor(parts: StoryLineParts) {
    this.#parts = parts;
    this.#most = parts.most ?? Number.POSITIVE_INFINITY;
    this.stopped = new Promise((resolve) => {
      this.#stop = () => resolve('stopped');
    });
  }

  dispatch(request: TransportRequest, sink: TransportSink): void {
    const { reader, inner, onStep } = this.#parts;
    const target = reader.read(request.method, request.path, request.body);
    if (!isWriteVerb(target.verb) || target.isDryRun) {
      inner.dispatch(request, sink);
      return;
    }
    if (this.steps.length >= this.#most) {
      this.#stop();
      return;
    }
    const { body = '', headers } = request;
    const text = typeof body === 'string' ? body : Buffer.from(body).toString('utf8');
    const isForced = /[?&]force=true\b/.test(request.path);
    const step: StoryStep = { target, contentType: String(headers['content-type'] ?? ''), body: text, isForced };
    this.steps.push(step);
    onStep(step, this.steps.length);
    this.#send(request, sink, step);
  }

  /** Resolves when a write waits for {@link sendAgain}. */
  get refused(): Promise<'refused'> {
    if (this.#refused.length > 0) return Promise.resolve('refused');
    return new Promise((resolve) => {
      this.#onRefused = () => resolve('refused');
    });
  }

  /** Sends the writes that waited for a process. */
  sendAgain(): void {
    const waiting = this.#refused;
    this.#refused = [];
    for (const send of waiting) send();
  }

  /** The story is over: what follows is not stopped. */
  end(): void {
    this.#most = Number.POSITIVE_INFINITY;
  }

  async close(): Promise<void> {
    await this.#parts.inner.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  #send(request: TransportRequest, sink: TransportSink, step: StoryStep): void {
    const { inner, onAnswer, repeats } = this.#parts;
    const number = this.steps.length;
    const parts: Uint8Array[] = [];
    let code = 0;
    let again: ReturnType<typeof repeats> = 'never';
    inner.dispatch(request, {
      onHeaders: (status, headers, flow) => {
        code = status;
        again = status >= 500 ? repeats() : 'never';
        if (again === 'never') sink.onHeaders(status, headers, flow);
      },
      onData: (chunk) => {
        if (again !== 'never') return;
        if (code === 201) parts.push(chunk.slice());
        sink.onData(chunk);
      },
      onEnd: () => {
        if (again === 'at once') return this.#send(request, sink, step);
        if (again === 'when up') {
          this.#refused.push(() => this.#send(request, sink, step));
          this.#onRefused();
          return;
        }
        step.code = code;
        onAnswer(step, number, code === 201 ? readJson(parts) : undefined);
        sink.onEnd();
      },
      onError: (error) => sink.onError(error),
    });
  }
}

function readJson(parts: readonly Uint8Array[]): unknown {
  try {
    return JSON.parse(Buffer.concat(parts).toString('utf8'));
  } catch {
    return undefined;
  }
}
