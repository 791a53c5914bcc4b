import type { GroupVersionKind } from './gvk.js';
import { builderOf, type KindRef } from './kind.js';
import type { TypeMeta } from './meta.js';

/**
 * Something that registers kinds (Go's `AddToScheme`), e.g. all of a group's: `appsV1.addToScheme(scheme)` with
 * `import * as appsV1 from 'riata/kinds/apps/v1'`.
 */
export type AddToScheme = (scheme: Scheme) => void;

/**
 * The kinds that a program knows, by name and the other way round (`runtime.Scheme`). A kind may be there in several
 * versions; the same group, version and kind twice is an error, unless it is the very same `Kind` value.
 */
export class Scheme {
  readonly #byName = new Map<string, KindRef>();
  /** `group/kind` → its versions, in the order of registration. */
  readonly #versions = new Map<string, KindRef[]>();

  constructor(...kinds: readonly KindRef[]) {
    this.add(...kinds);
  }

  /** Registers kinds (`AddKnownTypes`). Registers all of them or, if one is refused, none. */
  add(...kinds: readonly KindRef[]): this {
    const fresh = new Map<string, KindRef>();
    for (const kind of kinds) {
      const name = nameOf(kind.gvk);
      const known = fresh.get(name) ?? this.#byName.get(name);
      if (known === kind) continue;
      if (known !== undefined) {
        throw new TypeError(
          `scheme: ${kind.apiVersion} ${kind.kind} is already registered (as resource ${known.plural}, ${known.scope}); ` +
            'register each group, version and kind once',
        );
      }
      fresh.set(name, kind);
    }
    for (const [name, kind] of fresh) {
      this.#byName.set(name, kind);
      const family = `${kind.group}/${kind.kind}`;
      const versions = this.#versions.get(family);
      if (versions === undefined) this.#versions.set(family, [kind]);
      else versions.push(kind);
    }
    return this;
  }

  /** The kind of that name, or undefined (`Scheme.New` without making anything). */
  kindFor(gvk: GroupVersionKind): KindRef | undefined {
    return this.#byName.get(nameOf(gvk));
  }

  /** The kind that an object says it is, or undefined. An object built by a kind gives that kind, registered or not. */
  kindOf(object: TypeMeta): KindRef | undefined {
    return builderOf(object) ?? this.#byName.get(`${object.apiVersion}/${object.kind}`);
  }

  /** The kind's full name (`ObjectKinds`); an error if this kind is not registered here. */
  gvkFor(kind: KindRef): GroupVersionKind {
    const known = this.#byName.get(nameOf(kind.gvk));
    if (known !== kind) {
      throw new TypeError(
        known === undefined
          ? `scheme: ${kind.apiVersion} ${kind.kind} is not registered; call scheme.add(${kind.kind})`
          : `scheme: another Kind is registered as ${kind.apiVersion} ${kind.kind}; use that one`,
      );
    }
    return kind.gvk;
  }

  /** True if the name is registered (`Recognizes`). */
  recognizes(gvk: GroupVersionKind): boolean {
    return this.#byName.has(nameOf(gvk));
  }

  /** Every version of a kind, in the order of registration (`VersionsForGroupKind`). */
  versionsOf(group: string, kind: string): readonly KindRef[] {
    return [...(this.#versions.get(`${group}/${kind}`) ?? [])];
  }

  /** All kinds (`AllKnownTypes`), in the order of registration. */
  kinds(): readonly KindRef[] {
    return [...this.#byName.values()];
  }

  /** Another scheme with the same kinds, to be extended on its own. */
  copy(): Scheme {
    return new Scheme(...this.#byName.values());
  }
}

/**
 * The kind of an object: the one that built it, else the one registered in `scheme` under its `apiVersion` and `kind`.
 * Throws, naming both, when neither is there.
 */
export function kindOf(object: TypeMeta, scheme: Scheme): KindRef {
  const kind = scheme.kindOf(object);
  if (kind === undefined) {
    throw new TypeError(
      `no kind is known for apiVersion ${JSON.stringify(object.apiVersion)}, kind ${JSON.stringify(object.kind)}; ` +
        'register it with scheme.add(Kind), or build the object by calling its Kind',
    );
  }
  return kind;
}

/** Written as an object writes it, so that looking an object's kind up takes no parsing. */
function nameOf(gvk: GroupVersionKind): string {
  return gvk.group === '' ? `${gvk.version}/${gvk.kind}` : `${gvk.group}/${gvk.version}/${gvk.kind}`;
}
