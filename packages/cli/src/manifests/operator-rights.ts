import type { KindRef } from 'riata';
import type { WriteObject } from 'riata/client';
import { Lease, Role, RoleBinding, SubjectAccessReview, TokenReview } from 'riata/kinds';
import {
  collectRbac,
  type PolicyRule,
  type RbacNeed,
  type RbacNeeds,
  type RbacSource,
  rbacManifests,
} from 'riata/patterns';
import { webhookRights } from 'riata/webhook';
import type { Operator } from '../config/resolve-operator.js';
import type { DeploymentSite } from './deployment-site.js';

/** A ServiceAccount, its roles, split by scope and namespace, and their bindings. */
export function rightsObjects(site: DeploymentSite): WriteObject[] {
  const { operator, namespace, options } = site;
  const { name } = operator;
  const namespaces = options.namespaces ?? operator.options.cache?.namespaces;
  const rules = operatorRules(site);
  const objects = rbacManifests(namespaces === undefined ? rules : markClusterWide(rules, operator), {
    ...{ name, namespace },
    ...(namespaces && { namespaces }),
  });
  return [...objects.map((object) => completed(object, operator)), ...leaseRoles(site)];
}

/** All rules of an operator: by its definitions or its tests, of its webhooks, its election and its metrics. */
function operatorRules({ operator, namespace, webhookName }: DeploymentSite): PolicyRule[] {
  const { options, testedRights, webhooks } = operator;
  const { certificates, install, service } = options.webhooks ?? {};
  const sources: RbacSource[] =
    testedRights === undefined ? definedNeeds(operator) : testedRights.rules.flatMap(needsOf);
  if (webhooks.length > 0) {
    sources.push(
      webhookRights(webhooks, {
        ...{ name: webhookName, namespace },
        ...(certificates !== undefined && { certificates }),
        ...(install !== undefined && { install }),
        ...(service !== undefined && { service }),
      }),
    );
  }
  if (options.metrics?.protected === true) {
    sources.push(
      { kind: TokenReview as KindRef, verbs: ['create'] },
      { kind: SubjectAccessReview as KindRef, verbs: ['create'] },
    );
  }
  const leaderElection = options.leaderElection !== undefined || options.sharding !== undefined;
  // Events that tests have recorded are among their rights; those of the election come with it.
  const events = testedRights === undefined ? true : leaderElection ? 'ownNamespace' : false;
  return [...collectRbac(sources, { leaderElection, events }), ...operator.rights];
}

/** Definitions, and what else knows its needs: policies, migrations. */
function definedNeeds({ definitions, controllers, webhooks }: Operator): RbacSource[] {
  const others = definitions.filter(
    (each) => !webhooks.some((webhook) => (webhook as unknown) === each) && 'rbacNeeds' in each,
  );
  return [...controllers, ...(others as unknown as RbacNeeds[])];
}

function needsOf({ apiGroups, resources, verbs }: PolicyRule): RbacNeed[] {
  return apiGroups.flatMap((group) =>
    resources.map((resource) => {
      const [plural = '', subresource] = resource.split('/', 2);
      return { kind: { group, plural } as KindRef, verbs, ...(subresource && { subresource }) };
    }),
  );
}

/** Rights to cluster-scoped kinds need a ClusterRole even where namespaces are given. */
function markClusterWide(rules: readonly PolicyRule[], operator: Operator): PolicyRule[] {
  const kinds = new Set(clusterKinds(operator).map(({ group, plural }) => `${group}/${plural}`));
  return rules.flatMap((rule) => {
    if (rule.ownNamespace || rule.clusterWide || rule.apiGroups.length !== 1) return [rule];
    const isClusterWide = (resource: string) => kinds.has(`${rule.apiGroups[0]}/${resource.split('/', 1)[0]}`);
    const wide = rule.resources.filter(isClusterWide);
    const placed = rule.resources.filter((resource) => !isClusterWide(resource));
    return [
      ...(placed.length > 0 ? [{ ...rule, resources: placed }] : []),
      ...(wide.length > 0 ? [{ ...rule, resources: wide, clusterWide: true as const }] : []),
    ];
  });
}

function clusterKinds({ controllers, definitions, webhooks }: Operator): KindRef[] {
  const kinds = [
    ...controllers.flatMap(({ kind, watches, reads, indexes }) => [
      kind,
      ...watches.flatMap((watch) => ('kind' in watch ? [watch.kind] : [])),
      ...reads,
      ...indexes.map((index) => index.kind),
    ]),
    ...webhooks.flatMap(({ readKinds }) => readKinds),
    ...definitions.flatMap((each) => ((each as Partial<RbacNeeds>).rbacNeeds ?? []).map(({ kind }) => kind)),
    ...[TokenReview as KindRef, SubjectAccessReview as KindRef],
  ];
  return kinds.filter(({ scope }) => scope === 'Cluster');
}

/** Tokens are mounted where a Pod asks for one; rules about paths can stand in a ClusterRole alone. */
function completed(object: WriteObject, { testedRights, options: { metrics } }: Operator): WriteObject {
  if (object.kind === 'ServiceAccount') return { ...object, automountServiceAccountToken: false } as WriteObject;
  // `riata explain` and `riata top` read the operator's pages with a token of the operator itself.
  const debugRules = metrics?.protected && metrics.debug ? [{ nonResourceURLs: ['/debug/*'], verbs: ['get'] }] : [];
  const pathRules = [...(testedRights?.pathRules ?? []), ...debugRules];
  if (object.kind !== 'ClusterRole' || pathRules.length === 0) return object;
  const { rules } = object as { readonly rules?: readonly object[] };
  return { ...object, rules: [...(rules ?? []), ...pathRules] } as WriteObject;
}

/** Roles for Leases in other namespaces than the operator's, where its options name them. */
function leaseRoles({ operator, namespace }: DeploymentSite): WriteObject[] {
  const { leaderElection, sharding } = operator.options;
  const places = [leaderElection?.namespace, sharding?.namespace].filter((place) => place !== undefined);
  const others = new Set(places.filter((place) => place !== namespace && place !== operator.namespace));
  const [apiGroup, name] = ['rbac.authorization.k8s.io', `${operator.name}-leases`];
  const subjects = [{ kind: 'ServiceAccount', name: operator.name, namespace }];
  const rules = [
    { apiGroups: [Lease.group], resources: [Lease.plural], verbs: ['create', 'get', 'patch', 'update'] },
    { apiGroups: ['', 'events.k8s.io'], resources: ['events'], verbs: ['create', 'patch'] },
  ];
  return [...others]
    .sort()
    .flatMap((place) => [
      Role({ metadata: { name, namespace: place }, rules }),
      RoleBinding({ metadata: { name, namespace: place }, roleRef: { apiGroup, kind: 'Role', name }, subjects }),
    ]);
}
