import { failureFields, readableError } from '../../controller/loop/failure-fields.js';
import { isJsonObject } from '../../object/json.js';
import { createJsonPatch, type JsonPatch } from '../../object/patch/json-patch.js';
import { clone } from '../../object/value/clone.js';
import { isAbortOf } from '../../runtime/signals.js';
import type { WebhookAnswer, WebhookParts, WebhookRecord, WebhookRequest, WebhookRoute } from '../webhook-route.js';
import type { AdmissionEntry, AdmissionHandler, AdmittedResource } from './admission-entry.js';
import type { AdmissionResponse } from './admission-review.js';
import { placeOf } from './place-of.js';
import { MalformedReview, type ReceivedReview, readReview } from './read-review.js';
import { RequestContext } from './request-context.js';
import { RequestDeadline } from './request-deadline.js';
import { errored } from './responses.js';
import { writeMalformed, writeReview } from './write-review.js';

/** At most so many changed paths, denials and warnings are kept for `explain`. */
const mostDetails = 20;

/** Answers reviews with the handlers of one entry. */
export class AdmissionRoute implements WebhookRoute {
  readonly path: string;
  readonly #entry: AdmissionEntry;
  readonly #resources: readonly AdmittedResource[];
  readonly #parts: WebhookParts;

  constructor(entry: AdmissionEntry, resources: readonly AdmittedResource[], parts: WebhookParts) {
    this.path = entry.path;
    this.#entry = entry;
    this.#resources = resources;
    this.#parts = parts;
  }

  async answer(request: WebhookRequest): Promise<WebhookAnswer> {
    const { clock, log } = this.#parts.runtime;
    const [startedAt, began] = [clock.now(), clock.monotonic()];
    let review: ReceivedReview;
    try {
      review = readReview(request);
    } catch (error) {
      if (!(error instanceof MalformedReview)) throw error;
      log.warn('malformed admission review', { webhook: this.#entry.name, problem: error.message });
      return { status: 200, body: writeMalformed(400, error.message) };
    }
    const deadline = new RequestDeadline(request, this.#entry.timeoutMs, clock);
    const context = new RequestContext(review.request, this.#entry, this.#parts, deadline);
    const { uid = '' } = review.request;
    let response: AdmissionResponse | undefined;
    let answer: WebhookAnswer;
    try {
      response = await this.#respond(review, context, deadline);
      answer = { status: 200, body: writeReview(review.version, uid, response) };
    } catch (thrown) {
      response = undefined;
      answer = this.#failed(readableError(thrown), review, context, deadline);
    } finally {
      deadline[Symbol.dispose]();
    }
    this.#record(context, response, startedAt, clock.monotonic() - began);
    return answer;
  }

  #respond(review: ReceivedReview, context: RequestContext, deadline: RequestDeadline): Promise<AdmissionResponse> {
    const [only] = this.#entry.handlers as readonly [AdmissionHandler];
    if (only.run.as === 'raw') return deadlineOf(only.run.call(review.request, context), deadline);
    const problem = this.#problemOf(review);
    if (problem !== undefined) return Promise.resolve(errored(400, problem));
    return this.#entry.type === 'mutating'
      ? this.#mutate(review, context, deadline)
      : this.#validate(context, deadline);
  }

  async #mutate(
    review: ReceivedReview,
    context: RequestContext,
    deadline: RequestDeadline,
  ): Promise<AdmissionResponse> {
    const { object } = review.request;
    // Nothing can be changed in a delete.
    if (!isJsonObject(object)) return { allowed: true };
    const draft = clone(object);
    for (const { run } of this.#handlersFor(context)) {
      if (run.as !== 'mutator') continue;
      const returned = run.call(draft as never, context as never);
      refuseReplacement(isThenable(returned) ? await deadline.wait(returned) : returned, draft);
      if (context.denials.count > 0) return this.#verdict(context);
    }
    const patches = createJsonPatch(object, draft);
    return this.#verdict(context, review.large === undefined ? patches : review.large.restore(patches));
  }

  async #validate(context: RequestContext, deadline: RequestDeadline): Promise<AdmissionResponse> {
    for (const { run } of this.#handlersFor(context)) {
      if (run.as !== 'validator') continue;
      const returned = run.call(context as never);
      if (isThenable(returned)) await deadline.wait(returned);
    }
    return this.#verdict(context);
  }

  *#handlersFor({ operation, subresource }: RequestContext): Iterable<AdmissionHandler> {
    for (const handler of this.#entry.handlers) {
      const isMeant = handler.subresource === subresource || (handler.subresource === '*' && subresource !== '');
      if (isMeant && (handler.on as readonly string[]).includes(operation)) yield handler;
    }
  }

  #verdict(context: RequestContext, patches?: JsonPatch): AdmissionResponse {
    const { denials, warnings, annotations, request } = context;
    const { group = '', kind = '' } = request.kind ?? {};
    return {
      allowed: denials.count === 0,
      ...(denials.count === 0 ? {} : { status: denials.status({ group, kind, name: context.name }) }),
      ...(patches === undefined ? {} : { patches }),
      ...(warnings.count === 0 ? {} : { warnings: warnings.list }),
      ...(annotations === undefined ? {} : { auditAnnotations: annotations }),
    };
  }

  /** What is wrong with a request for typed handlers: they rely on the kind and on the objects of the operation. */
  #problemOf({ request }: ReceivedReview): string | undefined {
    const { resource, operation, object, oldObject } = request;
    const { group = '', version = '', resource: plural = '' } = resource ?? {};
    const fits = (wanted: string, got: string): boolean => wanted === '*' || wanted === got;
    const isAdmitted = this.#resources.some(
      (one) => fits(one.group, group) && fits(one.version, version) && fits(one.plural, plural),
    );
    if (!isAdmitted) {
      const got = `${plural || 'none'} of ${group === '' ? version : `${group}/${version}`}`;
      return `webhook "${this.#entry.name}" does not review the resource ${got}; check the rules of its configuration`;
    }
    if (!['CREATE', 'UPDATE', 'DELETE', 'CONNECT'].includes(operation)) return `unknown operation "${operation}"`;
    if (operation !== 'DELETE' && !isJsonObject(object)) return 'the request has no object';
    if ((operation === 'UPDATE' || operation === 'DELETE') && !isJsonObject(oldObject)) {
      return 'the request has no oldObject';
    }
    return undefined;
  }

  /**
   * The answer when a handler throws or takes too long. Clients learn the webhook and the place in its code, not the
   * error, which may hold anything. A review that denies would count whatever the failure policy is, so a webhook that
   * fails open answers with an HTTP error.
   */
  #failed(error: unknown, review: ReceivedReview, context: RequestContext, deadline: RequestDeadline): WebhookAnswer {
    const status = this.#failure(error, deadline);
    context.log.error(status.code === 504 ? 'admission webhook timed out' : 'admission webhook failed', {
      ...failureFields(error),
      failurePolicy: this.#entry.failsOpen ? 'Ignore' : 'Fail',
    });
    if (this.#entry.failsOpen) {
      return {
        status: status.code,
        body: JSON.stringify({ kind: 'Status', apiVersion: 'v1', metadata: {}, ...status }),
      };
    }
    return { status: 200, body: writeReview(review.version, review.request.uid ?? '', { allowed: false, status }) };
  }

  #failure(error: unknown, deadline: RequestDeadline) {
    const webhook = `webhook "${this.#entry.name}"`;
    if (deadline.isOver && isAbortOf(deadline.signal, error)) {
      return deadline.isTimedOut
        ? failure(504, 'Timeout', `${webhook} did not answer within ${deadline.ms / 1000}s`)
        : failure(503, 'ServiceUnavailable', `${webhook} stopped before it answered`);
    }
    const place = placeOf(error);
    const where = place === undefined ? '' : ` at ${place}`;
    return failure(500, 'InternalError', `${webhook} failed${where}; the webhook's log has the error`);
  }

  #record(
    context: RequestContext,
    response: AdmissionResponse | undefined,
    startedAt: number,
    durationMs: number,
  ): void {
    const { request, denials, warnings } = context;
    const { group = '', version = '', kind = '' } = request.kind ?? {};
    const details = [...denials.details()];
    for (const text of warnings.list) details.push(`warned: ${text}`);
    if (response?.allowed === true) for (const { path } of response.patches ?? []) details.push(`changed ${path}`);
    const record: WebhookRecord = {
      webhook: this.#entry.name,
      path: this.path,
      object: {
        apiVersion: group === '' ? version : `${group}/${version}`,
        kind,
        ...(request.namespace ? { namespace: request.namespace } : {}),
        ...(request.name ? { name: request.name } : {}),
      },
      operation: context.operation,
      user: request.userInfo?.username,
      dryRun: context.dryRun,
      startedAt,
      durationMs,
      outcome: response === undefined ? 'failed' : response.allowed ? 'allowed' : 'denied',
      details: details.slice(0, mostDetails),
    };
    this.#parts.record(record);
  }
}

function failure(code: number, reason: string, message: string) {
  return { status: 'Failure', message, reason, code } as const;
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && typeof (value as { then?: unknown }).then === 'function';
}

async function deadlineOf(
  response: AdmissionResponse | PromiseLike<AdmissionResponse>,
  deadline: RequestDeadline,
): Promise<AdmissionResponse> {
  const given = isThenable(response) ? await deadline.wait(response) : response;
  if (isJsonObject(given) && typeof given.allowed === 'boolean') return given as AdmissionResponse;
  throw new TypeError('the handler must return an AdmissionResponse, such as allowed() or denied(message)');
}

/** `(site) => ({ ...site, … })` changes nothing, so it is refused. Any other value may have been returned by chance. */
function refuseReplacement(returned: unknown, draft: object): void {
  if (returned === draft || !isJsonObject(returned) || !('apiVersion' in returned) || !('kind' in returned)) return;
  throw new TypeError('the mutator returned another object; change the draft in place and return nothing');
}
