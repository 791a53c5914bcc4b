import type { GroupVersion } from '../../object/gvk.js';
import type { StatusDetails } from '../../object/meta.js';
import type { Runtime } from '../../runtime/runtime.js';
import { type BackoffManager, isNoBackoff } from '../chain/backoff-manager.js';
import type { OwnSecrets } from '../chain/own-secrets.js';
import type { RateLimiter } from '../chain/rate-limiter.js';
import { codeLabel, type RestMetrics } from '../chain/rest-metrics.js';
import { type ApiRequest, type ApiResponse, readBeginning, readBody, type Send } from '../chain/send.js';
import type { ServerContact } from '../chain/server-contact.js';
import { type WarningHandler, withWarnings } from '../chain/warnings.js';
import { withDeadline } from '../chain/with-deadline.js';
import { type Throttle, withRateLimit } from '../chain/with-rate-limit.js';
import { retryNoErrors, retryReads, retryWatches, withRetry } from '../chain/with-retry.js';
import type { Credentials } from '../config/rest-config.js';
import { type ApiError, apiErrorFrom } from '../errors/api-error.js';
import { describeRequest } from '../errors/redact.js';
import { TransportError } from '../errors/transport-error.js';
import type { Transport } from '../transport/transport.js';
import type { SentHeaders } from './sent-headers.js';
import { type ReadAnswer, WholeExchange, type WholeSender } from './whole-exchange.js';

/** What all requests of one client share. */
export interface RequestContext {
  /** Scheme, host and port. */
  readonly origin: string;
  /** The server's path prefix, `''` if it has none. */
  readonly basePath: string;
  /** Path of the API group and version below it. */
  readonly apiPath: string;
  readonly groupVersion: GroupVersion;
  /** Sends once, with credentials. */
  readonly send: Send;
  /** What `send` stands on, and what it puts to a request, for those who can do without waiting. */
  readonly transport: Transport;
  readonly credentials: Credentials | undefined;
  readonly sentHeaders: SentHeaders;
  readonly contact: ServerContact;
  readonly secrets: OwnSecrets;
  readonly runtime: Runtime;
  readonly metrics: RestMetrics;
  readonly host: string;
  readonly throttle: Throttle;
  readonly rateLimiter: RateLimiter | undefined;
  readonly backoff: BackoffManager;
  readonly warningHandler: WarningHandler;
  readonly timeoutMs: number;
  /** The largest object, and the largest answer that is read as a whole. */
  readonly maxObjectBytes: number;
  /** Aborts when the client is closed: nobody has to wait any more. */
  readonly closing: AbortSignal;
}

/**
 * How the answer is taken: `whole` all at once, within the timeout; `stream` bit by bit; `watch` bit by bit and without
 * end. A watch does not wait for the rate limiter; only whole answers have a deadline on this side.
 */
export type PerformMode = 'whole' | 'stream' | 'watch';

/** What one request brings along. */
export interface RequestPlan {
  readonly request: ApiRequest;
  readonly maxRetries: number;
  readonly timeoutMs: number;
  readonly rateLimiter: RateLimiter | undefined;
  readonly backoff: BackoffManager;
  readonly warningHandler: WarningHandler;
  /** What it is about, for errors that come without a Status. */
  readonly details: StatusDetails;
}

const retryable = { whole: retryReads, stream: retryNoErrors, watch: retryWatches };

/** More of a refusal than this is not read. */
const maxErrorBytes = 1_048_576;

/**
 * Sends a request, and gives what `read` makes of the whole answer. Where nothing stands between the request and the
 * transport (no wait for a rate limiter, for credentials, no deadline) it is sent at once, and its success comes straight
 * back; whatever else comes of it is for the chain.
 */
export function performWhole<T>(context: RequestContext, plan: RequestPlan, read: ReadAnswer<T>): Promise<T> {
  const { request } = plan;
  const { credentials } = context;
  const hand = credentials === undefined ? noCredentials : credentials.atHand?.();
  const isWaiting = plan.rateLimiter !== undefined || Number.isFinite(plan.timeoutMs) || !isNoBackoff(plan.backoff);
  if (hand === undefined || isWaiting) return performSlowly(context, plan, read);
  if (request.signal?.aborted) return Promise.reject(request.signal.reason);
  return new Promise((resolve, reject) => {
    const exchange = new WholeExchange<T>(
      new DirectSender<T>(context, plan, hand.authorization, read, resolve, reject),
    );
    try {
      request.beforeSend?.();
    } catch (error) {
      exchange.onError(error);
      return;
    }
    const { method, path, body, signal, headersTimeoutMs, idleTimeoutMs } = request;
    const headers = context.sentHeaders.of(request.headers, hand.authorization);
    context.transport.dispatch({ method, path, headers, body, signal, headersTimeoutMs, idleTimeoutMs }, exchange);
  });
}

/** Who waits for a request that was sent without the chain. */
class DirectSender<T> implements WholeSender<T> {
  readonly #context: RequestContext;
  readonly #plan: RequestPlan;
  readonly #authorization: string | undefined;
  readonly read: ReadAnswer<T>;
  readonly resolve: (value: T) => void;
  readonly reject: (error: unknown) => void;

  constructor(
    context: RequestContext,
    plan: RequestPlan,
    authorization: string | undefined,
    read: ReadAnswer<T>,
    resolve: (value: T) => void,
    reject: (error: unknown) => void,
  ) {
    this.#context = context;
    this.#plan = plan;
    this.#authorization = authorization;
    this.read = read;
    this.resolve = resolve;
    this.reject = reject;
  }

  get request(): ApiRequest {
    return this.#plan.request;
  }

  get maxBytes(): number {
    return this.#context.maxObjectBytes;
  }

  tooLarge(): unknown {
    return tooLarge(this.#context, this.request);
  }

  accepted(status: number): void {
    const { contact, metrics, host } = this.#context;
    contact.responded(status);
    if (metrics.enabled) metrics.requests.with({ code: codeLabel(status), method: this.request.method, host }).inc();
  }

  handOver(begun: Promise<ApiResponse>): void {
    performBegun(this.#context, this.#plan, this.read, begun, this.#authorization).then(this.resolve, this.reject);
  }
}

const noCredentials = { authorization: undefined };

async function performSlowly<T>(context: RequestContext, plan: RequestPlan, read: ReadAnswer<T>): Promise<T> {
  const response = await perform(context, plan, 'whole');
  const body = await readBody(response, context.maxObjectBytes, () => tooLarge(context, plan.request));
  return read({ status: response.status, headers: response.headers, body, borrowed: false });
}

function tooLarge({ maxObjectBytes }: RequestContext, { method, url }: ApiRequest): TransportError {
  return new TransportError(
    `${describeRequest(method, url)}: the response has more than ${maxObjectBytes} bytes, decompressed; allow more by ` +
      'maxObjectBytes of the client, or read it in pieces: a list by its items, anything else by stream()',
    { kind: 'too-large', requestSent: true },
  );
}

/** Goes on with an attempt that was made outside the chain. */
async function performBegun<T>(
  context: RequestContext,
  plan: RequestPlan,
  read: ReadAnswer<T>,
  attempt: Promise<ApiResponse>,
  authorization: string | undefined,
): Promise<T> {
  let begun: Promise<ApiResponse> | undefined = attempt;
  // Whoever takes it hears of its failure.
  attempt.catch(() => {});
  const take = () => {
    const taken = begun;
    begun = undefined;
    return taken;
  };
  const given = {
    take,
    authorization,
    get isTaken() {
      return begun === undefined;
    },
  };
  try {
    return await performSlowly(context, { ...plan, request: { ...plan.request, begun: given } }, read);
  } finally {
    take()?.then(
      (response) => response.discard(),
      () => {},
    );
  }
}

/** Sends a request through the whole chain. Resolves to a success whose body waits; all else rejects. */
export async function perform(context: RequestContext, plan: RequestPlan, mode: PerformMode): Promise<ApiResponse> {
  const { metrics, host, throttle, runtime } = context;
  const { rateLimiter } = plan;
  let send = withRetry(context.send, {
    maxRetries: plan.maxRetries,
    retryable: retryable[mode],
    backoff: plan.backoff,
    throttle: async (request, reason) => {
      if (rateLimiter) await throttle(rateLimiter, request, reason);
    },
    onRetried: ({ method }, status) => metrics.retries.with({ code: codeLabel(status), verb: method, host }).inc(),
    log: runtime.log,
    closing: context.closing,
  });
  if (mode === 'whole' && Number.isFinite(plan.timeoutMs)) send = withDeadline(send, plan.timeoutMs, runtime.clock);
  // Outside the deadline: a request that waits for its turn has not begun.
  if (mode !== 'watch') send = withRateLimit(send, rateLimiter, throttle);
  send = withWarnings(send, plan.warningHandler, runtime.log);
  const response = await send(plan.request);
  if (response.status >= 200 && response.status <= 206) return response;
  throw await refusal(response, plan, context.secrets);
}

async function refusal(
  response: ApiResponse,
  { request, details }: RequestPlan,
  { redact }: OwnSecrets,
): Promise<ApiError> {
  const answer = {
    redact,
    code: response.status,
    method: request.method,
    url: request.url,
    headers: response.headers,
    attempts: response.attempts,
    problem: response.problem,
    details,
  };
  try {
    return apiErrorFrom({ ...answer, body: await readBeginning(response, maxErrorBytes) });
  } catch (cause) {
    if (request.signal?.aborted) throw request.signal.reason;
    return apiErrorFrom({ ...answer, body: '', cause });
  }
}
