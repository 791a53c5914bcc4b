import type { WriteObject } from 'riata/client';
import { ClusterRole } from 'riata/kinds';
import type { CrdManifest } from 'riata/object';
import type { DeploymentSite } from './deployment-site.js';

const reading = ['get', 'list', 'watch'];
const editing = ['create', 'delete', 'deletecollection', 'patch', 'update'];

/** ClusterRoles for those who view, edit and administer the operator's objects; the built-in roles of these names include them. */
export function accessRoles({ operator, crds }: DeploymentSite): WriteObject[] {
  return crds.flatMap((crd) => {
    const name = `${operator.name}-${nameIn(crds, crd)}`;
    return [
      role(`${name}-viewer`, 'view', rulesFor(crd, reading, ['get'])),
      role(`${name}-editor`, 'edit', rulesFor(crd, [...reading, ...editing], ['get', 'patch', 'update'])),
      role(`${name}-admin`, 'admin', rulesFor(crd, ['*'], ['*'])),
    ];
  });
}

function rulesFor({ spec }: CrdManifest, verbs: readonly string[], scaleVerbs: readonly string[]) {
  const { group, names, versions } = spec;
  const has = (name: 'status' | 'scale') => versions.some(({ subresources }) => subresources?.[name] !== undefined);
  const rule = (resource: string, given: readonly string[]) => ({
    ...{ apiGroups: [group], resources: [resource], verbs: [...given].sort() },
  });
  return [
    rule(names.plural, verbs),
    ...(has('status') ? [rule(`${names.plural}/status`, ['get'])] : []),
    ...(has('scale') ? [rule(`${names.plural}/scale`, scaleVerbs)] : []),
  ];
}

function role(name: string, to: 'view' | 'edit' | 'admin', rules: ReturnType<typeof rulesFor>): WriteObject {
  const labels = { [`rbac.authorization.k8s.io/aggregate-to-${to}`]: 'true' };
  return ClusterRole({ metadata: { name, labels }, rules });
}

/** The kind's name; with its group where another kind has the same name. */
function nameIn(crds: readonly CrdManifest[], { spec }: CrdManifest): string {
  const { singular } = spec.names;
  const isAlone = crds.filter((other) => other.spec.names.singular === singular).length === 1;
  return isAlone ? singular : `${singular}.${spec.group}`;
}
