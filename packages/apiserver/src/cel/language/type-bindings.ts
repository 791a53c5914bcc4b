import { type CelType, dynType, formatType, sameType } from './cel-type.js';

/** What type parameters stand for. Never changed in place: an overload that does not fit leaves no trace. */
export type Bindings = ReadonlyMap<string, CelType>;

/** Whether `from` can be used where `to` is wanted: the bindings under which it can, or undefined. */
export function assign(bindings: Bindings, to: CelType, from: CelType): Bindings | undefined {
  const a = bound(bindings, to);
  const b = bound(bindings, from);
  if (b.kind === 'parameter') return bind(bindings, b.name, a);
  if (a.kind === 'parameter') return bind(bindings, a.name, b);
  if (isDynamic(a) || isDynamic(b)) return bindings;
  // Null is a value of everything that can be absent.
  if (a.kind === 'null' || b.kind === 'null') {
    const other = a.kind === 'null' ? b : a;
    return ['null', 'object', 'opaque', 'timestamp', 'duration', 'optional'].includes(other.kind)
      ? bindings
      : undefined;
  }
  if (a.kind !== b.kind) return undefined;
  switch (a.kind) {
    case 'list':
    case 'optional':
      return assign(bindings, a.of, (b as typeof a).of);
    case 'type':
      return bindings;
    case 'map': {
      const keyed = assign(bindings, a.key, (b as typeof a).key);
      return keyed && assign(keyed, a.of, (b as typeof a).of);
    }
    default:
      return sameType(a, b) ? bindings : undefined;
  }
}

export function assignAll(bindings: Bindings, to: readonly CelType[], from: readonly CelType[]): Bindings | undefined {
  if (to.length !== from.length) return undefined;
  let all: Bindings | undefined = bindings;
  for (const [index, type] of to.entries()) {
    all = all && assign(all, type, from[index] as CelType);
  }
  return all;
}

function bind(bindings: Bindings, name: string, type: CelType): Bindings | undefined {
  if (type.kind === 'parameter' && type.name === name) return bindings;
  if (contains(bindings, type, name)) return undefined;
  return new Map(bindings).set(name, type);
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

/** The type with everything known put in; what is still open becomes dynamic if asked for. */
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
