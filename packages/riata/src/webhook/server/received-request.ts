import { parseGoDuration } from '../../object/go-duration.js';
import { AbortSource } from '../../runtime/signals.js';
import { Timeout } from '../../runtime/stop-reasons.js';
import type { Scheduler, Timer } from '../../runtime/time/clock.js';
import type { WebhookRequest } from '../webhook-route.js';

/** A request as it came in. Most are answered before anything asks for their signal, so it is made when it is. */
export class ReceivedRequest implements WebhookRequest, Disposable {
  readonly path: string;
  readonly query: URLSearchParams;
  readonly contentType: string | undefined;
  readonly body: Uint8Array;
  readonly #clock: Scheduler;
  readonly #server: AbortSignal;
  readonly #receivedAt: number;
  readonly #stop = new AbortSource();
  #timer: Timer | undefined;
  #isLinked = false;

  /** `target` is the path with its query; `server` aborts when requests in flight may not take any longer. */
  constructor(
    target: string,
    { contentType, body }: Pick<WebhookRequest, 'contentType' | 'body'>,
    { clock, server }: { readonly clock: Scheduler; readonly server: AbortSignal },
  ) {
    const at = target.indexOf('?');
    this.path = at === -1 ? target : target.slice(0, at);
    this.query = new URLSearchParams(at === -1 ? '' : target.slice(at + 1));
    this.contentType = contentType;
    this.body = body;
    this.#clock = clock;
    this.#server = server;
    this.#receivedAt = clock.monotonic();
  }

  get signal(): AbortSignal {
    if (!this.#isLinked) {
      this.#isLinked = true;
      this.#stop.follow(this.#server);
      const timeoutMs = timeoutOf(this.query);
      if (timeoutMs !== undefined && !this.#stop.aborted) {
        const expire = () => this.#stop.abort(new Timeout(`the request took longer than ${timeoutMs} ms`));
        const leftMs = this.#receivedAt + timeoutMs - this.#clock.monotonic();
        this.#timer = this.#clock.after(leftMs, expire, { background: true });
      }
    }
    return this.#stop.signal;
  }

  /** Aborts its signal. */
  abort(reason: unknown): void {
    this.#stop.abort(reason);
  }

  /** It is answered: nothing aborts its signal any more. */
  [Symbol.dispose](): void {
    this.#timer?.cancel();
    this.#stop.unfollow();
  }
}

/** The time that an API server gives a webhook, by its `timeout` parameter. */
function timeoutOf(query: URLSearchParams): number | undefined {
  const text = query.get('timeout');
  if (text === null) return undefined;
  try {
    const ms = Number(parseGoDuration(text) / 1_000_000n);
    return ms > 0 ? ms : undefined;
  } catch {
    return undefined;
  }
}
