import type { Problems } from './schema-error.js';
import type { SchemaExtension, StructuralSchema } from './structural-schema.js';

/** The state of a conversion. */
export interface Conversion {
  /** The document that `$ref`s point into. */
  readonly root: unknown;
  /** Whether `additionalProperties: false` closes a variant. Not on the output side: libraries put it everywhere. */
  readonly closes: boolean;
  /** Keywords to lay over the fields, by path. */
  readonly extend: Readonly<Record<string, SchemaExtension>>;
  /** The paths of `extend` that met a field. */
  readonly met: Set<string>;
  readonly problems: Problems;
  /** Whether a webhook runs the schema: what it can enforce is no problem. */
  readonly isLenient: boolean;
  /** The targets of the `$ref`s that lead to the current node. */
  readonly within: readonly unknown[];
  /** Converts a part. `shape` lends types to a branch that only restricts the schema beside it. */
  readonly convert: Convert;
}

export type Convert = (
  node: unknown,
  path: string,
  conversion: Conversion,
  shape?: StructuralSchema,
) => StructuralSchema;

/** Any value at all. Without `nullable` a server would drop nulls. */
export const anything: StructuralSchema = Object.freeze({
  'x-kubernetes-preserve-unknown-fields': true,
  nullable: true,
});

/** Stands for what could not be converted, where a problem was noted. */
export const unknownSchema: StructuralSchema = Object.freeze({ 'x-kubernetes-preserve-unknown-fields': true });

/** An integer or a string, in the form that an API server expects. */
export const intOrString: StructuralSchema = Object.freeze({
  anyOf: [{ type: 'integer' }, { type: 'string' }],
  'x-kubernetes-int-or-string': true,
} as const);

/** The schema that allows null besides. A server holds null against an enum, even one that names it; below `allOf` not. */
export function orNull(schema: StructuralSchema): StructuralSchema {
  const { enum: values, ...rest } = schema;
  if (values === undefined) return { ...schema, nullable: true };
  return { ...rest, nullable: true, allOf: [{ enum: values }, ...(schema.allOf ?? [])] };
}
