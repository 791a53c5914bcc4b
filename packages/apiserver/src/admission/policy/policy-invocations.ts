import type { JsonObject } from 'riata/object';
import { withConversions } from '../../resource/custom/stored-conversions.js';
import { isGiven, recordOf } from '../../resource/metadata.js';
import type { Resource } from '../../resource/resource.js';
import { Refusal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import type { AdmissionAttributes } from '../admission.js';
import type { MatchedResource, RequestMatcher } from '../matching/request-matcher.js';
import { ConfigurationError, collectParams, type ParamsParts, paramResource } from './policy-params.js';
import type { PolicyBinding, PolicyHook } from './policy-source.js';

/** A policy to run for a request, by one of its bindings and with each of its params. */
export interface PolicyInvocation<Compiled> {
  readonly hook: PolicyHook<Compiled>;
  readonly binding: PolicyBinding;
  readonly matched: MatchedResource;
  readonly params: readonly (JsonObject | undefined)[];
}

/** A policy or binding that matches but cannot be run. */
export interface FailedInvocation<Compiled> {
  readonly hook: PolicyHook<Compiled>;
  /** Undefined if the policy itself is at fault. */
  readonly binding: PolicyBinding | undefined;
  readonly error: string;
}

/** The policies that a request invokes, by policy and binding. */
export function* policyInvocations<Compiled>(
  hooks: readonly PolicyHook<Compiled>[],
  attributes: AdmissionAttributes,
  matcher: RequestMatcher,
  parts: ParamsParts,
): Steps<readonly (PolicyInvocation<Compiled> | FailedInvocation<Compiled>)[]> {
  const found: (PolicyInvocation<Compiled> | FailedInvocation<Compiled>)[] = [];
  for (const hook of hooks) {
    const policy = attempt(() => {
      const matched = matcher.match(recordOf(hook.spec.matchConstraints), attributes);
      return matched && { matched, resource: paramResource(hook.spec, parts) };
    });
    if (policy === undefined) continue;
    if ('error' in policy) {
      found.push({ hook, binding: undefined, error: `failed to configure policy: ${policy.error}` });
      continue;
    }
    for (const binding of hook.bindings) {
      const collect = () => attempt(() => paramsOf(binding, attributes, matcher, policy.resource, parts));
      const params = yield* withConversions(collect);
      if (params === undefined) continue;
      if ('error' in params) found.push({ hook, binding, error: `failed to configure binding: ${params.error}` });
      else found.push({ hook, binding, matched: policy.matched, params });
    }
  }
  return found;
}

/** The params of a binding for a request; undefined if it does not match. */
function paramsOf(
  { spec }: PolicyBinding,
  attributes: AdmissionAttributes,
  matcher: RequestMatcher,
  resource: Resource | undefined,
  parts: ParamsParts,
): readonly (JsonObject | undefined)[] | undefined {
  const isMeant = !isGiven(spec.matchResources) || matcher.match(recordOf(spec.matchResources), attributes);
  return isMeant ? collectParams(resource, spec, attributes.namespace, parts) : undefined;
}

/** Catches configuration errors and returns them as values. */
function attempt<T>(work: () => T): T | { readonly error: string } {
  try {
    return work();
  } catch (error) {
    if (error instanceof ConfigurationError || error instanceof Refusal) return { error: error.message };
    throw error;
  }
}

/** Policies never see these kinds: a policy that refuses them could not be removed. */
const exempt: ReadonlySet<string> = new Set([
  'admissionregistration.k8s.io/validatingadmissionpolicies',
  'admissionregistration.k8s.io/validatingadmissionpolicybindings',
  'admissionregistration.k8s.io/mutatingadmissionpolicies',
  'admissionregistration.k8s.io/mutatingadmissionpolicybindings',
  'authentication.k8s.io/selfsubjectreviews',
  'authentication.k8s.io/tokenreviews',
  'authorization.k8s.io/localsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectaccessreviews',
  'authorization.k8s.io/selfsubjectrulesreviews',
  'authorization.k8s.io/subjectaccessreviews',
]);

export function isExempt({ resource: { group, plural } }: AdmissionAttributes): boolean {
  return exempt.has(`${group}/${plural}`);
}
