/** A question of an expression to the authorizer. */
export interface PolicyAccessQuestion {
  readonly user: { readonly username: string; readonly groups?: readonly string[] };
  readonly verb: string;
  readonly isResource: boolean;
  readonly group: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  /** Of a path that is not a resource. */
  readonly path: string;
}

/** What the check of an expression has found, for one kind that the policy matches. */
export interface PolicyExpressionReport {
  /** Where it stands: `spec.validations[0].expression`. */
  readonly path: string;
  readonly expression: string;
  /** The kind that it was checked for; undefined if the policy names no kind that is known. */
  readonly kind: string | undefined;
  /** Why a server would refuse it, or warn about it; undefined if it is fine. */
  readonly problem: string | undefined;
  /** The least and the most that it can cost, by the limits of the schema; undefined if it has a problem. */
  readonly cost: { readonly min: number; readonly max: number } | undefined;
  /** The cost at which a server stops, and the request fails. */
  readonly limit: number;
}

interface Outcome {
  readonly violations: readonly {
    readonly policy: string;
    readonly binding: string | undefined;
    readonly message: string;
    readonly reason: string;
    readonly actions: readonly string[];
    readonly index: number | undefined;
  }[];
  readonly object: object | undefined;
  readonly auditAnnotations: Readonly<Record<string, string>>;
}

/** The part of `@riata/apiserver/policies` that is used here. */
export interface PolicyEngine {
  checkPolicy(
    policy: object,
    options: { readonly definitions: readonly object[] },
  ): Promise<readonly PolicyExpressionReport[]>;
  evaluatePolicies(request: Readonly<Record<string, unknown>>): Promise<Outcome>;
}

/** Loads the CEL of the embedded server; operators in production do without. Throws, with the remedy, if it is missing. */
export async function loadPolicyEngine(subject: string): Promise<PolicyEngine> {
  // Not a literal: it is no dependency, and bundlers would look for it.
  const name: string = '@riata/apiserver/policies';
  try {
    return (await import(/* @vite-ignore */ name)) as PolicyEngine;
  } catch (error) {
    const remedy = 'run "npm install --save-dev @riata/apiserver"';
    throw new Error(`${subject}: the package @riata/apiserver is not installed; ${remedy}`, { cause: error });
  }
}
