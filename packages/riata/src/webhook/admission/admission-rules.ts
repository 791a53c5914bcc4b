import { assertKind, shownBriefly } from '../../controller/define/assert-kind.js';
import type { Manager } from '../../manager/manager.js';
import type { KindRef } from '../../object/kind.js';
import type { Mutable } from '../../object/value/mutable.js';
import { type AddedWebhook, addWebhook } from '../server/add-webhook.js';
import type { WebhookDefinition, WebhookTarget } from '../webhook-definition.js';
import type { WebhookParts, WebhookRoute } from '../webhook-route.js';
import type { AdmissionContext, AdmissionOperation } from './admission-context.js';
import {
  type AdmissionEntry,
  type AdmissionHandler,
  type AdmittedResource,
  type EntryNames,
  entriesOf,
} from './admission-entry.js';
import {
  type AdmissionCallRules,
  checkHandlerOptions,
  checkRawOptions,
  type HandlerOptions,
  type RawHandlerOptions,
} from './admission-options.js';
import { AdmissionRoute } from './admission-route.js';
import type { SubresourceObject } from './connect-options.js';
import type { RawHandler } from './raw-handler.js';

/** The operations that a mutation can review: there is nothing to change in a delete. */
export type MutatingOperation = Exclude<AdmissionOperation, 'delete'>;

/** Create and update: the operations that handlers review by default. */
export type DefaultOperations = readonly ['create', 'update'];

/**
 * Changes a draft of the incoming object in place. What it changed is sent to the API server as a JSON patch; all the rest,
 * fields unknown to the schema included, stays as it is. It may be async, and returns nothing. API servers may call it
 * again for the same request: it must be idempotent.
 */
export type Mutator<T, Op extends AdmissionOperation = 'create' | 'update'> = (
  draft: Mutable<T>,
  context: AdmissionContext<T, Op>,
) => unknown;

/** Looks at a request, and denies it or warns by its context. It may be async, and returns nothing. */
export type Validator<T, Op extends AdmissionOperation = 'create' | 'update'> = (
  context: AdmissionContext<T, Op>,
) => unknown;

/** `admit` before the first handler. Every method returns a new value and leaves this one as it is. */
export interface AdmissionStart<T> {
  /** Changes objects before they are stored (`Defaulter`). Several run in order, on the same draft. */
  mutates(mutator: Mutator<T>): AdmissionRules<T>;
  mutates<const On extends readonly MutatingOperation[] = DefaultOperations, const Sub extends string = ''>(
    options: HandlerOptions<On, Sub>,
    mutator: Mutator<SubresourceObject<T, Sub>, On[number]>,
  ): AdmissionRules<T>;
  /** Denies requests (`Validator`). It sees the object after all mutations; several run in order. */
  validates(validator: Validator<T>): AdmissionRules<T>;
  validates<const On extends readonly AdmissionOperation[] = DefaultOperations, const Sub extends string = ''>(
    options: HandlerOptions<On, Sub>,
    validator: Validator<SubresourceObject<T, Sub>, On[number]>,
  ): AdmissionRules<T>;
  /** Answers reviews by hand (`webhook.Admission`): gets the request as it is on the wire, whatever its object is. */
  handles(options: RawHandlerOptions, handler: RawHandler): AdmissionRules<T>;
  /** Kinds that the handlers read: they come from the cache instead of the server. */
  reads(...kinds: readonly KindRef[]): AdmissionStart<T>;
}

/** Everything that a definition is made of. */
export interface AdmissionParts {
  /** As errors name it: `admit(Site)`. */
  readonly shown: string;
  readonly names: EntryNames;
  readonly resources: readonly AdmittedResource[];
  readonly rules: AdmissionCallRules;
  readonly reads: readonly KindRef[];
  readonly handlers: readonly AdmissionHandler[];
}

/** Admission webhooks for objects of type `T`, as a value: add handlers to it, or have a manager run it. */
export class AdmissionRules<T> implements AdmissionStart<T>, WebhookDefinition {
  readonly #parts: AdmissionParts;
  readonly #entries: readonly AdmissionEntry[];

  /** Use `admit`. */
  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#entries = entriesOf(parts.handlers, parts.resources, parts.names);
  }

  get name(): string {
    return this.#parts.names.name;
  }

  get readKinds(): readonly KindRef[] {
    return this.#parts.reads;
  }

  get targets(): readonly WebhookTarget[] {
    return this.#entries.map(({ target }) => target);
  }

  mutates(mutator: Mutator<T>): AdmissionRules<T>;
  mutates<const On extends readonly MutatingOperation[] = DefaultOperations, const Sub extends string = ''>(
    options: HandlerOptions<On, Sub>,
    mutator: Mutator<SubresourceObject<T, Sub>, On[number]>,
  ): AdmissionRules<T>;
  mutates(...args: readonly [unknown, unknown?]): AdmissionRules<T> {
    const [options, call] = this.#arguments('mutates', args);
    return this.#add('mutates', 'mutating', options, { as: 'mutator', call: call as Mutator<never, never> });
  }

  validates(validator: Validator<T>): AdmissionRules<T>;
  validates<const On extends readonly AdmissionOperation[] = DefaultOperations, const Sub extends string = ''>(
    options: HandlerOptions<On, Sub>,
    validator: Validator<SubresourceObject<T, Sub>, On[number]>,
  ): AdmissionRules<T>;
  validates(...args: readonly [unknown, unknown?]): AdmissionRules<T> {
    const [options, call] = this.#arguments('validates', args);
    return this.#add('validates', 'validating', options, { as: 'validator', call: call as Validator<never, never> });
  }

  handles(options: RawHandlerOptions, handler: RawHandler): AdmissionRules<T> {
    checkRawOptions(`${this.#parts.shown}.handles`, options);
    const { type, ...rest } = options;
    const [checked, call] = this.#arguments('handles', [rest, handler]);
    return this.#add('handles', type, checked, { as: 'raw', call: call as RawHandler });
  }

  reads(...kinds: readonly KindRef[]): AdmissionRules<T> {
    for (const kind of kinds) assertKind(`${this.#parts.shown}.reads`, kind);
    return new AdmissionRules<T>({ ...this.#parts, reads: [...this.#parts.reads, ...kinds] });
  }

  bind(parts: WebhookParts): readonly WebhookRoute[] {
    return this.#entries.map((entry) => new AdmissionRoute(entry, this.#parts.resources, parts));
  }

  addTo(manager: Manager): AddedWebhook {
    if (this.#entries.length === 0) {
      throw new TypeError(`${this.#parts.shown} has no handlers; add them with mutates or validates`);
    }
    return addWebhook(manager, this);
  }

  #arguments(method: string, [first, second]: readonly [unknown, unknown?]): [HandlerOptions, unknown] {
    const [options, call] = second === undefined && typeof first === 'function' ? [{}, first] : [first, second];
    if (typeof call === 'function') return [options as HandlerOptions, call];
    throw new TypeError(`${this.#parts.shown}.${method}: expects a function, got ${shownBriefly(call ?? options)}`);
  }

  #add(
    method: string,
    type: AdmissionHandler['type'],
    options: HandlerOptions,
    run: AdmissionHandler['run'],
  ): AdmissionRules<T> {
    checkHandlerOptions(`${this.#parts.shown}.${method}`, options, type === 'mutating');
    const { on = ['create', 'update'], subresource = '', name, path, ...own } = options;
    const { reinvocationPolicy, ...shared } = this.#parts.rules;
    const inherited = type === 'mutating' ? this.#parts.rules : shared;
    const handler: AdmissionHandler = { type, on, subresource, name, path, rules: { ...inherited, ...own }, run };
    return new AdmissionRules<T>({ ...this.#parts, handlers: [...this.#parts.handlers, handler] });
  }
}
