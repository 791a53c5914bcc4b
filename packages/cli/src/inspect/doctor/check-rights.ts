import { createClient, isForbidden } from 'riata';
import { Deployment, SelfSubjectAccessReview, ServiceAccount, SubjectAccessReview } from 'riata/kinds';
import { silentLogger } from 'riata/runtime';
import { operatorObjects } from '../../manifests/operator-objects.js';
import { type CheckedCluster, type Finding, ok, problem, warning } from './finding.js';

interface Rule {
  readonly apiGroups?: readonly string[];
  readonly resources?: readonly string[];
  readonly resourceNames?: readonly string[];
  readonly nonResourceURLs?: readonly string[];
  readonly verbs: readonly string[];
}

/** One question to the server, and how a missing right is listed. */
interface Right {
  readonly attributes: Readonly<Record<string, string>> | undefined;
  readonly path?: string;
  readonly verb: string;
  readonly what: string;
}

/** Reviews at once: they are cheap for the server, and there may be a hundred. */
const atOnce = 8;

/** Whether the operator's ServiceAccount has the rights that its definitions need. Never about the rights of the caller. */
export async function checkRights(cluster: CheckedCluster): Promise<readonly Finding[]> {
  const { operator, client, signal } = cluster;
  if (operator === undefined) return [];
  const { namespace } = operator;
  const objects = await operatorObjects(operator);
  const described = accountOf(objects.find(isOwnDeployment(operator)) as never) ?? operator.name;
  // Somebody may have deployed it with another account: that one is what counts.
  const deployed = await client.find(Deployment, { namespace, name: operator.name }, { signal });
  const name = accountOf(deployed) ?? described;
  const subject = `ServiceAccount ${namespace}/${name}`;
  if ((await client.find(ServiceAccount, { namespace, name }, { signal })) === undefined) {
    return [warning(`${subject} not found: its rights cannot be checked`, 'deploy the operator: riata deploy')];
  }
  const rights = neededRights(objects, namespace, described);
  const missing = await missingRights(cluster, rights, `system:serviceaccount:${namespace}:${name}`);
  if (missing === undefined) {
    return [
      warning(
        `you may neither create SubjectAccessReviews nor impersonate ${subject}: its rights cannot be checked`,
        'ask as a user who may, by --context',
      ),
    ];
  }
  if (missing.size === 0) return [ok(`${subject} has all ${rights.length} rights that it needs`)];
  return [...missing]
    .sort()
    .map(([what, verbs]) =>
      problem(
        `${subject} may not ${[...verbs].sort().join(', ')} ${what}`,
        'apply the roles that riata manifests writes, or run riata deploy',
      ),
    );
}

const isOwnDeployment =
  ({ name }: { readonly name: string }) =>
  ({ kind, metadata }: { readonly kind: string; readonly metadata: { readonly name?: string } }) =>
    kind === 'Deployment' && metadata.name === name;

function accountOf(deployment: Deployment | undefined): string | undefined {
  return deployment?.spec?.template.spec?.serviceAccountName;
}

/**
 * What a user may not do, by verbs: asked about them, else asked as them, by impersonation. Undefined if the caller has the
 * right to neither.
 */
async function missingRights(
  { client, config, signal }: CheckedCluster,
  rights: readonly Right[],
  user: string,
): Promise<ReadonlyMap<string, ReadonlySet<string>> | undefined> {
  try {
    return await unanswered(rights, async (spec) => {
      const namespace = user.split(':')[2];
      const groups = ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'];
      const review = SubjectAccessReview({ metadata: {}, spec: { user, groups, ...spec } });
      return (await client.create(review, { signal })).status?.allowed;
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
  }
  await using impersonating = createClient({ ...config, impersonate: { user } }, { runtime: { log: silentLogger } });
  try {
    return await unanswered(rights, async (spec) => {
      const review = SelfSubjectAccessReview({ metadata: {}, spec });
      return (await impersonating.create(review, { signal })).status?.allowed;
    });
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return undefined;
  }
}

type ReviewSpec = Pick<SelfSubjectAccessReview['spec'], 'nonResourceAttributes' | 'resourceAttributes'>;

async function unanswered(
  rights: readonly Right[],
  isAllowed: (spec: ReviewSpec) => Promise<boolean | undefined>,
): Promise<Map<string, Set<string>>> {
  const missing = new Map<string, Set<string>>();
  const waiting = [...rights];
  const ask = async (): Promise<void> => {
    for (let right = waiting.shift(); right !== undefined; right = waiting.shift()) {
      const { attributes, path = '', verb, what } = right;
      const spec =
        attributes === undefined ? { nonResourceAttributes: { path, verb } } : { resourceAttributes: attributes };
      if (!(await isAllowed(spec))) missing.set(what, (missing.get(what) ?? new Set()).add(verb));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, ask));
  return missing;
}

/** The rights in the roles that the operator comes with. */
function neededRights(objects: readonly object[], ownNamespace: string, account: string): Right[] {
  const all = objects as readonly {
    readonly kind: string;
    readonly metadata: { readonly name: string; readonly namespace?: string };
    readonly rules?: readonly Rule[];
    readonly roleRef?: { readonly kind: string; readonly name: string };
    readonly subjects?: readonly { readonly kind: string; readonly name: string; readonly namespace?: string }[];
  }[];
  const bindings = all.filter(({ subjects = [] }) =>
    subjects.some(
      ({ kind, name, namespace = ownNamespace }) =>
        kind === 'ServiceAccount' && name === account && namespace === ownNamespace,
    ),
  );
  const rights = bindings.flatMap(({ kind, metadata, roleRef }) => {
    const role = all.find(
      (each) =>
        each.kind === roleRef?.kind &&
        each.metadata.name === roleRef.name &&
        (each.kind === 'ClusterRole' || each.metadata.namespace === metadata.namespace),
    );
    const place = kind === 'RoleBinding' ? metadata.namespace : undefined;
    return (role?.rules ?? []).flatMap((rule) => rightsOf(rule, place));
  });
  return [...new Map(rights.map((right) => [JSON.stringify(right), right])).values()];
}

function rightsOf(
  { apiGroups = [], resources = [], resourceNames = [], nonResourceURLs = [], verbs }: Rule,
  namespace: string | undefined,
): Right[] {
  const names = resourceNames.length === 0 ? [undefined] : resourceNames;
  const where = namespace === undefined ? '' : ` in ${namespace}`;
  return verbs.flatMap((verb) => [
    ...nonResourceURLs.map((path) => ({ attributes: undefined, path, verb, what: path })),
    ...apiGroups.flatMap((group) =>
      resources.flatMap((written) =>
        names.map((name): Right => {
          const [resource = '', subresource] = written.split('/', 2);
          const attributes = {
            ...{ verb, group, resource },
            ...(subresource && { subresource }),
            ...(name && { name }),
            ...(namespace && { namespace }),
          };
          const plural = group === '' ? resource : `${resource}.${group}`;
          const what = `${plural}${subresource ? `/${subresource}` : ''}${name ? ` "${name}"` : ''}${where}`;
          return { attributes, verb, what };
        }),
      ),
    ),
  ]);
}
