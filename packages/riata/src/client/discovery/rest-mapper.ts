import { formatGvk, type GroupKind, type GroupVersionKind, parseApiVersion } from '../../object/gvk.js';
import { type Kind, makeKind, type RESTMapping } from '../../object/kind.js';
import type { KubeObject, TypeMeta } from '../../object/meta.js';
import type { ApiGroup, ApiResource, Discovery, ServerResources } from './discovery.js';

/** A kind of unknown shape, as discovery finds it. */
export type DiscoveredKind = Kind<KubeObject & { readonly [field: string]: unknown }>;

const noMatch = Symbol.for('riata.NoMatchError');

/** The server does not serve this kind or resource (`meta.NoKindMatchError`, `meta.NoResourceMatchError`). */
export class NoMatchError extends Error {
  constructor(what: string, failures: ReadonlyMap<string, unknown>) {
    const failed = [...failures.keys()];
    const rest = failed.length > 0 ? `; these could not be asked: ${failed.join(', ')}` : '';
    super(`no matches for ${what}: the server does not serve it; is its CRD installed?${rest}`);
    this.name = 'NoMatchError';
    Object.defineProperty(this, noMatch, { value: true });
  }
}

/** True for a {@link NoMatchError} (`meta.IsNoMatchError`). */
export function isNoMatch(error: unknown): error is NoMatchError {
  return typeof error === 'object' && error !== null && noMatch in error;
}

/**
 * Kind ↔ resource as the server has them (`meta.RESTMapper`). Runs discovery on first use and again when something is
 * missing, once for all concurrent callers; results are kept until `reset`.
 */
export class RestMapper {
  readonly #discovery: Discovery;
  /** Groups by name; in the server's order, which decides between two that have a resource of the same name. */
  #groups: Map<string, ApiGroup> | undefined;
  #failures: ReadonlyMap<string, unknown> = new Map();
  /** Requests in flight, by what they load. */
  readonly #loading = new Map<string, Promise<void>>();
  readonly #kinds = new WeakMap<ApiResource, DiscoveredKind>();

  constructor(discovery: Discovery) {
    this.#discovery = discovery;
  }

  /** The kind that an object says it is (`KindFor`). Rejects with a {@link NoMatchError}. */
  kindFor(type: TypeMeta): Promise<DiscoveredKind> {
    return this.kindForGvk({ ...parseApiVersion(type.apiVersion), kind: type.kind });
  }

  /** As {@link kindFor}, by group, version and kind; without a version, the one that the server prefers. */
  async kindForGvk(gvk: Omit<GroupVersionKind, 'version'> & { readonly version?: string }): Promise<DiscoveredKind> {
    const find = () => this.#inGroup(gvk.group, gvk.version, (r) => r.kind === gvk.kind);
    const version = gvk.version ?? '*';
    return this.#kind(await this.#lookUp(find, gvk.group, `kind ${formatGvk({ ...gvk, version })}`));
  }

  /**
   * How a kind is reached (`RESTMapping`): in the first of these versions that is served; without any, in the one that the
   * server prefers. Rejects with a {@link NoMatchError}.
   */
  async restMapping({ group, kind }: GroupKind, ...versions: readonly string[]): Promise<RESTMapping> {
    const find = () => {
      const isKind = (r: ApiResource) => r.kind === kind;
      if (versions.length === 0) return this.#inGroup(group, undefined, isKind);
      return versions.map((version) => this.#inGroup(group, version, isKind)).find((found) => found !== undefined);
    };
    const what = `kind ${formatGvk({ group, kind, version: versions.join(' or ') || '*' })}`;
    const { gvk, gvr, scope } = this.#kind(await this.#lookUp(find, group, what));
    return { resource: gvr, groupVersionKind: gvk, scope };
  }

  /**
   * The kind of a resource by any of its names (`ResourceFor`, `KindsFor`): `deployments`, `deployment`, `deploy`, with
   * the group (`deployments.apps`) or version and group (`deployments.v1.apps`). Without a group the first that has it
   * wins, the core group before the others.
   */
  async kindForResource(name: string): Promise<DiscoveredKind> {
    const [resource = '', ...rest] = name.toLowerCase().split('.');
    const find = () => this.#byName(resource, rest);
    return this.#kind(await this.#lookUp(find, undefined, `resource ${JSON.stringify(name)}`));
  }

  /** Everything that is served, as far as known; asks the server if nothing is. */
  async resources(): Promise<ServerResources> {
    await this.#loaded();
    return { groups: [...(this.#groups?.values() ?? [])], failures: this.#failures };
  }

  /** Forgets what is known (`Reset`, `Invalidate`): the next question asks the server. */
  reset(): void {
    this.#groups = undefined;
    this.#failures = new Map();
  }

  async #lookUp(find: () => ApiResource | undefined, group: string | undefined, what: string): Promise<ApiResource> {
    const fresh = this.#groups === undefined;
    await this.#loaded();
    let found = find();
    if (found === undefined && !fresh) {
      // It may have been installed since. A caller that joined a request in flight tries again.
      const under = this.#loading.get(group ?? '*');
      if (under !== undefined) await under.catch(ignore);
      found = find();
      if (found === undefined) {
        await this.#reload(group);
        found = find();
      }
    }
    if (found === undefined) throw new NoMatchError(what, this.#failures);
    return found;
  }

  #loaded(): Promise<void> {
    return this.#groups === undefined ? this.#reload(undefined) : Promise.resolve();
  }

  /** Asks for one group, or for all of them. */
  #reload(group: string | undefined): Promise<void> {
    return this.#once(group ?? '*', async () => {
      if (group !== undefined && this.#groups !== undefined) {
        const found = await this.#discovery.group(group);
        this.#replace(group, found);
        return;
      }
      const found = await this.#discovery.resources();
      this.#groups = new Map(found.groups.map((g) => [g.name, g]));
      this.#failures = found.failures;
    });
  }

  /** New results of one group replace the earlier ones, failures too. */
  #replace(name: string, found: ServerResources | undefined): void {
    const others = [...this.#failures].filter(([version]) => parseApiVersion(version).group !== name);
    this.#failures = new Map([...others, ...(found?.failures ?? [])]);
    if (found === undefined) this.#groups?.delete(name);
    for (const group of found?.groups ?? []) this.#groups?.set(group.name, group);
  }

  #once(what: string, load: () => Promise<void>): Promise<void> {
    const under = this.#loading.get(what);
    if (under !== undefined) return under;
    const loading = load().finally(() => this.#loading.delete(what));
    this.#loading.set(what, loading);
    return loading;
  }

  #inGroup(
    group: string,
    version: string | undefined,
    matches: (resource: ApiResource) => boolean,
  ): ApiResource | undefined {
    for (const v of this.#groups?.get(group)?.versions ?? []) {
      if (version !== undefined && v.version !== version) continue;
      const found = v.resources.find(matches);
      if (found !== undefined) return found;
    }
    return undefined;
  }

  #byName(name: string, rest: readonly string[]): ApiResource | undefined {
    const exact = (r: ApiResource) => r.plural === name || r.singular === name;
    const short = (r: ApiResource) => r.shortNames.includes(name);
    // A short name counts only where no resource really has that name.
    for (const matches of [exact, short]) {
      for (const group of this.#groups?.keys() ?? []) {
        if (rest.length === 0) {
          const found = this.#inGroup(group, undefined, matches);
          if (found !== undefined) return found;
          continue;
        }
        const whole = rest.join('.') === group ? this.#inGroup(group, undefined, matches) : undefined;
        const [version, ...tail] = rest;
        const versioned = tail.join('.') === group ? this.#inGroup(group, version, matches) : undefined;
        if (whole ?? versioned) return whole ?? versioned;
      }
    }
    return undefined;
  }

  #kind(resource: ApiResource): DiscoveredKind {
    const known = this.#kinds.get(resource);
    if (known !== undefined) return known;
    const kind: DiscoveredKind = makeKind(resource);
    this.#kinds.set(resource, kind);
    return kind;
  }
}

/** The caller that started the request gets its failure. */
function ignore(): void {}
