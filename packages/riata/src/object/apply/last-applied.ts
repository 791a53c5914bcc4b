import { goJson } from '../go-text.js';
import { isJsonObject, type Json, type JsonObject } from '../json.js';
import { getOwn, setOwn } from '../value/own.js';
import { ApplyError } from './apply-error.js';
import type { FieldSet } from './fields/field-set.js';
import type { Typed } from './kind-versions.js';
import { compareTyped } from './typed/compare-typed.js';
import type { MergeType } from './typed/merge-type.js';
import { toFieldSet } from './typed/to-field-set.js';
import { validateTyped } from './typed/validate-typed.js';

/** Where `kubectl apply` without `--server-side` keeps what it applied. */
const lastAppliedAnnotation = 'kubectl.kubernetes.io/last-applied-configuration';

/** The one manager that objects are migrated for from client-side to server-side apply. */
export const kubectlManager = 'kubectl';

const maxAnnotationBytes = 256 * 1024;

/**
 * The fields that client-side apply set and that have not changed since: kubectl may take these over without a
 * conflict. Undefined if the annotation is missing, of another version, or cannot be read.
 */
export function fieldsLastApplied(live: Typed, apiVersion: string): FieldSet | undefined {
  const text = annotationsOf(live.object)?.[lastAppliedAnnotation];
  if (typeof text !== 'string' || text === '' || !isValid(live.object, live.type)) return undefined;
  let last: Json;
  try {
    last = JSON.parse(text) as Json;
  } catch {
    return undefined;
  }
  if (!isJsonObject(last) || last.apiVersion !== apiVersion || typeof last.kind !== 'string') return undefined;
  if (!isValid(last, live.type)) return undefined;
  const { added, modified, removed } = compareTyped(last, live.object, live.type);
  return toFieldSet(last, live.type).difference(modified).difference(added).difference(removed);
}

function isValid(value: Json, type: MergeType): boolean {
  try {
    return validateTyped(value, type).length === 0;
  } catch (error) {
    if (error instanceof ApplyError) return false;
    throw error;
  }
}

/** Keeps the annotation of an object that has one up to date with what kubectl applies server-side. */
export function updateLastApplied(object: JsonObject, config: JsonObject): JsonObject {
  const annotations = annotationsOf(object);
  const present = annotations?.[lastAppliedAnnotation];
  if (typeof present !== 'string' || present === '') return object;
  const { [lastAppliedAnnotation]: _, ...others } = annotations ?? {};
  const last = `${goJson(withoutAnnotation(config))}\n`;
  const all = { ...others, [lastAppliedAnnotation]: last };
  const metadata = isJsonObject(object.metadata) ? object.metadata : {};
  return { ...object, metadata: { ...metadata, annotations: sizeOf(all) > maxAnnotationBytes ? others : all } };
}

function withoutAnnotation(config: JsonObject): JsonObject {
  const annotations = annotationsOf(config);
  if (annotations === undefined || !Object.hasOwn(annotations, lastAppliedAnnotation)) return config;
  const kept: Record<string, Json> = {};
  for (const [name, value] of Object.entries(annotations)) {
    if (name !== lastAppliedAnnotation && value !== undefined) setOwn(kept, name, value);
  }
  const metadata = isJsonObject(config.metadata) ? config.metadata : {};
  return { ...config, metadata: { ...metadata, annotations: kept } };
}

function annotationsOf(object: JsonObject): JsonObject | undefined {
  const metadata = object.metadata;
  const annotations = isJsonObject(metadata) ? getOwn(metadata, 'annotations') : undefined;
  return isJsonObject(annotations) ? annotations : undefined;
}

function sizeOf(annotations: JsonObject): number {
  let bytes = 0;
  const encoder = new TextEncoder();
  for (const [name, value] of Object.entries(annotations)) {
    bytes += encoder.encode(name).length + encoder.encode(String(value)).length;
  }
  return bytes;
}
