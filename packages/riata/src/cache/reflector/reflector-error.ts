import { isCustomGroup } from '../../object/is-custom-group.js';
import type { KindRef } from '../../object/kind.js';
import { findApiError } from '../../rest/errors/api-error.js';
import { isForbidden, isMethodNotSupported, isNotFound, isUnauthorized } from '../../rest/errors/error-guards.js';

/** Problems that waiting does not solve: an operator has to act, on the cluster or on the credentials. */
export type ReflectorProblem = 'forbidden' | 'unauthorized' | 'not-served' | 'no-watch';

const brand: unique symbol = Symbol.for('riata.ReflectorError') as never;

/**
 * A Reflector cannot get its data until an operator acts: the message says how. It keeps trying all the
 * same, as clusters get fixed. `cause` is the server's answer, so `isForbidden(error)` and the like work.
 */
export class ReflectorError extends Error {
  override readonly name = 'ReflectorError';
  readonly problem: ReflectorProblem;
  /** The name of the Reflector. */
  readonly reflector: string;

  constructor(message: string, options: { problem: ReflectorProblem; reflector: string; cause: unknown }) {
    super(message, { cause: options.cause });
    this.problem = options.problem;
    this.reflector = options.reflector;
    Object.defineProperty(this, brand, { value: true });
  }
}

/** True for a {@link ReflectorError}, also one of another copy of the package. */
export function isReflectorError(error: unknown): error is ReflectorError {
  return typeof error === 'object' && error !== null && brand in error;
}

/** The step in which a Reflector failed. */
export interface FailedAttempt {
  readonly reflector: string;
  readonly verb: 'list' | 'watch';
  readonly kind: KindRef | undefined;
}

/** The error in clear words, if it is one that waiting alone does not mend; any other as it is. */
export function explain(error: unknown, attempt: FailedAttempt): unknown {
  const problem = problemOf(error, attempt.verb);
  if (problem === undefined) return error;
  const { reflector, kind, verb } = attempt;
  // For a kind that is not served, servers only say "page not found".
  const said = problem === 'not-served' ? '' : (findApiError(error)?.status.message ?? '');
  const message = `reflector "${reflector}": ${texts[problem](kind, verb)}${said && `; the server says: ${said}`}`;
  return new ReflectorError(message, { problem, reflector, cause: error });
}

function problemOf(error: unknown, verb: 'list' | 'watch'): keyof typeof texts | undefined {
  if (isForbidden(error)) return 'forbidden';
  if (isUnauthorized(error)) return 'unauthorized';
  if (isNotFound(error)) return 'not-served';
  if (verb === 'watch' && isMethodNotSupported(error)) return 'no-watch';
  return undefined;
}

const texts: Readonly<Record<ReflectorProblem, (kind: KindRef | undefined, verb: string) => string>> = {
  forbidden: (kind, verb) =>
    `the user of these credentials may not ${verb} ${resourceOf(kind)}; grant list and watch with a ClusterRole and a ` +
    'ClusterRoleBinding, or watch only the namespaces where they are granted',
  unauthorized: (kind, verb) => `the server refused the credentials for ${verb} of ${resourceOf(kind)}; renew them`,
  'not-served': (kind) => {
    if (kind === undefined)
      return 'the server does not serve the resource; install it, or use a version that is served';
    const problem = `the server does not serve kind ${kind.kind} of ${kind.apiVersion}`;
    return isCustomGroup(kind.group)
      ? `${problem}; install the CustomResourceDefinition "${kind.plural}.${kind.group}" with version ${kind.version}, ` +
          'with kubectl apply, or installCrds of riata/patterns'
      : `${problem}; it belongs to another version of Kubernetes`;
  },
  'no-watch': (kind) => `${resourceOf(kind)} cannot be watched; list it live instead of caching it`,
};

function resourceOf(kind: KindRef | undefined): string {
  if (kind === undefined) return 'the resource';
  return kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
}
