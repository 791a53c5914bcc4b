import { isJsonObject, type Json } from '../json.js';
import type { KubeObject } from '../meta.js';
import type { StructuralSchema } from '../schema/structural-schema.js';
import { fitsShape } from './fits-shape.js';
import { type KeptField, memberSchema } from './kept-field.js';
import type { JsonText, VersionSide } from './version-side.js';

/** An annotation of this name and a version keeps what that version says beyond the object that carries it. */
export const keptAnnotation = (version: string) => `conversion.riata.dev/${version}`;

/** The fields of version `of` that an object keeps, and the object without them. */
export function takeKept(
  object: KubeObject,
  of: VersionSide,
  json: JsonText,
): { readonly kept: readonly KeptField[]; readonly rest: KubeObject } {
  const { [keptAnnotation(of.name)]: text, ...others } = object.metadata?.annotations ?? {};
  if (text === undefined) return { kept: [], rest: object };
  const { annotations: _, ...metadata } = object.metadata;
  const left = Object.keys(others).length === 0 ? {} : { annotations: others };
  return { kept: readKept(text, of.schema, json), rest: { ...object, metadata: { ...metadata, ...left } } };
}

/** The object with an annotation that keeps these fields of version `of`. */
export function annotateKept(
  object: KubeObject,
  of: VersionSide,
  kept: readonly KeptField[],
  json: JsonText,
): KubeObject {
  if (kept.length === 0) return object;
  const annotations = { ...object.metadata.annotations, [keptAnnotation(of.name)]: json.stringify(kept) };
  return { ...object, metadata: { ...object.metadata, annotations } };
}

/**
 * Anybody who may write the object may write the annotation, and the server does not validate what a conversion gives:
 * fields that the schema does not have, or has in another type, are dropped. So is a text that is malformed: an error
 * would make every list of the kind fail.
 */
function readKept(text: string, schema: StructuralSchema, json: JsonText): KeptField[] {
  let parsed: unknown;
  try {
    parsed = json.parse(text);
  } catch {
    return [];
  }
  if (!Array.isArray(parsed)) return [];
  return parsed.filter((entry): entry is KeptField => isKept(entry) && fitsShape(schemaAt(schema, entry), entry.is));
}

function isKept(entry: unknown): entry is KeptField {
  if (!isJsonObject(entry) || !Array.isArray(entry.at)) return false;
  const [first] = entry.at as readonly Json[];
  if (first !== 'spec' && first !== 'status') return false;
  return (entry.at as readonly Json[]).every((step) => typeof step === 'string' || isJsonObject(step));
}

function schemaAt(schema: StructuralSchema, { at }: KeptField): StructuralSchema | undefined {
  let current: StructuralSchema | undefined = schema;
  for (const step of at) {
    const isOpen: boolean = current?.['x-kubernetes-preserve-unknown-fields'] === true;
    const next: StructuralSchema | undefined = typeof step === 'string' ? memberSchema(current, step) : current?.items;
    current = next ?? (isOpen ? anyShape : undefined);
  }
  return current;
}

const anyShape: StructuralSchema = { 'x-kubernetes-preserve-unknown-fields': true, nullable: true };
