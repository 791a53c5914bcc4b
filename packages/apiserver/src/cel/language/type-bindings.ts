import { type CelType, dynType, formatType, sameType } from './cel-type.js';

/**
 * The bindings of type parameters. A parameter is bound once, so that an overload that does not fit leaves no trace
 * when its bindings are undone: copies would make an expression of a thousand calls take a million steps.
 */
export class Bindings {
  readonly #types = new Map<string, CelType>();
  /** The names in the order in which they were bound. */
  readonly #names: string[] = [];

  get(name: string): CelType | undefined {
    return this.#types.get(name);
  }

  set(name: string, type: CelType): void {
    this.#types.set(name, type);
    this.#names.push(name);
  }

  /** Whether it could be done; if not, nothing is bound by it. */
  attempt(bindAll: () => boolean): boolean {
    const before = this.#names.length;
    if (bindAll()) return true;
    for (const name of this.#names.splice(before)) this.#types.delete(name);
    return false;
  }
}

/** Whether each of `from` is assignable to `to`. Binds all parameters that this takes, or none. */
export function assignAll(bindings: Bindings, to: readonly CelType[], from: readonly CelType[]): boolean {
  if (to.length !== from.length) return false;
  return bindings.attempt(() => to.every((type, index) => assign(bindings, type, from[index] as CelType)));
}

function assign(bindings: Bindings, to: CelType, from: CelType): boolean {
  const a = bound(bindings, to);
  const b = bound(bindings, from);
  if (b.kind === 'parameter') return bind(bindings, b.name, a);
  if (a.kind === 'parameter') return bind(bindings, a.name, b);
  if (isDynamic(a) || isDynamic(b)) return true;
  // Null is a value of everything that can be absent.
  if (a.kind === 'null' || b.kind === 'null') {
    const other = a.kind === 'null' ? b : a;
    return ['null', 'object', 'opaque', 'timestamp', 'duration', 'optional'].includes(other.kind);
  }
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
    case 'optional':
      return assign(bindings, a.of, (b as typeof a).of);
    case 'type':
      return true;
    case 'map':
      return assign(bindings, a.key, (b as typeof a).key) && assign(bindings, a.of, (b as typeof a).of);
    default:
      return sameType(a, b);
  }
}

function bind(bindings: Bindings, name: string, type: CelType): boolean {
  if (type.kind === 'parameter' && type.name === name) return true;
  if (contains(bindings, type, name)) return false;
  bindings.set(name, type);
  return true;
}

/** A type that would contain itself has no end. */
function contains(bindings: Bindings, type: CelType, name: string): boolean {
  const at = bound(bindings, type);
  switch (at.kind) {
    case 'parameter':
      return at.name === name;
    case 'list':
    case 'optional':
    case 'type':
      return contains(bindings, at.of, name);
    case 'map':
      return contains(bindings, at.key, name) || contains(bindings, at.of, name);
    default:
      return false;
  }
}

function bound(bindings: Bindings, type: CelType): CelType {
  let at = type;
  while (at.kind === 'parameter') {
    const next = bindings.get(at.name);
    if (next === undefined) return at;
    at = next;
  }
  return at;
}

/** The type with all bindings applied; unbound parameters become dynamic if requested. */
export function substitute(bindings: Bindings, type: CelType, openIsDynamic = false): CelType {
  const at = bound(bindings, type);
  switch (at.kind) {
    case 'parameter':
      return openIsDynamic ? dynType : at;
    case 'list':
    case 'optional':
    case 'type':
      return { kind: at.kind, of: substitute(bindings, at.of, openIsDynamic) };
    case 'map':
      return {
        kind: 'map',
        key: substitute(bindings, at.key, openIsDynamic),
        of: substitute(bindings, at.of, openIsDynamic),
      };
    default:
      return at;
  }
}

/** The same type with its parameters under other names, so that two calls do not share them. */
export function renamed(type: CelType, suffix: string): CelType {
  switch (type.kind) {
    case 'parameter':
      return { kind: 'parameter', name: type.name + suffix };
    case 'list':
    case 'optional':
    case 'type':
      return { kind: type.kind, of: renamed(type.of, suffix) };
    case 'map':
      return { kind: 'map', key: renamed(type.key, suffix), of: renamed(type.of, suffix) };
    default:
      return type;
  }
}

export function isDynamic(type: CelType): boolean {
  return type.kind === 'dyn' || type.kind === 'error';
}

/** The signature of a call, as messages show it. */
export function signatureOf(types: readonly CelType[], isMember: boolean): string {
  const shown = types.map(formatType);
  return isMember ? `${shown[0]}.(${shown.slice(1).join(', ')})` : `(${shown.join(', ')})`;
}
