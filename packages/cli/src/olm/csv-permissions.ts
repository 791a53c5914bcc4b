import type { WriteObject } from 'riata/client';

/** Rules for a ServiceAccount, in a ClusterServiceVersion. */
export interface CsvPermission {
  readonly serviceAccountName: string;
  readonly rules: readonly object[];
}

interface Binding extends WriteObject {
  readonly roleRef: { readonly kind: string; readonly name: string };
  readonly subjects?: readonly { readonly kind: string; readonly name: string }[];
}

interface Role extends WriteObject {
  readonly rules?: readonly object[];
}

/** The rights of an operator's ServiceAccount as OLM grants them, and the objects that are left of them. */
export function csvPermissions(
  objects: readonly WriteObject[],
  account: string,
): {
  readonly permissions: readonly CsvPermission[];
  readonly clusterPermissions: readonly CsvPermission[];
  /** Without what OLM makes itself. */
  readonly others: readonly WriteObject[];
} {
  const isBinding = ({ kind }: WriteObject) => kind === 'RoleBinding' || kind === 'ClusterRoleBinding';
  const bindings = (objects.filter(isBinding) as Binding[]).filter(({ subjects = [] }) =>
    subjects.some(({ kind, name }) => kind === 'ServiceAccount' && name === account),
  );
  const isBound = (role: WriteObject) =>
    bindings.some(
      ({ roleRef, metadata }) =>
        roleRef.kind === role.kind &&
        roleRef.name === role.metadata.name &&
        (role.kind === 'ClusterRole' || metadata.namespace === role.metadata.namespace),
    );
  const roles = objects.filter(isBound) as Role[];
  const isAccount = ({ kind, metadata }: WriteObject) => kind === 'ServiceAccount' && metadata.name === account;
  const made = new Set<WriteObject>([...bindings, ...roles, ...objects.filter(isAccount)]);
  return {
    permissions: permissionsOf(account, roles, 'Role'),
    clusterPermissions: permissionsOf(account, roles, 'ClusterRole'),
    others: objects.filter((object) => !made.has(object)),
  };
}

/** Each rule once: OLM grants them in every namespace that the operator is for. */
function permissionsOf(serviceAccountName: string, roles: readonly Role[], kind: string): CsvPermission[] {
  const rules = roles.filter((role) => role.kind === kind).flatMap((role) => role.rules ?? []);
  const unique = [...new Map(rules.map((rule) => [JSON.stringify(rule), rule])).values()];
  return unique.length === 0 ? [] : [{ serviceAccountName, rules: unique }];
}
