import { isForbidden } from 'riata';
import { ServiceAccount, SubjectAccessReview } from 'riata/kinds';
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

/** Whether the operator's ServiceAccount has the rights that its definitions need. */
export async function checkRights(cluster: CheckedCluster): Promise<readonly Finding[]> {
  const { operator, client, signal } = cluster;
  if (operator === undefined) return [];
  const { name, namespace } = operator;
  if ((await client.find(ServiceAccount, { namespace, name }, { signal })) === undefined) {
    return [
      warning(
        `ServiceAccount ${namespace}/${name} not found: its rights cannot be checked`,
        'deploy the operator: riata deploy',
      ),
    ];
  }
  const rights = neededRights(await operatorObjects(operator), namespace, name);
  const missing = new Map<string, Set<string>>();
  const waiting = [...rights];
  const ask = async (): Promise<void> => {
    for (let right = waiting.shift(); right !== undefined; right = waiting.shift()) {
      if (await isAllowed(cluster, right, namespace, name)) continue;
      missing.set(right.what, (missing.get(right.what) ?? new Set()).add(right.verb));
    }
  };
  try {
    await Promise.all(Array.from({ length: atOnce }, ask));
  } catch (error) {
    if (!isForbidden(error)) throw error;
    return [
      warning(
        'you may not create SubjectAccessReviews: the rights of the operator cannot be checked',
        'ask as a user who may, by --context',
      ),
    ];
  }
  if (missing.size === 0)
    return [ok(`ServiceAccount ${namespace}/${name} has all ${rights.length} rights that it needs`)];
  return [...missing]
    .sort()
    .map(([what, verbs]) =>
      problem(
        `ServiceAccount ${namespace}/${name} may not ${[...verbs].sort().join(', ')} ${what}`,
        'apply the roles that riata manifests writes, or run riata deploy',
      ),
    );
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

async function isAllowed(
  { client, signal }: CheckedCluster,
  right: Right,
  namespace: string,
  name: string,
): Promise<boolean> {
  const { attributes, path, verb } = right;
  const spec = {
    user: `system:serviceaccount:${namespace}:${name}`,
    groups: ['system:serviceaccounts', `system:serviceaccounts:${namespace}`, 'system:authenticated'],
    ...(attributes === undefined
      ? { nonResourceAttributes: { path: path ?? '', verb } }
      : { resourceAttributes: attributes }),
  };
  const { status } = await client.create(SubjectAccessReview({ metadata: {}, spec }), { signal });
  return status?.allowed === true;
}
