import { isCustomGroup } from '../../object/is-custom-group.js';
import type { Status, StatusCause, StatusDetails } from '../../object/meta.js';
import { redactAll } from '../chain/own-secrets.js';
import { headerValue, retryAfterMs } from '../request/header-values.js';
import type { ResponseHeaders } from '../transport/transport.js';
import { readErrorBody } from './error-body.js';
import { describeRequest, redactUrl } from './redact.js';
import { genericAnswer, type StatusReason } from './status-reason.js';

/** On every {@link ApiError}, whichever copy of the package made it. */
const brand: unique symbol = Symbol.for('riata.ApiError') as never;

/** The cause of an error whose body was no Status. */
const unexpected = 'UnexpectedServerResponse';
const groupPath = /\/apis\/([^/]+)\//;

/** The request that led to an {@link ApiError}, and how its response is read. */
export interface ApiErrorContext {
  readonly method?: string;
  /** Secrets in it are taken out. */
  readonly url?: string;
  /** How often the request was sent. @default 1 */
  readonly attempts?: number;
  /** The client's own explanation; ends the message. */
  readonly problem?: string;
  /** From the `Retry-After` header; a wait named in the Status comes first. */
  readonly retryAfterMs?: number;
  readonly cause?: unknown;
  /** Takes secrets out of the server's text. @default nothing is taken out */
  readonly redact?: (text: string) => string;
}

/**
 * The server refused a request (`apierrors.StatusError`, `APIStatus`). Test it with the guards, e.g. `isNotFound(error)`, rather
 * than `instanceof`: they also know errors of another copy of the package and look through `cause`.
 */
export class ApiError extends Error {
  /** The server's word; made up from the HTTP status where the body had none. */
  readonly status: Status;
  /** HTTP status, as the Status has it. */
  readonly code: number;
  /** One word; `''` when neither body nor HTTP status have one. */
  readonly reason: StatusReason;
  /** One entry per complaint, e.g. per invalid field. */
  readonly causes: readonly StatusCause[];
  /** How long the server asks to wait before the next try; undefined if it does not. */
  readonly retryAfterMs: number | undefined;
  /** Method and URL of the request; undefined for an error inside a stream of unknown origin. */
  readonly method: string | undefined;
  readonly url: string | undefined;
  readonly attempts: number;

  constructor(given: Status, context: ApiErrorContext = {}) {
    const status = context.redact === undefined ? given : redactAll(given, context.redact);
    const url = context.url === undefined ? undefined : redactUrl(context.url);
    super(messageFor(status, context, url), 'cause' in context ? { cause: context.cause } : undefined);
    this.name = 'ApiError';
    this.status = status;
    this.code = status.code ?? 0;
    this.reason = status.reason ?? '';
    this.causes = status.details?.causes ?? [];
    const seconds = status.details?.retryAfterSeconds ?? 0;
    this.retryAfterMs = seconds > 0 ? seconds * 1000 : context.retryAfterMs;
    this.method = context.method;
    this.url = url;
    this.attempts = context.attempts ?? 1;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for an {@link ApiError} itself, of this or another copy of the package; does not look at `cause`. */
export function isApiError(error: unknown): error is ApiError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The first {@link ApiError} in an error's chain of causes, itself included; an `AggregateError` is not searched. */
export function findApiError(error: unknown): ApiError | undefined {
  const seen = new Set<unknown>();
  for (let at = error; typeof at === 'object' && at !== null && !seen.has(at); at = (at as { cause?: unknown }).cause) {
    if (isApiError(at)) return at;
    seen.add(at);
  }
  return undefined;
}

/** The answer to a refused request. */
export interface ErrorAnswer extends ApiErrorContext {
  readonly code: number;
  readonly method: string;
  readonly headers: ResponseHeaders;
  readonly body: Uint8Array | string;
  /** The object of the request, where that is known: fills in `details` if the body has no Status. */
  readonly details?: StatusDetails;
}

/**
 * Makes the error for an unsuccessful answer, from any body (`Result.Error`, `apierrors.FromObject`,
 * `NewGenericServerResponse`). Missing parts of the Status are filled in from the HTTP status; a body that is not a
 * Status gives a cause `UnexpectedServerResponse` with a readable excerpt.
 */
export function apiErrorFrom(answer: ErrorAnswer): ApiError {
  const { code, method, headers } = answer;
  const problem = answer.problem ?? redirectProblem(code, headerValue(headers, 'location'), answer.redact);
  const context = { ...answer, problem, retryAfterMs: answer.retryAfterMs ?? retryAfterMs(headers) };
  const body = readErrorBody(answer.body, headerValue(headers, 'content-type'), answer.redact);
  const generic = genericAnswer(code, method);
  if (body.kind === 'status') {
    const { status } = body;
    return new ApiError(
      {
        ...status,
        message: status.message || generic.message,
        reason: status.reason || generic.reason,
        code: status.code || code,
      },
      context,
    );
  }
  return new ApiError(
    {
      apiVersion: 'v1',
      kind: 'Status',
      metadata: {},
      status: 'Failure',
      message: body.text === '' ? generic.message : `${generic.message}: ${body.text}`,
      reason: generic.reason,
      code,
      details: {
        ...answer.details,
        causes: [{ reason: unexpected, message: body.text || 'unknown' }],
        ...(context.retryAfterMs !== undefined && { retryAfterSeconds: Math.ceil(context.retryAfterMs / 1000) }),
      },
    },
    context,
  );
}

/** API servers do not redirect, but login pages do. The query may hold secrets. */
function redirectProblem(code: number, location: string, redact = unchanged): string | undefined {
  if (code < 300 || code > 399 || location === '') return undefined;
  const place = redactUrl(redact(location).replace(/[?#].*$/s, '')).slice(0, 200);
  return `it redirects to ${place}, which is not followed: is the server address right, or is a login page in front of it?`;
}

function unchanged(text: string): string {
  return text;
}

/** A remedy, where the server's words alone don't give it. */
function remedyFor({ code, message = '', details }: Status, url: string | undefined): string | undefined {
  if (code === 401)
    return '; the server does not accept the credentials: log in again, or renew the token or certificate';
  // The words of RBAC; admission forbids things, too, and says why.
  if (code === 403 && /^.* is forbidden: User ".*" cannot /.test(message)) {
    return '; grant it by a Role or ClusterRole and its binding';
  }
  // Without the name of an object, or not in the API server's own words, it is about the path.
  const isPath = !details?.name || details.causes?.some(({ reason }) => reason === unexpected);
  if (code === 404 && isPath && isCustomGroup(groupPath.exec(url ?? '')?.[1] ?? '')) {
    return '; is the CustomResourceDefinition of the kind installed, with this version?';
  }
  return undefined;
}

function messageFor(
  status: Status,
  { method, attempts = 1, problem }: ApiErrorContext,
  url: string | undefined,
): string {
  const tried = describeRequest(method, url);
  const answer = [status.code, status.reason].filter(Boolean).join(' ');
  return [
    tried && `${tried}: `,
    status.message || 'the server refused without saying why',
    answer && ` (${answer})`,
    attempts > 1 && ` after ${attempts} attempts`,
    remedyFor(status, url),
    problem && `; ${problem}`,
  ]
    .filter(Boolean)
    .join('');
}
