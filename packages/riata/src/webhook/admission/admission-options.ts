import { type Duration, durationMs } from '../../object/duration.js';
import type { LabelSelector } from '../../object/meta.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { AdmissionOperation } from './admission-context.js';
import type { ReviewVersion } from './admission-review.js';

/** When an API server calls a webhook, and what it does if that fails: the fields of a webhook configuration. */
export interface AdmissionCallRules {
  /**
   * What becomes of a request if the webhook cannot be called, throws or takes too long: it fails, or it is let pass as if
   * the webhook had allowed it. Denials always count. @default 'fail'
   */
  readonly failurePolicy?: 'fail' | 'ignore';
  /** How long API servers wait for the answer: whole seconds, from 1 to 30. @default '10s' */
  readonly timeout?: Duration;
  /**
   * Whether the handlers change anything besides the object. With `'none'` their client refuses to write; with
   * `'noneOnDryRun'` it writes, except in a dry run. @default 'none'
   */
  readonly sideEffects?: 'none' | 'noneOnDryRun';
  /**
   * Whether requests in other versions of the kind come too, converted to the version of the definition, or those alone
   * that use the definition's version. @default 'equivalent'
   */
  readonly matchPolicy?: 'equivalent' | 'exact';
  /**
   * CEL conditions by name; the webhook is called if all of them are true. They know `object`, `oldObject`, `request` and
   * `authorizer`. @default none
   */
  readonly matchConditions?: Readonly<Record<string, string>>;
  /** The namespaces whose objects are reviewed, by their labels. @default all */
  readonly namespaceSelector?: LabelSelector;
  /** The objects that are reviewed, by their labels, the old or the new ones. Users can change labels. @default all */
  readonly objectSelector?: LabelSelector;
  /** Whether namespaced or cluster-scoped objects are reviewed. @default both */
  readonly scope?: 'namespaced' | 'cluster';
  /** Whether a mutation runs again if a later one has changed the object. It must be idempotent either way. @default 'never' */
  readonly reinvocationPolicy?: 'never' | 'ifNeeded';
  /** Versions of AdmissionReview to accept, best first. @default ['v1'] */
  readonly admissionReviewVersions?: readonly ReviewVersion[];
}

/** Options of `admit`. What a handler gives itself overrides them. */
export interface AdmitOptions extends AdmissionCallRules {
  /**
   * Names the webhook in logs, metrics and configurations, and its paths. Required if a manager has several for one kind.
   * @default the kind in lower case
   */
  readonly name?: string;
  /**
   * Runs the kind's own schema for each create and update: what a CustomResourceDefinition cannot say, such as refinements,
   * denies the request, and computed defaults are added. See `beyondCrd` of `defineKind`. @default false
   */
  readonly schema?: boolean;
}

/** Options of one handler. Handlers whose options differ in more than `on` and `subresource` are called on their own. */
export interface HandlerOptions<
  On extends readonly AdmissionOperation[] = readonly AdmissionOperation[],
  Sub extends string = string,
> extends AdmissionCallRules {
  /** The operations to review. @default ['create', 'update'] */
  readonly on?: On;
  /** A subresource to review instead of the object itself: `status`, `scale`, `exec`…, or `*` for all. @default none */
  readonly subresource?: Sub;
  /** Distinguishes webhooks of one definition in configurations and paths. @default numbers, from the second one on */
  readonly name?: string;
  /** Where API servers call it. @default `/mutate-<group>-<version>-<kind>`, `/validate-…`; dots of the group are dashes */
  readonly path?: string;
}

/** Options of a raw handler. */
export interface RawHandlerOptions extends HandlerOptions {
  /** Whether it may patch (`mutating`), or is called after all patches and in parallel with others (`validating`). */
  readonly type: 'mutating' | 'validating';
}

const callRuleNames = optionNames<AdmissionCallRules>({
  failurePolicy: true,
  timeout: true,
  sideEffects: true,
  matchPolicy: true,
  matchConditions: true,
  namespaceSelector: true,
  objectSelector: true,
  scope: true,
  reinvocationPolicy: true,
  admissionReviewVersions: true,
});
const admitOptionNames = callRuleNames.and<AdmitOptions>({ name: true, schema: true });
const handlerOptionNames = callRuleNames.and<HandlerOptions>({ on: true, subresource: true, name: true, path: true });

const rawHandlerOptionNames = handlerOptionNames.and<RawHandlerOptions>({ type: true });

/** Throws a `TypeError` for options of `admit` that there are not, or values that no server accepts. */
export function checkAdmitOptions(where: string, options: AdmitOptions): void {
  refuseUnknownOptions(where, options, admitOptionNames);
  if (options.schema !== undefined) oneOf(where, 'schema', options.schema, [true, false]);
  checkRules(where, options);
}

/** The same for options of a handler. */
export function checkHandlerOptions(where: string, options: HandlerOptions, isMutating: boolean): void {
  if (typeof options !== 'object' || options === null) {
    throw new TypeError(`${where}: expects a function, or options and a function`);
  }
  refuseUnknownOptions(where, options, handlerOptionNames);
  checkRules(where, options);
  const { on, subresource, path, reinvocationPolicy } = options;
  if (on !== undefined) {
    if (!Array.isArray(on) || on.length === 0) throw new TypeError(`${where}: on must name at least one operation`);
    const operations = isMutating ? ['create', 'update', 'connect'] : ['create', 'update', 'delete', 'connect'];
    for (const operation of on) oneOf(where, 'on', operation, operations);
  }
  if (subresource !== undefined && !/^(?:\*|[a-z][a-z0-9-]*)$/.test(subresource)) {
    throw new TypeError(`${where}: subresource must be a name such as "status", or "*", got ${shown(subresource)}`);
  }
  if (path !== undefined && !/^\/[\w./~-]*$/.test(path)) {
    throw new TypeError(`${where}: path must start with a slash, as in "/validate-sites", got ${shown(path)}`);
  }
  if (reinvocationPolicy !== undefined && !isMutating) {
    throw new TypeError(`${where}: reinvocationPolicy is an option of mutations`);
  }
}

/** The same for options of a raw handler. */
export function checkRawOptions(where: string, options: RawHandlerOptions): void {
  refuseUnknownOptions(where, options, rawHandlerOptionNames);
  oneOf(where, 'type', options.type, ['mutating', 'validating']);
}

function checkRules(where: string, options: AdmissionCallRules): void {
  const { timeout, admissionReviewVersions: versions, matchConditions } = options;
  const choices = {
    failurePolicy: ['fail', 'ignore'],
    sideEffects: ['none', 'noneOnDryRun'],
    matchPolicy: ['equivalent', 'exact'],
    scope: ['namespaced', 'cluster'],
    reinvocationPolicy: ['never', 'ifNeeded'],
  } as const;
  for (const [name, values] of Object.entries(choices)) {
    const value = options[name as keyof typeof choices];
    if (value !== undefined) oneOf(where, name, value, values);
  }
  if (timeout !== undefined) {
    const seconds = durationMs(timeout, `${where}: timeout`) / 1000;
    if (!Number.isInteger(seconds) || seconds < 1 || seconds > 30) {
      throw new TypeError(`${where}: timeout must be whole seconds from "1s" to "30s", got ${shown(timeout)}`);
    }
  }
  if (versions !== undefined) {
    if (!Array.isArray(versions) || versions.length === 0) {
      throw new TypeError(`${where}: admissionReviewVersions must name at least one of v1, v1beta1`);
    }
    for (const version of versions) oneOf(where, 'admissionReviewVersions', version, ['v1', 'v1beta1']);
  }
  for (const [name, expression] of Object.entries(matchConditions ?? {})) {
    if (typeof expression === 'string' && expression !== '') continue;
    throw new TypeError(`${where}: matchConditions.${name} must be a CEL expression`);
  }
}

function oneOf(where: string, name: string, value: unknown, values: readonly unknown[]): void {
  if (values.includes(value)) return;
  throw new TypeError(`${where}: ${name} must be ${values.map(shown).join(' or ')}, got ${shown(value)}`);
}

function shown(value: unknown): string {
  return typeof value === 'string' ? JSON.stringify(value) : String(value);
}
