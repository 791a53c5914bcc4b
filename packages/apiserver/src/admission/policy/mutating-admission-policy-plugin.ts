import { equal, type GroupVersionKind, type JsonObject } from 'riata/object';
import { withConversions } from '../../resource/custom/stored-conversions.js';
import { metaOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { goQuote } from '../../status/go-quote.js';
import { Refusal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../admission.js';
import type { AdmissionParts } from '../admission-parts.js';
import type { AdmissionInput } from '../matching/admission-values.js';
import { converted, objectsIn } from '../matching/objects-in.js';
import { type MatchedResource, RequestMatcher } from '../matching/request-matcher.js';
import { Reinvocation } from '../reinvocation.js';
import { Rounds } from '../rounds.js';
import { resourceOf } from '../webhook/apply-patch.js';
import { applyConfiguration, applyPatches } from './apply-mutation.js';
import { MutatingPolicy } from './mutating-policy.js';
import { MutationError } from './mutation-error.js';
import { nameOf } from './policy-denial.js';
import { isExempt, type PolicyInvocation, policyInvocations } from './policy-invocations.js';
import { PolicySource } from './policy-source.js';

/** The objects of a request in one version. */
interface Versioned {
  readonly matched: MatchedResource;
  object: JsonObject | undefined;
  readonly oldObject: JsonObject | undefined;
  /** Whether a mutation was applied. */
  isMutated: boolean;
}

/** Enforces MutatingAdmissionPolicies. */
export class MutatingAdmissionPolicyPlugin implements AdmissionPlugin {
  readonly name = 'MutatingAdmissionPolicy';
  readonly #parts: AdmissionParts;
  readonly #source: PolicySource<MutatingPolicy>;
  readonly #matcher: RequestMatcher;

  constructor(parts: AdmissionParts) {
    this.#parts = parts;
    this.#source = new PolicySource(parts.storage, 'mutating', (policy) => new MutatingPolicy(policy));
    this.#matcher = new RequestMatcher(parts);
  }

  observe(table: string): void {
    this.#source.observe(table);
  }

  handles(attributes: AdmissionAttributes): boolean {
    return attributes.operation !== 'DELETE' && this.#source.hooks.length > 0 && !isExempt(attributes);
  }

  needsManagedFields(attributes: AdmissionAttributes): boolean {
    if (!this.handles(attributes)) return false;
    return this.#source.hooks.some(({ spec }) => {
      const { resourceRules, matchPolicy } = recordOf(spec.matchConstraints);
      return this.#matcher.matchRules(recordsOf(resourceRules), matchPolicy === 'Equivalent', attributes) !== undefined;
    });
  }

  *admit(attributes: AdmissionAttributes): Steps<JsonObject | undefined> {
    const errors: PolicyErrors = new PolicyErrors();
    const invocations: PolicyInvocation<MutatingPolicy>[] = [];
    const versions = new Map<string, Versioned>();
    for (const found of yield* policyInvocations(this.#source.hooks, attributes, this.#matcher, this.#parts)) {
      if ('error' in found) errors.add(found, found.error, '');
      else {
        invocations.push(found);
        const { matched } = found;
        if (!versions.has(matched.resource.apiVersion)) {
          const objects = yield* withConversions(() => objectsIn(matched, attributes));
          versions.set(matched.resource.apiVersion, { matched, ...objects, isMutated: false });
        }
      }
    }
    const object =
      invocations.length === 0 ? attributes.object : yield* this.#run(invocations, versions, attributes, errors);
    errors.throwIfAny(attributes);
    return object;
  }

  *#run(
    invocations: readonly PolicyInvocation<MutatingPolicy>[],
    versions: ReadonlyMap<string, Versioned>,
    attributes: AdmissionAttributes,
    errors: PolicyErrors,
  ): Steps<JsonObject | undefined> {
    const { reinvocation = new Reinvocation(), namespace, resource } = attributes;
    const rounds = reinvocation.memory(this.name, () => new Rounds());
    if (reinvocation.isRunning) rounds.resume(attributes.object);
    const isNamespaced = namespace !== '' && resource.table !== '/namespaces';
    const namespaceObject = isNamespaced ? this.#matcher.namespace(namespace) : undefined;
    let last: Versioned | undefined;
    for (const invocation of invocations) {
      const { hook, matched } = invocation;
      const version = versions.get(matched.resource.apiVersion) as Versioned;
      for (const params of invocation.params) {
        const inputOf = (): AdmissionInput => ({
          ...{ attributes, matched, params, object: version.object, oldObject: version.oldObject },
          namespace: namespaceObject,
          decide: (question) => this.#parts.authorizer.decide(question as never),
        });
        const meant = hook.compiled.matches(inputOf());
        if ('error' in meant) errors.add(invocation, meant.error, 'Invalid');
        if ('error' in meant || !meant.matches) continue;
        const id = JSON.stringify([hook.name, invocation.binding.name, params && keyOf(params)]);
        if (reinvocation.isRunning && !rounds.isCalledAgain(id)) continue;
        const before = version.object;
        last = version;
        yield* this.#mutate(invocation, version, inputOf, errors);
        if (!equal(before ?? null, version.object ?? null)) {
          rounds.callAgain();
          reinvocation.require();
        }
        if (hook.compiled.isReinvoked) rounds.invoked(id);
      }
    }
    const result = last?.isMutated === true ? yield* this.#result(last, attributes) : attributes.object;
    if (last?.isMutated === true) {
      rounds.callAgain();
      reinvocation.require();
    }
    rounds.finish(result);
    return result;
  }

  *#mutate(
    invocation: PolicyInvocation<MutatingPolicy>,
    version: Versioned,
    inputOf: () => AdmissionInput,
    errors: PolicyErrors,
  ): Steps<void> {
    const { compiled } = invocation.hook;
    const { attributes } = inputOf();
    const { resource, kind } = version.matched;
    const as = resourceOf(attributes, resource);
    for (const mutation of compiled.mutations) {
      if (version.object === undefined) continue;
      try {
        const made = compiled.evaluate(mutation, inputOf());
        const isPatch = mutation.type === 'JSONPatch';
        if (!isPatch && as !== resource) throw untyped(kind);
        const object: JsonObject = yield* (isPatch ? applyPatches : applyConfiguration)(version.object, made, as);
        if (resource.builtIn && resource !== attributes.resource) throw unconverted(kind, attributes.kind);
        version.object = object;
        version.isMutated = true;
      } catch (error) {
        if (!(error instanceof MutationError)) throw error;
        errors.add(invocation, error.message, 'Invalid');
      }
      yield;
    }
  }

  /** The resulting object, in the version of the request. */
  *#result({ matched, object }: Versioned, attributes: AdmissionAttributes): Steps<JsonObject | undefined> {
    const { resource, subresource, kind } = attributes;
    const isOther = subresource !== '' && kind.kind !== resource.kind;
    if (object === undefined || matched.resource === resource || isOther) return object;
    return yield* withConversions(() => converted(object, matched.resource, resource));
  }
}

/** Upstream has no schema to merge bodies of subresources, such as a Scale. */
function untyped({ group, version, kind }: GroupVersionKind): MutationError {
  const gvk = `${group}/${version}, Kind=${kind}`;
  return new MutationError(
    `error applying patch: failed to convert patch object to typed object: no corresponding type for ${gvk}`,
  );
}

/** Upstream cannot convert a built-in object back to the version of the request. */
function unconverted(from: GroupVersionKind, to: GroupVersionKind): MutationError {
  return new MutationError(
    `converting (${from.version}.${from.kind}) to (${to.version}.${to.kind}): unknown conversion`,
  );
}

function keyOf(params: JsonObject): string {
  const { namespace, name } = metaOf(params);
  return `${textOf(namespace)}/${textOf(name)}`;
}

type Blamed = {
  readonly hook: { readonly name: string; readonly spec: JsonObject };
  readonly binding: { readonly name: string } | undefined;
};

/** The errors of policies with `failurePolicy: Fail`. */
class PolicyErrors {
  readonly #errors: { readonly message: string; readonly reason: string }[] = [];

  add({ hook, binding }: Blamed, why: string, reason: string): void {
    if (hook.spec.failurePolicy === 'Ignore') return;
    const by = binding === undefined ? goQuote(hook.name) : `'${hook.name}' with binding '${binding.name}'`;
    this.#errors.push({ message: `policy ${by} denied request: ${why}`, reason });
  }

  throwIfAny(attributes: AdmissionAttributes): void {
    const [first] = this.#errors;
    if (first === undefined) return;
    const { group, plural } = attributes.resource;
    const causes = this.#errors.map(({ message }) => ({ message }));
    const details = { name: nameOf(attributes), ...(group === '' ? {} : { group }), kind: plural, causes };
    throw new Refusal(403, first.reason === '' ? 'Forbidden' : first.reason, first.message, details);
  }
}
