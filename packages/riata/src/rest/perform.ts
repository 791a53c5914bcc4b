import type { GroupVersion } from '../object/gvk.js';
import type { StatusDetails } from '../object/meta.js';
import type { Runtime } from '../runtime/runtime.js';
import { type ApiError, apiErrorFrom } from './api-error.js';
import type { BackoffManager } from './backoff-manager.js';
import type { RateLimiter } from './rate-limiter.js';
import { codeLabel, type RestMetrics } from './rest-metrics.js';
import { type ApiRequest, type ApiResponse, readBody, type Send } from './send.js';
import { type WarningHandler, withWarnings } from './warnings.js';
import { withDeadline } from './with-deadline.js';
import { type Throttle, withRateLimit } from './with-rate-limit.js';
import { retryNoErrors, retryReads, retryWatches, withRetry } from './with-retry.js';

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
  readonly runtime: Runtime;
  readonly metrics: RestMetrics;
  readonly host: string;
  readonly throttle: Throttle;
  readonly rateLimiter: RateLimiter | undefined;
  readonly backoff: BackoffManager;
  readonly warningHandler: WarningHandler;
  readonly timeoutMs: number;
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
  throw await refusal(response, plan);
}

async function refusal(response: ApiResponse, { request, details }: RequestPlan): Promise<ApiError> {
  const answer = {
    code: response.status,
    method: request.method,
    url: request.url,
    headers: response.headers,
    attempts: response.attempts,
    problem: response.problem,
    details,
  };
  try {
    return apiErrorFrom({ ...answer, body: await readBody(response, maxErrorBytes) });
  } catch (cause) {
    if (request.signal?.aborted) throw request.signal.reason;
    return apiErrorFrom({ ...answer, body: '', cause });
  }
}
