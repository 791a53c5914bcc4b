import type { JsonObject } from 'riata/object';
import type { UserInfo } from '../authentication/user-info.js';
import { loadWriteParts, writeParts } from '../load-write-parts.js';
import { metaOf, textOf } from '../resource/metadata.js';
import type { Resource, Subresource } from '../resource/resource.js';
import type { WriteAdmission } from '../resource/write-context.js';
import { goQuote } from '../status/go-quote.js';
import type { Steps } from '../steps.js';
import type { StorageEvent } from '../storage/storage.js';
import type { AdmissionAttributes, AdmissionOperation, AdmissionOptions } from './admission.js';
import { AdmissionChain } from './admission-chain.js';
import type { AdmissionParts } from './admission-parts.js';
import { enabledPlugins } from './enabled-plugins.js';
import { Reinvocation } from './reinvocation.js';

/** A request subject to admission. */
export interface AdmissionRequest {
  readonly resource: Resource;
  readonly subresource: Subresource | undefined;
  readonly namespace: string;
  /** `''` for verbs on a collection. */
  readonly name: string;
  readonly user: UserInfo;
  warn(text: string): void;
  /** Adds an annotation to the audit event. @default annotations are dropped */
  annotate?(key: string, value: string, level?: 'Request'): void;
}

/** The options of a request, by operation: a PUT that creates an object has CreateOptions. */
export type OptionsOf = (operation: AdmissionOperation) => JsonObject;

/**
 * Admission control of a server. Its plugins are created with the first write, so that reads don't load their code.
 */
export class AdmissionControl {
  readonly #parts: AdmissionParts;
  readonly #names: readonly string[];
  #chain: AdmissionChain | undefined;

  /** Throws a `TypeError` for plugins that kube-apiserver does not know. */
  constructor(parts: AdmissionParts, options: AdmissionOptions | undefined) {
    this.#parts = parts;
    this.#names = enabledPlugins(options);
  }

  /** Whether a plugin is enabled, by upstream's name. */
  runs(name: string): boolean {
    return this.#names.includes(name);
  }

  /** Admission control of one request. */
  forRequest(request: AdmissionRequest, options: OptionsOf, dryRun: boolean): WriteAdmission {
    this.#chain ??= this.#makeChain();
    return new RequestAdmission(this.#chain, request, options, dryRun);
  }

  observe(table: string, event: StorageEvent): void {
    this.#chain?.observe(table, event);
  }

  #makeChain(): AdmissionChain {
    const { admissionPlugins, paramAccess } = writeParts();
    const here = this.#names.map((name) => admissionPlugins[name]?.(this.#parts));
    return new AdmissionChain([paramAccess(this.#parts), ...here.filter((plugin) => plugin !== undefined)]);
  }
}

/** Rejects with a `TypeError` if an enabled plugin does not exist here. */
export async function checkEnabled({ enable = [] }: AdmissionOptions = {}): Promise<void> {
  if (enable.length === 0) return;
  await loadWriteParts();
  const { admissionPlugins } = writeParts();
  const missing = enable.find((name) => !Object.hasOwn(admissionPlugins, name));
  if (missing === undefined) return;
  throw new TypeError(`enable-admission-plugins plugin ${goQuote(missing)} is not part of this server; leave it out`);
}

class RequestAdmission implements WriteAdmission {
  readonly #chain: AdmissionChain;
  readonly #request: AdmissionRequest;
  readonly #options: OptionsOf;
  readonly #dryRun: boolean;
  /** The attributes of the last call, reused if the next one is for the same object. */
  #last: RequestAttributes | undefined;

  constructor(chain: AdmissionChain, request: AdmissionRequest, options: OptionsOf, dryRun: boolean) {
    this.#chain = chain;
    this.#request = request;
    this.#options = options;
    this.#dryRun = dryRun;
  }

  needsManagedFields(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): boolean {
    return this.#chain.needsManagedFields(this.#attributes(operation, object, oldObject));
  }

  *admit(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<JsonObject> {
    const attributes = this.#attributes(operation, object, oldObject);
    // A retry starts over, without the state of the first attempt.
    this.#last = undefined;
    return (yield* this.#chain.admit(attributes)) ?? object;
  }

  validate(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): Steps<void> {
    return this.#chain.validate(this.#attributes(operation, object, oldObject));
  }

  commit(operation: AdmissionOperation, object: JsonObject, oldObject: JsonObject | undefined): void {
    this.#chain.commit(this.#attributes(operation, object, oldObject));
  }

  *admitDelete(oldObject: JsonObject): Steps<void> {
    const attributes = this.#attributes('DELETE', undefined, oldObject);
    yield* this.#chain.admit(attributes);
    yield* this.#chain.validate(attributes);
  }

  #attributes(
    operation: AdmissionOperation,
    object: JsonObject | undefined,
    oldObject: JsonObject | undefined,
  ): AdmissionAttributes {
    const last = this.#last;
    if (last?.object === object && last?.oldObject === oldObject && last?.operation === operation) return last;
    this.#last = new RequestAttributes(this.#request, this.#options, this.#dryRun, operation, object, oldObject);
    return this.#last;
  }
}

/** Has no private members, since `withObject` derives attributes by prototype. */
class RequestAttributes implements AdmissionAttributes {
  readonly name: string;
  readonly namespace: string;
  readonly operation: AdmissionOperation;
  readonly object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  readonly dryRun: boolean;
  readonly request: AdmissionRequest;
  readonly optionsOf: OptionsOf;
  readonly reinvocation = new Reinvocation();

  constructor(
    request: AdmissionRequest,
    optionsOf: OptionsOf,
    dryRun: boolean,
    operation: AdmissionOperation,
    object: JsonObject | undefined,
    oldObject: JsonObject | undefined,
  ) {
    this.operation = operation;
    this.object = object;
    this.oldObject = oldObject;
    this.dryRun = dryRun;
    this.request = request;
    this.optionsOf = optionsOf;
    const { resource, namespace, name } = request;
    this.name = name === '' && operation === 'CREATE' && object !== undefined ? textOf(metaOf(object).name) : name;
    this.namespace = resource.table === '/namespaces' ? this.name : namespace;
  }

  get resource() {
    return this.request.resource;
  }

  get kind() {
    const { group, version, kind } = this.request.subresource ?? this.request.resource;
    return { group, version, kind };
  }

  get subresource() {
    return this.request.subresource?.name ?? '';
  }

  get options() {
    return this.optionsOf(this.operation);
  }

  get user() {
    return this.request.user;
  }

  warn(text: string): void {
    this.request.warn(text);
  }

  annotate(key: string, value: string, level?: 'Request'): void {
    this.request.annotate?.(key, value, level);
  }
}
