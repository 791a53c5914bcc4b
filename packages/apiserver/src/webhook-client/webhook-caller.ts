import { Buffer } from 'node:buffer';
import { formatGoDuration, isJsonObject, type JsonObject } from 'riata/object';
import { link, type Scheduler, systemClock } from 'riata/runtime';
import { mediaTypeProblem } from '../http/body/media-type.js';
import { writeJson } from '../http/body/write-json.js';
import { textOf } from '../resource/metadata.js';
import { OutgoingError, type OutgoingRequests } from './outgoing-requests.js';
import { serverResponseError } from './server-response-error.js';
import type { ServiceReference, ServiceResolver } from './service-resolver.js';

/** How a webhook is reached: `WebhookClientConfig` of admission and of conversion. */
export interface WebhookTarget {
  readonly url?: string | null;
  readonly service?: {
    readonly namespace?: string;
    readonly name?: string;
    readonly path?: string | null;
    readonly port?: number | null;
  } | null;
  /** PEM in base64. @default the authorities that Node trusts */
  readonly caBundle?: string | null;
}

/** What a {@link WebhookCaller} works with. */
export interface WebhookCallerParts {
  readonly outgoing: OutgoingRequests;
  readonly services: ServiceResolver;
  /** What the time of handlers in this process is measured by; who is at the other end of a socket lives in real time. */
  readonly clock: Scheduler;
}

export interface WebhookCallOptions {
  readonly timeoutMs: number;
  /** Breaks the call off. @default never */
  readonly signal?: AbortSignal;
}

/** A webhook could not be called, or did not answer with a success. The message is that of client-go. */
export class WebhookCallError extends Error {
  override readonly name = 'WebhookCallError';
  /** Whether its time was over. */
  readonly timedOut: boolean;

  constructor(message: string, timedOut = false) {
    super(message);
    this.timedOut = timedOut;
  }
}

/** Calls webhooks: over HTTPS, or by a handler in this process. */
export class WebhookCaller {
  readonly #parts: WebhookCallerParts;

  constructor(parts: WebhookCallerParts) {
    this.#parts = parts;
  }

  /** Sends a review and gives the text of the answer. Throws a {@link WebhookCallError}. */
  async call(target: WebhookTarget, review: JsonObject, { timeoutMs, signal }: WebhookCallOptions): Promise<string> {
    const { outgoing, services } = this.#parts;
    const { url, service } = locationOf(target);
    url.searchParams.set('timeout', formatGoDuration(BigInt(timeoutMs) * 1_000_000n));
    const clock = outgoing.isInProcess(url) ? this.#parts.clock : systemClock;
    const late = new AbortController();
    const timer = clock.after(timeoutMs, () => late.abort(overdue), { background: true });
    using scope = link(late.signal, signal);
    try {
      const response = await outgoing.send({
        method: 'POST',
        url,
        address: service && (() => services.resolve(service)),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, */*',
          'user-agent': 'kube-apiserver-admission',
        },
        body: Buffer.from(writeJson(review)),
        tls: { ca: pemOf(target.caBundle) },
        signal: scope.signal,
      });
      const text = await textFrom(response.body);
      const type = String(response.headers['content-type'] ?? '');
      const odd = type === '' ? undefined : mediaTypeProblem(type);
      if (odd !== undefined) throw new WebhookCallError(`Internal error occurred: ${odd}`);
      if (response.status >= 200 && response.status <= 206) {
        if (text !== '') return text;
        throw new WebhookCallError(`0-length response with status code: ${response.status} and content type: ${type}`);
      }
      throw new WebhookCallError(statusMessage(text) ?? serverResponseError(response.status, text, isText(type)));
    } catch (error) {
      if (error instanceof WebhookCallError) throw error;
      signal?.throwIfAborted();
      const isLate = late.signal.aborted;
      const why = isLate ? 'context deadline exceeded' : error instanceof OutgoingError ? error.message : 'EOF';
      throw new WebhookCallError(`Post ${JSON.stringify(shownUrl(url, service))}: ${why}`, isLate);
    } finally {
      timer.cancel();
    }
  }
}

const overdue = new Error('context deadline exceeded');

/** Where a webhook is addressed to. */
function locationOf({ url, service }: WebhookTarget): { readonly url: URL; readonly service?: ServiceReference } {
  if (!isJsonObject(service)) return { url: new URL(textOf(url)) };
  const reference = {
    namespace: textOf(service.namespace),
    name: textOf(service.name),
    port: Number(service.port ?? 443),
  };
  return { url: serviceUrl(reference, textOf(service.path)), service: reference };
}

/** How a Service is addressed, whatever it is resolved to. */
export function serviceUrl({ namespace, name, port }: ServiceReference, path: string): URL {
  return new URL(`https://${name}.${namespace}.svc:${port}${path.startsWith('/') ? '' : '/'}${path}`);
}

/** The URL as Go's client shows it: the port of a Service is always there. */
function shownUrl(url: URL, service: ServiceReference | undefined): string {
  return service === undefined || url.port !== ''
    ? url.href
    : url.href.replace(url.host, `${url.host}:${service.port}`);
}

/** A bundle of certificates as PEM; blanks count as none. */
export function pemOf(caBundle: string | null | undefined): string | undefined {
  const text = Buffer.from(caBundle ?? '', 'base64').toString();
  return text.trim() === '' ? undefined : text;
}

async function textFrom(body: AsyncIterable<Uint8Array>): Promise<string> {
  const pieces: Uint8Array[] = [];
  for await (const piece of body) pieces.push(piece);
  return Buffer.concat(pieces).toString();
}

/** The message of a Status that a webhook answers with. */
function statusMessage(text: string): string | undefined {
  try {
    const answer: unknown = JSON.parse(text);
    if (!isJsonObject(answer) || answer.kind !== 'Status' || answer.apiVersion !== 'v1') return undefined;
    return answer.status === 'Success' ? undefined : textOf(answer.message) || 'unknown';
  } catch {
    return undefined;
  }
}

function isText(contentType: string): boolean {
  const [mediaType = ''] = contentType.toLowerCase().split(';');
  return mediaType.trim() === '' || mediaType.trim().startsWith('text/');
}
