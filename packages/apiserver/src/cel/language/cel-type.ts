/** The type of an expression. */
export type CelType =
  | { readonly kind: Simple }
  | { readonly kind: 'list'; readonly of: CelType }
  | { readonly kind: 'map'; readonly key: CelType; readonly of: CelType }
  | { readonly kind: 'type'; readonly of: CelType }
  | { readonly kind: 'optional'; readonly of: CelType }
  | { readonly kind: 'opaque'; readonly name: string }
  | ObjectType
  | { readonly kind: 'parameter'; readonly name: string };

interface ObjectType {
  readonly kind: 'object';
  readonly name: string;
  readonly fields: ReadonlyMap<string, CelType>;
  /** Whether it has every other field, too, of any type. @default false */
  readonly isOpen?: boolean;
}

type Simple =
  | 'bool'
  | 'int'
  | 'uint'
  | 'double'
  | 'string'
  | 'bytes'
  | 'null'
  | 'timestamp'
  | 'duration'
  | 'dyn'
  | 'error';

const simple = <K extends Simple>(kind: K): { readonly kind: K } => ({ kind });

export const boolType = simple('bool');
export const intType = simple('int');
export const uintType = simple('uint');
export const doubleType = simple('double');
export const stringType = simple('string');
export const bytesType = simple('bytes');
export const nullType = simple('null');
export const timestampType = simple('timestamp');
export const durationType = simple('duration');
export const dynType = simple('dyn');
/** Of what was complained about already. */
export const errorType = simple('error');

export const listOf = (of: CelType): CelType => ({ kind: 'list', of });
export const mapOf = (key: CelType, of: CelType): CelType => ({ kind: 'map', key, of });
export const typeOf = (of: CelType): CelType => ({ kind: 'type', of });
export const optionalOf = (of: CelType): CelType => ({ kind: 'optional', of });
export const opaque = (name: string): CelType => ({ kind: 'opaque', name });
export const parameter = (name: string): CelType => ({ kind: 'parameter', name });

/** As cel-go writes types in messages. */
export function formatType(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${formatType(type.of)})`;
    case 'map':
      return `map(${formatType(type.key)}, ${formatType(type.of)})`;
    case 'type':
      return type.of.kind === 'dyn' ? 'type' : `type(${formatType(type.of)})`;
    case 'optional':
      return `optional_type(${formatType(type.of)})`;
    case 'opaque':
    case 'object':
    case 'parameter':
      return type.name;
    case 'error':
      return '!error!';
    default:
      return type.kind;
  }
}

const declaredNames: Readonly<Record<string, string>> = {
  null: 'null_type',
  timestamp: 'google.protobuf.Timestamp',
  duration: 'google.protobuf.Duration',
};

/** As cel-go writes a type that stands alone. */
export function declaredName(type: CelType): string {
  switch (type.kind) {
    case 'list':
      return `list(${declaredName(type.of)})`;
    case 'map':
      return `map(${declaredName(type.key)}, ${declaredName(type.of)})`;
    case 'type':
      return type.of.kind === 'dyn' ? 'type' : `type(${declaredName(type.of)})`;
    case 'optional':
      return `optional_type(${declaredName(type.of)})`;
    default:
      return declaredNames[type.kind] ?? formatType(type);
  }
}

/** Whether two types are the same in every part. */
export function sameType(a: CelType, b: CelType): boolean {
  if (a === b) return true;
  if (a.kind !== b.kind) return false;
  switch (a.kind) {
    case 'list':
    case 'type':
    case 'optional':
      return sameType(a.of, (b as typeof a).of);
    case 'map':
      return sameType(a.key, (b as typeof a).key) && sameType(a.of, (b as typeof a).of);
    case 'opaque':
    case 'object':
    case 'parameter':
      return a.name === (b as typeof a).name;
    default:
      return true;
  }
}
