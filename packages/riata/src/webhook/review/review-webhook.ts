import type { Client } from '../../client/interfaces.js';
import { readableError } from '../../controller/loop/failure-fields.js';
import type { KindRef } from '../../object/kind.js';
import { dns1123SubdomainProblems } from '../../object/names.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Logger } from '../../runtime/log/logger.js';
import { thrownAt } from '../../runtime/log/user-frame.js';
import { optionNames } from '../../runtime/option-names.js';
import { isAbortOf } from '../../runtime/signals.js';
import { placeOf } from '../admission/place-of.js';
import { MalformedReview, readJsonBody } from '../admission/read-review.js';
import { RequestDeadline } from '../admission/request-deadline.js';
import { addWebhook } from '../server/add-webhook.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from '../webhook-route.js';

/** What every review handler gets. */
export interface ReviewContext {
  /** Reads from the cache what {@link ReviewOptions.reads} names, and other kinds from the server. */
  readonly client: Client;
  /** Aborts shortly before the API server stops waiting. */
  readonly signal: AbortSignal;
  readonly log: Logger;
}

/** Options of `authenticates` and `authorizes`. */
export interface ReviewOptions {
  /** In logs, metrics and `explain`. @default 'authentication' or 'authorization' */
  readonly name?: string;
  /** Where API servers call it. @default '/authenticate' or '/authorize' */
  readonly path?: string;
  /** Kinds that the handler reads from the cache. @default none */
  readonly reads?: readonly KindRef[];
}

export const reviewOptionNames = optionNames<ReviewOptions>({ name: true, path: true, reads: true });

/** The spec of a review, as it came in. */
export type ReviewSpec = Readonly<Record<string, unknown>>;

/** The answer to a review, and its record. */
export interface Reviewed {
  readonly status: object;
  readonly outcome: WebhookRecord['outcome'];
  readonly user?: string | undefined;
  readonly details?: readonly string[];
}

/** Handles one review. Throws what the user's function throws. */
export type HandleReview = (spec: ReviewSpec, version: string, call: ReviewCall) => Promise<Reviewed>;

/** One call of a {@link HandleReview}. */
export interface ReviewCall {
  readonly context: ReviewContext;
  /** Settles as the promise does, or rejects at the deadline. */
  wait<T>(value: T | PromiseLike<T>): Promise<T>;
}

/** One kind of review, such as `TokenReview`. */
export interface ReviewType {
  readonly kind: string;
  readonly group: string;
  /** In records: `authenticate`. */
  readonly operation: string;
  /** The status for a review that cannot be answered. */
  failed(message: string): object;
  /** A handler for one server: it may remember answers. */
  begin(parts: WebhookParts): HandleReview;
  /** Texts of a review that must not be logged. */
  secretsOf(spec: ReviewSpec): readonly string[];
}

const defaultTimeoutMs = 10_000;

/** A definition without targets: API servers get to know it by a flag. */
export function reviewWebhook(type: ReviewType, { name, path, reads }: Required<ReviewOptions>): WebhookDefinition {
  const problems = dns1123SubdomainProblems(name);
  if (problems.length > 0) {
    throw new TypeError(`${type.kind}: ${JSON.stringify(name)} is not a valid name: ${problems.join('; ')}`);
  }
  if (!/^\/[\w./~-]*$/.test(path)) {
    throw new TypeError(`${type.kind}: path must start with a slash, as in "/review", got ${JSON.stringify(path)}`);
  }
  const definition: WebhookDefinition = {
    name,
    readKinds: reads,
    targets: [],
    bind: (parts) => [new ReviewRoute(name, path, type, parts)],
    addTo: (manager) => addWebhook(manager, definition),
  };
  return Object.freeze(definition);
}

interface ReceivedReview {
  readonly version: string;
  readonly spec: ReviewSpec;
  readonly metadata: { readonly uid?: string };
}

class ReviewRoute implements WebhookRoute {
  readonly path: string;
  readonly #name: string;
  readonly #type: ReviewType;
  readonly #parts: WebhookParts;
  readonly #handle: HandleReview;

  constructor(name: string, path: string, type: ReviewType, parts: WebhookParts) {
    this.path = path;
    this.#name = name;
    this.#type = type;
    this.#parts = parts;
    this.#handle = type.begin(parts);
  }

  async answer(request: WebhookRequest): Promise<WebhookAnswer> {
    const { clock, log } = this.#parts.runtime;
    const [startedAt, began] = [clock.now(), clock.monotonic()];
    const { kind, group, operation } = this.#type;
    let review: ReceivedReview;
    try {
      review = readReview(request, group, kind);
    } catch (error) {
      if (!(error instanceof MalformedReview)) throw error;
      log.warn('malformed review', { webhook: this.#name, problem: error.message });
      return {
        status: 200,
        body: JSON.stringify({ metadata: {}, spec: {}, status: this.#type.failed(error.message) }),
      };
    }
    const { version, spec, metadata } = review;
    const deadline = new RequestDeadline(request, defaultTimeoutMs, clock);
    let reviewed: Reviewed;
    try {
      const context = lateContext(this.#parts, deadline, this.#name);
      reviewed = await this.#handle(spec, version, { context, wait: (value) => deadline.wait(Promise.resolve(value)) });
    } catch (error) {
      reviewed = { status: this.#type.failed(this.#failure(readableError(error), spec, deadline)), outcome: 'failed' };
    } finally {
      deadline[Symbol.dispose]();
    }
    const { status, outcome, user, details = [] } = reviewed;
    this.#parts.record({
      ...{ webhook: this.#name, path: this.path, object: undefined, operation, user },
      ...{ dryRun: false, startedAt, durationMs: clock.monotonic() - began, outcome, details },
    });
    // Without the spec, which may hold a token.
    return {
      status: 200,
      body: JSON.stringify({ kind, apiVersion: `${group}/${version}`, metadata, spec: {}, status }),
    };
  }

  /** The message for the API server. The log has the error, without the token: libraries put requests into messages. */
  #failure(error: unknown, spec: ReviewSpec, deadline: RequestDeadline): string {
    const isLate = deadline.isOver && isAbortOf(deadline.signal, error);
    let text = describeError(error);
    for (const secret of this.#type.secretsOf(spec)) if (secret !== '') text = text.replaceAll(secret, '[redacted]');
    const at = thrownAt(error);
    this.#parts.runtime.log.error(isLate ? 'review webhook timed out' : 'review webhook failed', {
      ...{ webhook: this.#name, error: text, ...(at === undefined ? {} : { at }) },
    });
    if (isLate) return `webhook "${this.#name}" did not answer within ${deadline.ms / 1000}s`;
    const place = placeOf(error);
    return `webhook "${this.#name}" failed${place === undefined ? '' : ` at ${place}`}; the webhook's log has the error`;
  }
}

/** Throws a {@link MalformedReview}. */
function readReview(request: WebhookRequest, group: string, kind: string): ReceivedReview {
  const { review } = readJsonBody(request);
  const { kind: given = kind, apiVersion = `${group}/v1`, spec, metadata } = review;
  const version = [`${group}/v1`, `${group}/v1beta1`].indexOf(String(apiVersion));
  if (given !== kind || version < 0) throw new MalformedReview(`expected a ${kind} of ${group}/v1 or ${group}/v1beta1`);
  const { uid } = (metadata ?? {}) as { readonly uid?: unknown };
  return {
    version: version === 0 ? 'v1' : 'v1beta1',
    spec: typeof spec === 'object' && spec !== null ? (spec as ReviewSpec) : {},
    metadata: typeof uid === 'string' ? { uid } : {},
  };
}

/** The signal and the logger are made when a handler reads them. */
function lateContext({ client, runtime }: WebhookParts, deadline: RequestDeadline, webhook: string): ReviewContext {
  return {
    client,
    get signal() {
      return deadline.signal;
    },
    get log() {
      return runtime.log.child({ webhook });
    },
  };
}
