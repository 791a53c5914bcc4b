import { compareKubeVersions } from 'riata/object';
import type { Resource } from './resource.js';

/** A served API group. */
export interface ApiGroup {
  /** `''` for the core group. */
  readonly name: string;
  /** The preferred version first. */
  readonly versions: readonly string[];
  /** Whether all its resources come from CustomResourceDefinitions. */
  readonly custom: boolean;
}

/** The currently served resources. */
export interface ResourceTable {
  /** Increases with every change; values derived from the table are valid while it is unchanged. */
  readonly generation: number;
  /** In the order of discovery, the core group first. */
  groups(): readonly ApiGroup[];
  group(name: string): ApiGroup | undefined;
  /** The resources of a group version, by name. */
  resources(group: string, version: string): readonly Resource[];
  find(group: string, version: string, plural: string): Resource | undefined;
}

/** Groups that come first in discovery, in this order. */
const groupOrder = [
  '',
  'apiregistration.k8s.io',
  'apps',
  'events.k8s.io',
  'authentication.k8s.io',
  'authorization.k8s.io',
  'autoscaling',
  'batch',
  'certificates.k8s.io',
  'networking.k8s.io',
  'policy',
  'rbac.authorization.k8s.io',
  'storage.k8s.io',
  'admissionregistration.k8s.io',
  'apiextensions.k8s.io',
  'scheduling.k8s.io',
  'coordination.k8s.io',
  'node.k8s.io',
  'discovery.k8s.io',
  'resource.k8s.io',
  'flowcontrol.apiserver.k8s.io',
];

/** The built-in resources, and the custom ones that are currently defined. */
export class ServedResources implements ResourceTable {
  readonly #builtIn: readonly Resource[];
  /** By the name of the CustomResourceDefinition. */
  readonly #custom = new Map<string, readonly Resource[]>();
  #generation = 1;
  #index: Index;

  constructor(builtIn: readonly Resource[]) {
    this.#builtIn = builtIn;
    this.#index = indexOf(builtIn, []);
  }

  get generation(): number {
    return this.#generation;
  }

  groups(): readonly ApiGroup[] {
    return this.#index.groups;
  }

  group(name: string): ApiGroup | undefined {
    return this.#index.byName.get(name);
  }

  resources(group: string, version: string): readonly Resource[] {
    return [...(this.#index.resources.get(`${group}/${version}`)?.values() ?? [])];
  }

  find(group: string, version: string, plural: string): Resource | undefined {
    return this.#index.resources.get(`${group}/${version}`)?.get(plural);
  }

  /** Replaces the served versions of a custom resource; an empty list removes it. */
  setCustom(definition: string, resources: readonly Resource[]): void {
    if (resources.length === 0 && !this.#custom.has(definition)) return;
    if (resources.length === 0) this.#custom.delete(definition);
    else this.#custom.set(definition, resources);
    this.#generation += 1;
    this.#index = indexOf(this.#builtIn, [...this.#custom.values()].flat());
  }
}

interface Index {
  readonly groups: readonly ApiGroup[];
  readonly byName: ReadonlyMap<string, ApiGroup>;
  /** `group/version` → plural → resource. */
  readonly resources: ReadonlyMap<string, ReadonlyMap<string, Resource>>;
}

function indexOf(builtIn: readonly Resource[], custom: readonly Resource[]): Index {
  const resources = new Map<string, Map<string, Resource>>();
  const versions = new Map<string, Set<string>>();
  const byName = (a: Resource, b: Resource) => (a.plural < b.plural ? -1 : a.plural > b.plural ? 1 : 0);
  // The sort is stable: a built-in resource comes first and cannot be shadowed.
  for (const resource of [...builtIn, ...custom].sort(byName)) {
    const { group, version, plural } = resource;
    const id = `${group}/${version}`;
    const known = resources.get(id) ?? new Map<string, Resource>();
    if (!known.has(plural)) known.set(plural, resource);
    resources.set(id, known);
    versions.set(group, (versions.get(group) ?? new Set()).add(version));
  }
  const ours = new Set(builtIn.map(({ group }) => group));
  const groups = [...versions]
    .map(([name, of]) => ({
      name,
      versions: [...of].sort((a, b) => compareKubeVersions(b, a)),
      custom: !ours.has(name),
    }))
    .sort((a, b) => rank(a) - rank(b) || (a.name < b.name ? -1 : 1));
  return { groups, byName: new Map(groups.map((group) => [group.name, group])), resources };
}

function rank({ name, custom }: ApiGroup): number {
  const known = groupOrder.indexOf(name);
  return known >= 0 ? known : groupOrder.length + (custom ? 1 : 0);
}
