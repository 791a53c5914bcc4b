import { control, type KindRef } from 'riata';
import { collectRbac, type PolicyRule } from 'riata/patterns';

/** A controller of the new operator, by the kinds that it names. */
export interface PortedController {
  readonly kind: KindRef;
  readonly owns: readonly KindRef[];
  readonly watches: readonly KindRef[];
}

/** Rights of two operators. */
export interface RightsComparison {
  /** Those of the new one, by its definitions. */
  readonly rules: readonly PolicyRule[];
  /** Those that only the old one had. */
  readonly missing: readonly PolicyRule[];
}

/** Compares the rights that an operator had with those that its ported controllers imply. */
export function compareRights(had: readonly PolicyRule[], controllers: readonly PortedController[]): RightsComparison {
  const definitions = controllers.map(({ kind, owns, watches }) => {
    let builder = control(kind);
    for (const each of owns) builder = builder.owns(each) as typeof builder;
    for (const each of watches) builder = builder.watches(each, () => []) as typeof builder;
    return builder.reconcile(() => {});
  });
  const rules = collectRbac(definitions);
  const granted = new Set(rules.flatMap(rightsOf).map(({ group, resource, verb }) => `${group} ${resource} ${verb}`));
  const left = new Map<string, { group: string; resource: string; verbs: Set<string> }>();
  for (const { group, resource, verb } of had.flatMap(rightsOf)) {
    if (granted.has(`${group} ${resource} ${verb}`)) continue;
    const id = `${group} ${resource}`;
    const found = left.get(id) ?? { group, resource, verbs: new Set() };
    left.set(id, found);
    found.verbs.add(verb);
  }
  const missing = [...left.entries()]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([, { group, resource, verbs }]) => ({ apiGroups: [group], resources: [resource], verbs: [...verbs].sort() }));
  return { rules, missing };
}

function rightsOf({ apiGroups, resources, verbs }: PolicyRule) {
  return apiGroups.flatMap((group) =>
    resources.flatMap((resource) => verbs.map((verb) => ({ group, resource, verb }))),
  );
}
