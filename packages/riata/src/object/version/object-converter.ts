import { isJsonObject, type Json, type JsonObject } from '../json.js';
import type { KubeObject } from '../meta.js';
import { freeze } from '../value/freeze.js';
import { ConversionError, thrownBy } from './conversion-error.js';
import { dropUndefined } from './drop-undefined.js';
import { fillDefaults } from './fill-defaults.js';
import { findKept } from './find-kept.js';
import { annotateKept, takeKept } from './kept-annotation.js';
import type { KeptField } from './kept-field.js';
import { restoreKept } from './restore-kept.js';
import type { JsonText, VersionSide } from './version-side.js';

/** What a conversion function gives: parts of the object, and labels and annotations where they change. */
export interface ConvertedParts {
  readonly spec: unknown;
  readonly status?: unknown;
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
}

/** A version beside the storage version, and how to get there and back. */
export interface ConvertedVersion extends VersionSide {
  readonly up: (object: never) => ConvertedParts;
  readonly down: (object: never) => ConvertedParts;
  readonly keeps: 'annotation' | 'nothing';
  /** Whether `up` and `down` give a status; else it goes along unchanged. */
  readonly hasOwnStatus: boolean;
}

/** From one version to its neighbour. */
interface Step {
  readonly from: VersionSide;
  readonly to: VersionSide;
  readonly there: 'up' | 'down';
  readonly back: 'up' | 'down';
  readonly version: ConvertedVersion;
}

/** Converts objects of a kind between its versions, always by way of the storage version. Pure. */
export class ObjectConverter {
  readonly #kind: string;
  readonly storage: VersionSide;
  /** The versions besides the storage version. */
  readonly others: readonly ConvertedVersion[];

  constructor(kind: string, storage: VersionSide, others: readonly ConvertedVersion[]) {
    this.#kind = kind;
    this.storage = storage;
    this.others = others;
  }

  /** All versions, as `apiVersion`, the storage version first. */
  get apiVersions(): readonly string[] {
    return [this.storage, ...this.others].map(({ apiVersion }) => apiVersion);
  }

  /** The object in a version given as `group/version`; the same object if it is in that version. */
  convert(object: KubeObject, apiVersion: string, json: JsonText = JSON): KubeObject {
    if (object.kind !== this.#kind) throw new ConversionError(object, apiVersion, `expected kind ${this.#kind}`);
    let current = object;
    for (const step of this.#steps(object, apiVersion)) current = takeStep(current, step, json);
    return current;
  }

  #steps(object: KubeObject, apiVersion: string): Step[] {
    const storage = this.storage;
    const find = (version: string) => {
      if (version === storage.apiVersion) return undefined;
      const found = this.others.find((other) => other.apiVersion === version);
      if (found !== undefined) return found;
      const known = this.apiVersions.join(', ');
      throw new ConversionError(object, apiVersion, `unknown version ${version}; known versions are ${known}`);
    };
    const [from, to] = [find(object.apiVersion), find(apiVersion)];
    if (from === to) return [];
    const steps: Step[] = [];
    if (from !== undefined) steps.push({ from, to: storage, there: 'up', back: 'down', version: from });
    if (to !== undefined) steps.push({ from: storage, to, there: 'down', back: 'up', version: to });
    return steps;
  }
}

function takeStep(object: KubeObject, step: Step, json: JsonText): KubeObject {
  const { from, to, there, back, version } = step;
  const { kept, rest } = takeKept(object, to, json);
  const input = freeze(fillDefaults(from.schema, rest as unknown as Json) as unknown as KubeObject);
  const converted = apply(there, version, input, to);
  const result = kept.length === 0 ? converted : restoreFitting(converted, kept, input, step);
  if (version.keeps === 'nothing') return result;
  const returned = apply(back, version, freeze(result), from);
  return annotateKept(result, from, findKept(from.schema, partsOf(returned), partsOf(input)), json);
}

/**
 * Restores the kept fields that do not undo what the input says. A field of one version may become several of the other:
 * one of these can look unchanged though the field they came from was changed.
 */
function restoreFitting(converted: KubeObject, kept: readonly KeptField[], input: KubeObject, step: Step): KubeObject {
  const { from, to, back, version } = step;
  const restored = (object: KubeObject, fields: readonly KeptField[]) =>
    withParts(object, restoreKept(to.schema, partsOf(object), fields));
  const lossOf = (object: KubeObject) => {
    try {
      return findKept(from.schema, partsOf(apply(back, version, freeze(object), from)), partsOf(input)).length;
    } catch {
      return Number.POSITIVE_INFINITY;
    }
  };
  const all = restored(converted, kept);
  const lossOfAll = lossOf(all);
  if (lossOfAll === 0) return all;
  let least = lossOf(converted);
  if (lossOfAll <= least) return all;
  let current = converted;
  for (const field of kept) {
    const next = restored(current, [field]);
    const loss = lossOf(next);
    if (loss > least) continue;
    current = next;
    least = loss;
  }
  return current;
}

/** One call of a function of the user's, and the object made of what it gave. */
function apply(what: 'up' | 'down', version: ConvertedVersion, input: KubeObject, to: VersionSide): KubeObject {
  let parts: ConvertedParts;
  try {
    parts = version[what](input as never);
  } catch (error) {
    throw new ConversionError(input, to.apiVersion, thrownBy(what, error), { cause: error });
  }
  const refuse = (problem: string) =>
    new ConversionError(input, to.apiVersion, `${what} of ${version.name} ${problem}`);
  if (parts instanceof Promise) throw refuse('must return its result, not a promise');
  if (!isJsonObject(parts) || !isJsonObject(parts.spec)) throw refuse('must return an object with a spec');
  const { status, ...others } = input as KubeObject & { readonly status?: Json };
  const next = version.hasOwnStatus ? statusOf(status, parts.status) : (parts.status ?? status);
  const made = {
    ...others,
    apiVersion: to.apiVersion,
    metadata: metadataOf(input, parts),
    spec: dropUndefined(parts.spec),
    ...(next === undefined ? {} : { status: dropUndefined(next) }),
  };
  return fillDefaults(to.schema, made as unknown as Json) as unknown as KubeObject;
}

/** Name, uid and the like cannot be changed by a conversion; servers refuse it. */
function metadataOf({ metadata }: KubeObject, { metadata: given }: ConvertedParts): KubeObject['metadata'] {
  if (given === undefined) return metadata;
  const { labels = metadata.labels, annotations = metadata.annotations } = given;
  return dropUndefined({ ...metadata, labels, annotations }) as KubeObject['metadata'];
}

/** What every status has goes along, whatever the function says of the rest. */
function statusOf(before: unknown, given: unknown): unknown {
  if (!isJsonObject(before)) return given;
  const { conditions, observedGeneration } = before;
  const added = {
    ...(conditions === undefined ? {} : { conditions }),
    ...(observedGeneration === undefined ? {} : { observedGeneration }),
  };
  return given === undefined && Object.keys(added).length === 0 ? undefined : { ...added, ...(given as object) };
}

function partsOf(object: KubeObject): JsonObject {
  const { spec, status } = object as { spec?: Json; status?: Json };
  return { spec, status };
}

function withParts(object: KubeObject, parts: JsonObject): KubeObject {
  const { status: _, ...rest } = object as KubeObject & { status?: unknown };
  const { spec, status } = parts;
  return { ...rest, spec, ...(status === undefined ? {} : { status }) } as KubeObject;
}
