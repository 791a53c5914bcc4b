import { Buffer } from 'node:buffer';
import type { Transport, TransportRequest, TransportSink } from 'riata/rest';
import { isWriteVerb, type RequestReader, type RequestTarget } from '../../requests/request-target.js';

/** A write of the story. */
export interface StoryStep {
  readonly target: RequestTarget;
  readonly contentType: string;
  readonly body: string;
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
  /** Whether a webhook was made to fail just now, so that the write has to be sent again, as a user would. */
  readonly mayRepeat: () => boolean;
}

/** The connection of the story's client: numbers its writes, and can stop the story early. */
export class StoryLine implements Transport {
  readonly #parts: StoryLineParts;
  readonly steps: StoryStep[] = [];
  #most: number;
  #stop: () => void = () => {};
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
    const step: StoryStep = { target, contentType: String(headers['content-type'] ?? ''), body: text };
    this.steps.push(step);
    onStep(step, this.steps.length);
    this.#send(request, sink, step);
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
    const { inner, onAnswer, mayRepeat } = this.#parts;
    const number = this.steps.length;
    const parts: Uint8Array[] = [];
    let code = 0;
    let isRepeated = false;
    inner.dispatch(request, {
      onHeaders: (status, headers, flow) => {
        code = status;
        isRepeated = status >= 500 && mayRepeat();
        if (!isRepeated) sink.onHeaders(status, headers, flow);
      },
      onData: (chunk) => {
        if (isRepeated) return;
        if (code === 201) parts.push(chunk.slice());
        sink.onData(chunk);
      },
      onEnd: () => {
        if (isRepeated) return this.#send(request, sink, step);
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
