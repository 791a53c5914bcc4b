import { Buffer } from 'node:buffer';
import { formatMicroTime, isJsonObject, type JsonObject, type Status } from 'riata/object';
import { describeError, type Scheduler } from 'riata/runtime';
import type { UserInfo } from '../authentication/user-info.js';
import type { Decision } from '../authorization/authorizer.js';
import { isLongRunning, type RequestInfo } from '../http/request-info.js';
import type { ServerRequest } from '../http/server-request.js';
import type { AuditEvent, AuditObjectReference } from './audit-event.js';
import { type AuditLevel, type AuditRuling, type AuditStage, type PolicyEvaluator, records } from './audit-policy.js';
import { sourceIPs } from './source-ips.js';
import { withoutManagedFields } from './without-managed-fields.js';

const maxUserAgent = 1024;
/** What upstream writes of the options of a delete, whatever version they were sent in. */
const internal = 'meta.k8s.io/__internal';

/** The log that a request is recorded in. */
interface AuditTarget {
  readonly policy: PolicyEvaluator;
  readonly clock: Pick<Scheduler, 'now'>;
  write(event: AuditEvent): void;
}

/** The record of one request, from its arrival to its end. */
export class AuditedRequest {
  readonly #log: AuditTarget;
  readonly #request: ServerRequest;
  readonly #auditID: string;
  readonly #receivedAt: number;
  #ruling: AuditRuling | undefined;
  #info: RequestInfo | undefined;
  #user: Partial<UserInfo> = {};
  #impersonated: UserInfo | undefined;
  #constraint = '';
  #reference: AuditObjectReference | undefined;
  #status: Omit<Status, 'kind' | 'apiVersion'> | undefined;
  #requestObject: unknown;
  #responseObject: unknown;
  readonly #annotations = new Map<string, string>();

  constructor(log: AuditTarget, request: ServerRequest, auditID: string) {
    this.#log = log;
    this.#request = request;
    this.#auditID = auditID;
    this.#receivedAt = log.clock.now();
  }

  /** Whether the answer is recorded. */
  get needsResponse(): boolean {
    return this.#records('RequestResponse');
  }

  /** The sender is known. */
  authenticated(user: UserInfo, info: RequestInfo): void {
    this.#user = user;
    this.#start(user, info);
    this.#emit('RequestReceived');
  }

  /** The credentials of the sender were refused: that is the only event. */
  refused(info: RequestInfo | undefined, status: Status): void {
    if (info === undefined || this.#ruling !== undefined) return;
    this.#start(undefined, info);
    this.responseObject(status);
    this.#emit('ResponseStarted');
    this.#ruling = undefined;
  }

  /** The request acts as another user. */
  impersonates(user: UserInfo, constraint: string): void {
    this.#impersonated = user;
    this.#constraint = constraint;
  }

  decided({ allowed, reason }: Decision): void {
    this.annotate('authorization.k8s.io/decision', allowed ? 'allow' : 'forbid');
    this.annotate('authorization.k8s.io/reason', reason);
  }

  /** The first value of a key stays. */
  annotate(key: string, value: string, level: AuditLevel = 'Metadata'): void {
    if (this.#records(level) && !this.#annotations.has(key)) this.#annotations.set(key, value);
  }

  /** The object that was sent, or the options of a delete. */
  requestObject(object: JsonObject): void {
    if (!this.#records('Metadata')) return;
    const metadata = isJsonObject(object.metadata) ? object.metadata : {};
    const known = this.#reference ?? {};
    const text = (value: unknown) => (typeof value === 'string' && value !== '' ? value : undefined);
    this.#reference = {
      ...known,
      namespace: known.namespace ?? text(metadata.namespace),
      name: known.name ?? text(metadata.name),
      uid: text(metadata.uid),
      resourceVersion: text(metadata.resourceVersion),
    } as AuditObjectReference;
    if (this.#records('Request')) this.#requestObject = this.#trimmed(object);
  }

  /** The options in the body of a delete. */
  deleteOptions(body: unknown): void {
    if (isJsonObject(body) && this.#records('Request'))
      this.#requestObject = { ...body, kind: 'DeleteOptions', apiVersion: internal };
  }

  /** A patch as it was sent. One that is not JSON is left out. */
  requestPatch(body: Uint8Array): void {
    if (!this.#records('Request')) return;
    try {
      this.#requestObject = JSON.parse(Buffer.from(body).toString('utf8'));
    } catch {
      // YAML that is no JSON.
    }
  }

  /** What is answered, before it is sent. */
  responseObject(object: unknown): void {
    if (!this.#records('Metadata')) return;
    if (isStatus(object)) {
      const { kind: _kind, apiVersion: _version, metadata: _metadata, ...status } = object;
      this.#status = { metadata: {}, ...status };
    }
    if (this.#records('RequestResponse')) this.#responseObject = this.#trimmed(object);
  }

  /** The head of the answer is sent. */
  responds(code: number): void {
    if (this.#ruling === undefined) return;
    this.#status = { metadata: {}, ...this.#status, code };
    if (this.#info !== undefined && isLongRunning(this.#info)) this.#emit('ResponseStarted');
  }

  /** The request is over. */
  complete(): void {
    if (this.#ruling === undefined) return;
    if (this.#status === undefined) {
      this.#status = { metadata: {}, status: 'Success', message: 'Connection closed early', code: 200 };
      if (this.#info !== undefined && isLongRunning(this.#info)) this.#emit('ResponseStarted');
    }
    this.#emit('ResponseComplete');
  }

  /** The server itself has failed. */
  panicked(error: unknown): void {
    if (this.#ruling === undefined) return;
    const message = `APIServer panic'd: ${describeError(error)}`;
    this.#status = { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
    this.#emit('Panic');
    this.#ruling = undefined;
  }

  #start(user: UserInfo | undefined, info: RequestInfo): void {
    this.#info = info;
    this.#ruling = this.#log.policy.ruling(user, info);
    if (this.#ruling.level === 'None') this.#ruling = undefined;
    const { isResource, resource, namespace, name, group, version, subresource } = info;
    if (!isResource) return;
    this.#reference = {
      resource,
      ...(namespace !== '' && { namespace }),
      ...(name !== '' && { name }),
      ...(group !== '' && { apiGroup: group }),
      apiVersion: version,
      ...(subresource !== '' && { subresource }),
    };
  }

  #records(level: AuditLevel): boolean {
    // Before the sender is known, everything may be of interest.
    return this.#ruling !== undefined && records(this.#ruling.level, level);
  }

  #trimmed(object: unknown): unknown {
    return this.#ruling?.omitManagedFields ? withoutManagedFields(object) : object;
  }

  #emit(stage: AuditStage): void {
    const ruling = this.#ruling;
    if (ruling === undefined || ruling.omitStages.has(stage)) return;
    const { path: requestURI, headers } = this.#request;
    const received = formatMicroTime(this.#receivedAt);
    const userAgent = headers['user-agent'] ?? '';
    const ips = sourceIPs(this.#request);
    const event: Record<string, unknown> = {
      ...{ kind: 'Event', apiVersion: 'audit.k8s.io/v1', level: ruling.level, auditID: this.#auditID, stage },
      ...{ requestURI, verb: this.#info?.verb ?? '', user: this.#user },
      impersonatedUser: this.#impersonated,
      authenticationMetadata: this.#constraint === '' ? undefined : { impersonationConstraint: this.#constraint },
      sourceIPs: ips.length === 0 ? undefined : ips,
      userAgent:
        userAgent.length > maxUserAgent ? `${userAgent.slice(0, maxUserAgent)}...TRUNCATED` : userAgent || undefined,
      ...{ objectRef: inOrder(this.#reference), responseStatus: this.#status },
      ...{ requestObject: this.#requestObject, responseObject: this.#responseObject },
      requestReceivedTimestamp: received,
      stageTimestamp: stage === 'RequestReceived' ? received : formatMicroTime(this.#log.clock.now()),
      annotations: this.#annotations.size === 0 ? undefined : Object.fromEntries([...this.#annotations].sort()),
    };
    for (const key of Object.keys(event)) if (event[key] === undefined) delete event[key];
    this.#log.write(event as unknown as AuditEvent);
  }
}

function isStatus(object: unknown): object is Status {
  return isJsonObject(object) && object.kind === 'Status' && object.apiVersion === 'v1';
}

const fields = ['resource', 'namespace', 'name', 'uid', 'apiGroup', 'apiVersion', 'resourceVersion', 'subresource'];

function inOrder(reference: AuditObjectReference | undefined): AuditObjectReference | undefined {
  if (reference === undefined) return undefined;
  const given = reference as Readonly<Record<string, string | undefined>>;
  return Object.fromEntries(fields.flatMap((field) => (given[field] === undefined ? [] : [[field, given[field]]])));
}
