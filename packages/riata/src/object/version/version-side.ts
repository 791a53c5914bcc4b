import type { StructuralSchema } from '../schema/structural-schema.js';

/** One version of a kind, for `ObjectConverter`. */
export interface VersionSide {
  readonly name: string;
  readonly apiVersion: string;
  readonly schema: StructuralSchema;
}

/** Reads and writes the JSON in annotations: a webhook that keeps integers past 2^53 has its own. */
export interface JsonText {
  parse(text: string): unknown;
  stringify(value: unknown): string;
}
