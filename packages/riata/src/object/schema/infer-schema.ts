import type { StandardJSONSchemaV1, StandardTypedV1 } from '@standard-schema/spec';
import type { ListMap } from '../kind.js';

/** A JSON Schema written out as an object. Written in place, its TypeScript type is inferred; else add `as const`. */
export interface JsonSchema {
  readonly [keyword: string]: unknown;
}

/** The schemas that `defineKind` accepts: any Standard JSON Schema, TypeBox, or a JSON Schema object. */
export type AnySchema = StandardJSONSchemaV1<unknown, unknown> | JsonSchema;

/** The schemas that a version is defined by. */
export interface SchemaSource {
  readonly spec: AnySchema;
  readonly status?: AnySchema | undefined;
}

/** The type of a schema's values when written: the schema's input. */
export type SchemaInput<S> = S extends TypeBoxLike
  ? DeepReadonly<TypeBoxStatic<S>>
  : S extends StandardTypedV1
    ? DeepReadonly<StandardTypedV1.InferInput<S>>
    : FromSchema<S, 'input'>;

/** The type of a schema's values when read: the schema's output. */
export type SchemaOutput<S> = S extends TypeBoxLike
  ? DeepReadonly<TypeBoxStatic<S>>
  : S extends StandardTypedV1
    ? DeepReadonly<StandardTypedV1.InferOutput<S>>
    : FromSchema<S, 'output'>;

interface TypeBoxLike {
  readonly params: unknown[];
  readonly static: unknown;
}

type TypeBoxStatic<S extends TypeBoxLike> = (S & { params: [] })['static'];

type Leaf = string | number | bigint | boolean | symbol | null | undefined | ((...args: never) => unknown);

/** `T` with everything in it read-only. */
export type DeepReadonly<T> = 0 extends 1 & T
  ? T
  : T extends Leaf
    ? T
    : T extends readonly unknown[]
      ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
      : T extends object
        ? { readonly [K in keyof T]: DeepReadonly<T[K]> }
        : T;

/** Makes what was intersected one plain object type. */
type Flat<T> = { readonly [K in keyof T]: T[K] };

/**
 * The TypeScript type of a JSON Schema's values, read-only: objects, maps, lists (as {@link ListMap} where
 * `x-kubernetes-list-map-keys` stand), scalars, `enum`, `const`, `nullable`, `anyOf`/`oneOf`/`allOf`; `unknown` beyond
 * that. A property with a default may be left out when written and is there when read.
 */
export type FromSchema<S, Side extends 'input' | 'output' = 'output'> =
  | Value<S, Side>
  | (S extends { readonly nullable: true } ? null : never);

type Value<S, Side extends 'input' | 'output'> = S extends { readonly const: infer C }
  ? C
  : S extends { readonly enum: readonly (infer E)[] }
    ? E
    : S extends { readonly 'x-kubernetes-int-or-string': true }
      ? number | string
      : S extends { readonly anyOf: readonly (infer V)[] }
        ? Each<V, Side>
        : S extends { readonly oneOf: readonly (infer V)[] }
          ? Each<V, Side>
          : S extends { readonly allOf: readonly [infer A, ...infer Rest] }
            ? All<[A, ...Rest], Side>
            : S extends { readonly type: infer T }
              ? Typed<T extends readonly (infer Name)[] ? Name : T, S, Side>
              : S extends { readonly properties: object }
                ? ObjectOf<S, Side>
                : unknown;

type Each<V, Side extends 'input' | 'output'> = V extends unknown ? FromSchema<V, Side> : never;

type All<L extends readonly unknown[], Side extends 'input' | 'output'> = L extends readonly [infer A, ...infer Rest]
  ? FromSchema<A, Side> & All<Rest, Side>
  : unknown;

type Typed<T, S, Side extends 'input' | 'output'> = T extends 'string'
  ? string
  : T extends 'integer' | 'number'
    ? number
    : T extends 'boolean'
      ? boolean
      : T extends 'null'
        ? null
        : T extends 'array'
          ? ListOf<S, Side>
          : T extends 'object'
            ? ObjectOf<S, Side>
            : unknown;

type ListOf<S, Side extends 'input' | 'output'> = S extends { readonly items: infer I }
  ? S extends { readonly 'x-kubernetes-list-map-keys': readonly (infer K extends string)[] }
    ? ListMap<FromSchema<I, Side>, K>
    : readonly FromSchema<I, Side>[]
  : readonly unknown[];

type RequiredNames<S> = S extends { readonly required: readonly (infer N)[] } ? N : never;

type Defaulted<P> = { [K in keyof P]: P[K] extends { readonly default: unknown } ? K : never }[keyof P];

type Present<S, P, Side extends 'input' | 'output'> = Side extends 'input'
  ? Exclude<RequiredNames<S>, Defaulted<P>>
  : RequiredNames<S> | Defaulted<P>;

type ObjectOf<S, Side extends 'input' | 'output'> = S extends { readonly properties: infer P }
  ? Flat<
      { readonly [K in keyof P as K extends Present<S, P, Side> ? K : never]: FromSchema<P[K], Side> } & {
        readonly [K in keyof P as K extends Present<S, P, Side> ? never : K]?: FromSchema<P[K], Side>;
      }
    >
  : S extends { readonly additionalProperties: infer A extends object }
    ? { readonly [key: string]: FromSchema<A, Side> }
    : { readonly [key: string]: unknown };
