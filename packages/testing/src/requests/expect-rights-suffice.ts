import { ClusterRole, ClusterRoleBinding, Namespace, Role, RoleBinding } from 'riata/kinds';
import type { KindRef, ObjectKey } from 'riata/object';
import { ignoreNotFound } from 'riata/rest';
import { describeError, type MemoryLogger } from 'riata/runtime';
import { callerLine } from '../caller-line.js';
import type { TestEnvironment } from '../test-environment.js';
import type { TestIdentity } from '../test-identity.js';
import type { RecordedRequest } from './request-recorder.js';
import { rightsOf, type UsedRights } from './used-rights.js';

/** Who it is whose rights are tried. */
const user = 'riata-rights-check';

/**
 * Runs `work` as a user that has these rights and no others, and settles. Rejects if a request was forbidden, naming the
 * rules that are missing, what needed them, and the line of code. The roles are removed afterwards. Roles for namespaces
 * that don't exist are left out.
 *
 * @example
 * const rights = usedRights(env.requests);
 * await env.reset();
 * await expectRightsSuffice(env, rights, async (operator) => {
 *   await operator.run(foos);
 *   await env.client.create(foo);
 * });
 */
export async function expectRightsSuffice(
  env: TestEnvironment,
  rights: UsedRights,
  work: (as: TestIdentity) => unknown,
): Promise<void> {
  const made = await grant(env, rights);
  const from = env.requests.all.length;
  const loggedBefore = env.log.records.length;
  let thrown: unknown;
  try {
    await work(env.as({ user }));
    await env.settle();
  } catch (error) {
    thrown = error;
  } finally {
    for (const { kind, key } of made) await env.client.delete(kind, key).catch(ignoreNotFound);
  }
  const denied = env.requests.all.slice(from).filter(({ code, headers }) => code === 403 && isTried(headers));
  if (denied.length === 0) {
    if (thrown !== undefined) throw thrown;
    return;
  }
  const errors = [thrown, ...errorsIn(env.log, loggedBefore)];
  throw new Error(
    `rights do not suffice; grant:\n${[...new Set(denied.map((one) => describe(one, errors)))].join('\n')}`,
    {
      cause: thrown,
    },
  );
}

/** Grants the user these rights, and returns the created objects. */
async function grant(env: TestEnvironment, rights: UsedRights): Promise<{ kind: KindRef; key: ObjectKey }[]> {
  const made: { kind: KindRef; key: ObjectKey }[] = [];
  for (const manifest of rights.manifests({ name: user, for: { user } })) {
    const kind = kinds[manifest.kind as keyof typeof kinds];
    const { namespace, name = '' } = manifest.metadata as { readonly namespace?: string; readonly name?: string };
    if (namespace !== undefined && (await env.client.find(Namespace, { name: namespace })) === undefined) continue;
    await env.client.create(manifest as never);
    made.push({ kind, key: namespace === undefined ? { name } : { namespace, name } });
  }
  return made;
}

const kinds = { ClusterRole, ClusterRoleBinding, Role, RoleBinding };

function isTried(headers: RecordedRequest['headers']): boolean {
  return headers['impersonate-user'] === user;
}

/** Errors that were logged, e.g. of reconciles. */
function errorsIn({ records }: MemoryLogger, from: number): unknown[] {
  return records.slice(from).flatMap(({ fields }) => Object.values(fields).filter((value) => value instanceof Error));
}

function describe(request: RecordedRequest, errors: readonly unknown[]): string {
  const [right] = rightsOf({ ...request, code: undefined });
  const rule =
    right === undefined
      ? request.verb
      : JSON.stringify(
          'path' in right
            ? { nonResourceURLs: [right.path], verbs: [right.verb] }
            : { apiGroups: [right.group], resources: [right.resource], verbs: [right.verb] },
        );
  const where = request.namespace === undefined ? 'at the cluster scope' : `in namespace ${request.namespace}`;
  const line = errors.map((error) => lineOf(error, request)).find((found) => found !== undefined);
  return `  ${rule} ${where}: ${request.verb} ${request.object}${line === undefined ? '' : ` at ${line}`}`;
}

/** Where a request was made that has failed with this error. */
function lineOf(error: unknown, { path }: RecordedRequest): string | undefined {
  for (let at = error; at instanceof Error; at = at.cause) {
    if (describeError(at).includes(path.split('?', 1)[0] ?? path)) return callerLine(at.stack);
  }
  return undefined;
}
