import type { KindRef } from '../../object/kind.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { PolicyOperation } from './policy-context.js';
import { loadPolicyEngine, type PolicyAccessQuestion, type PolicyExpressionReport } from './policy-engine.js';
import type { PolicyObject } from './policy-objects.js';
import type { PolicyAction } from './policy-options.js';

/** A request to check, beyond its object. */
export interface PolicyCheckOptions {
  /** The stored object that the new one replaces. @default none: the object is created */
  readonly old?: object;
  /** With `delete`, the object is the one that is deleted. @default `update` if there is an `old`, otherwise `create` */
  readonly operation?: PolicyOperation;
  /** The subresource that is written. @default the object itself */
  readonly subresource?: string;
  /** The params objects that exist. @default none */
  readonly params?: object | readonly object[];
  /** Who sends the request. @default an administrator, member of `system:masters` */
  readonly user?: {
    readonly username: string;
    readonly uid?: string;
    readonly groups?: readonly string[];
    readonly extra?: Readonly<Record<string, readonly string[]>>;
  };
  /** The Namespace of the object; only its labels matter to most policies. @default an active one without labels */
  readonly namespace?: object;
  /** Answers the questions of `authorizer`. @default members of `system:masters` may do everything, others nothing */
  readonly allows?: (question: PolicyAccessQuestion) => boolean;
  /** @default false */
  readonly dryRun?: boolean;
}

export const policyCheckOptionNames = optionNames<PolicyCheckOptions>({
  ...{ old: true, operation: true, subresource: true, params: true, user: true, namespace: true },
  ...{ allows: true, dryRun: true },
});

/** Something about a request that a policy does not allow, or an error of the policy. */
export interface PolicyViolation {
  readonly policy: string;
  /** Undefined if the policy itself is at fault. */
  readonly binding: string | undefined;
  readonly message: string;
  readonly reason: string;
  /** What the server does about it. */
  readonly actions: readonly PolicyAction[];
}

/** What policies do about a request. */
export interface PolicyPreview {
  readonly violations: readonly PolicyViolation[];
  /** The object with the server's defaults, as mutations changed it; undefined for a deletion. */
  readonly object: object | undefined;
  /** By `policy/key`. */
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** Policies that can be checked. */
export interface CheckedPolicy {
  readonly name: string;
  readonly objects: readonly PolicyObject[];
  readonly kinds: readonly KindRef[];
}

/** Evaluates policies together for one request, as a server would: mutations first. */
export async function previewPolicy(
  policies: readonly CheckedPolicy[],
  object: object,
  options: PolicyCheckOptions,
): Promise<PolicyPreview> {
  const subject = `policy "${policies.map(({ name }) => name).join(', ')}": check`;
  refuseUnknownOptions(subject, options, policyCheckOptionNames);
  const { old, operation, params, ...rest } = options;
  const isDelete = operation === 'delete';
  const engine = await loadPolicyEngine(subject);
  const found = await engine.evaluatePolicies({
    ...rest,
    policies: policies.flatMap(({ objects }) => objects),
    ...(isDelete ? { old: old ?? object } : { object, old }),
    ...(operation === undefined ? {} : { operation: operation.toUpperCase() }),
    params: params === undefined ? [] : Array.isArray(params) ? params : [params],
    definitions: definitionsOf(policies),
  });
  const violations = found.violations.map(({ policy, binding, message, reason, actions }) => ({
    ...{ policy, binding, message, reason },
    actions: actions.map((action) => action.toLowerCase() as PolicyAction),
  }));
  return { ...found, violations };
}

/** The CustomResourceDefinitions of the kinds that policies name. */
function definitionsOf(policies: readonly CheckedPolicy[]): readonly object[] {
  const kinds = new Set(policies.flatMap(({ kinds: of }) => of));
  return [...kinds].flatMap((kind) => (kind as { crd?: () => object }).crd?.() ?? []);
}

/** Checks the types of all expressions and estimates their costs: requires the package `@riata/apiserver`. */
export async function checkPolicies(
  ...policies: readonly CheckedPolicy[]
): Promise<readonly (PolicyExpressionReport & { readonly policy: string })[]> {
  const engine = await loadPolicyEngine('checkPolicies');
  const definitions = definitionsOf(policies);
  const reports = policies.flatMap(({ name, objects }) =>
    objects
      .filter(({ kind }) => !kind.endsWith('Binding'))
      .map(async (object) => {
        const found = await engine.checkPolicy(object, { definitions });
        return found.map((report) => ({ ...report, policy: name }));
      }),
  );
  return (await Promise.all(reports)).flat();
}

/**
 * The objects of policies, for a file or a chart, after their expressions were checked against the types of the kinds that
 * they match. Throws an `Error` that lists every expression which the server would refuse or warn about. Requires the
 * package `@riata/apiserver`.
 */
export async function policyManifests(...policies: readonly CheckedPolicy[]): Promise<readonly PolicyObject[]> {
  const reports = await checkPolicies(...policies);
  const wrong = reports.filter(({ problem }) => problem !== undefined);
  if (wrong.length > 0) {
    const lines = wrong.map(({ policy, path, kind, problem }) => {
      return `- policy "${policy}", ${path}${kind === undefined ? '' : ` (${kind})`}: ${problem}`;
    });
    throw new Error(`policyManifests: the server would not accept these expressions:\n${lines.join('\n')}`);
  }
  return policies.flatMap(({ objects }) => objects);
}
