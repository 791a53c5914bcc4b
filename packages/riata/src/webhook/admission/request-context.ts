import type { Client } from '../../client/interfaces.js';
import type { GroupVersionKind } from '../../object/gvk.js';
import { isJsonObject } from '../../object/json.js';
import { freeze } from '../../object/value/freeze.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { WebhookParts } from '../webhook-route.js';
import type { AdmissionCallOptions, AdmissionUser, Deny } from './admission-context.js';
import type { AdmissionEntry } from './admission-entry.js';
import type { AdmissionRequest } from './admission-review.js';
import { AdmissionWarnings } from './admission-warnings.js';
import { type DenialOptions, Denials } from './denials.js';
import { fencedClient } from './fenced-client.js';
import { type FieldPath, type PathsOf, rootPath } from './field-path.js';
import { lowercaseOperation } from './lowercase-operation.js';
import type { RequestDeadline } from './request-deadline.js';

const auditKey = /^[A-Za-z0-9](?:[-A-Za-z0-9_.]{0,61}[A-Za-z0-9])?$/;

/** The context of one request. Everything is made when a handler reads it: most need little. */
export class RequestContext {
  readonly request: AdmissionRequest;
  readonly denials = new Denials();
  readonly warnings = new AdmissionWarnings();
  readonly #entry: AdmissionEntry;
  readonly #parts: WebhookParts;
  readonly #deadline: RequestDeadline;
  #annotations: Record<string, string> | undefined;
  #log: Logger | undefined;
  #client: Client | undefined;

  constructor(request: AdmissionRequest, entry: AdmissionEntry, parts: WebhookParts, deadline: RequestDeadline) {
    this.request = request;
    this.#entry = entry;
    this.#parts = parts;
    this.#deadline = deadline;
  }

  get operation(): string {
    return lowercaseOperation(this.request.operation);
  }

  get object(): unknown {
    return frozen(this.request.object);
  }

  get old(): unknown {
    return frozen(this.request.oldObject);
  }

  get user(): AdmissionUser {
    const { username = '', uid = '', groups = [], extra = {} } = this.request.userInfo ?? {};
    return { name: username, uid, groups, extra };
  }

  get dryRun(): boolean {
    return this.request.dryRun === true;
  }

  get options(): AdmissionCallOptions {
    return this.request.options ?? {};
  }

  get subresource(): string {
    return this.request.subResource ?? '';
  }

  get name(): string {
    return this.request.name ?? '';
  }

  get namespace(): string {
    return this.request.namespace ?? '';
  }

  get kind(): GroupVersionKind {
    return this.request.kind;
  }

  get client(): Client {
    const { client } = this.#parts;
    if (this.#entry.mayWrite && !this.dryRun) return client;
    this.#client ??= fencedClient(client, (verb, what) => {
      const why = this.#entry.mayWrite ? 'the request is a dry run' : "it has sideEffects: 'none'";
      const remedy = this.#entry.mayWrite ? 'check dryRun first' : "declare sideEffects: 'noneOnDryRun'";
      return new Error(`webhook "${this.#entry.name}" cannot ${verb} ${what}: ${why}; ${remedy}`);
    });
    return this.#client;
  }

  get signal(): AbortSignal {
    return this.#deadline.signal;
  }

  get log(): Logger {
    const { uid, name = '', namespace = '', operation } = this.request;
    const { kind } = this.request.kind ?? {};
    this.#log ??= this.#parts.runtime.log.child({
      ...{ webhook: this.#entry.name, operation, kind, ...(namespace === '' ? {} : { namespace }), name },
      ...{ user: this.request.userInfo?.username, request: uid },
    });
    return this.#log;
  }

  get path(): PathsOf<unknown> {
    return rootPath();
  }

  readonly deny: Deny = (target: FieldPath | string, message?: string, options?: DenialOptions): void => {
    this.denials.add(this.request.object ?? this.request.oldObject, target, message, options);
  };

  readonly warn = (text: string): void => this.warnings.add(text);

  readonly audit = (key: string, value: string): void => {
    if (typeof key !== 'string' || !auditKey.test(key)) {
      const rule = 'must be letters, digits, "-", "_" and ".", at most 63';
      throw new TypeError(`audit: the key ${rule}; the webhook's name is put before it; got ${JSON.stringify(key)}`);
    }
    if (typeof value !== 'string')
      throw new TypeError(`audit: the value of ${key} must be a text, got ${typeof value}`);
    this.#annotations ??= {};
    this.#annotations[key] = value;
  };

  /** Undefined if there are none. */
  get annotations(): Readonly<Record<string, string>> | undefined {
    return this.#annotations;
  }
}

/**
 * A handler that changes what the next one reads would go unnoticed. What the server keeps about managers is left out: it
 * is often the bigger part, and nobody changes it.
 */
function frozen(object: unknown): unknown {
  if (!isJsonObject(object) || Object.isFrozen(object)) return object ?? undefined;
  const { metadata } = object;
  if (isJsonObject(metadata) && Array.isArray(metadata.managedFields)) Object.freeze(metadata.managedFields);
  return freeze(object);
}
