import type { Arbitrary } from 'fast-check';
import {
  type ConvertedVersion,
  type DefinedKind,
  fillDefaults,
  isConversionError,
  type Json,
  type KindRef,
  type KubeObject,
  type ObjectConverter,
  type StructuralSchema,
  type VersionSide,
} from 'riata/object';
import { optionNames, refuseUnknownOptions } from 'riata/runtime';
import { changedFields } from './changed-fields.js';
import { loadFastCheck } from './load-fast-check.js';
import { schemaProblems } from './schema-problems.js';
import { schemaValues } from './schema-values.js';
import type { FastCheck } from './string-values.js';

/** Options of {@link expectRoundTrips}. */
export interface RoundTripOptions {
  /** How many objects of each version are tried. @default 200 */
  readonly runs?: number;
  /** Makes a run repeatable: failures name theirs. @default another one each time */
  readonly seed?: number;
  /** Leaves out objects that the schema alone allows and the server does not, by its CEL rules for instance. @default none */
  readonly where?: (object: KubeObject) => boolean;
  /**
   * False: `up` and `down` alone must lose nothing, without the annotation that keeps what the other version has no place
   * for. @default true
   */
  readonly annotation?: boolean;
}

const roundTripOptionNames = optionNames<RoundTripOptions>({ runs: true, seed: true, where: true, annotation: true });

/** A kind with versions, as `withVersion` gives it. */
export type VersionedKind = KindRef & Pick<DefinedKind, 'crd'> & { readonly converter: ObjectConverter };

/**
 * Tries that conversions between the versions of a kind lose nothing: draws objects from the schemas of both, converts
 * them there and back, and compares. It also fails if `up` or `down` throws, gives what the other schema does not allow,
 * or gives another result the second time. Requires the package `fast-check`.
 *
 * Rejects with the smallest object that it finds, its forms in both versions, and the paths of the fields that differ.
 *
 * @example
 * test('round trips', () => expectRoundTrips(Site, { runs: 1000 }));
 */
export async function expectRoundTrips(kind: VersionedKind, options: RoundTripOptions = {}): Promise<void> {
  refuseUnknownOptions('expectRoundTrips', options, roundTripOptionNames);
  const { runs = 200 } = options;
  if (!Number.isInteger(runs) || runs < 1)
    throw new TypeError(`expectRoundTrips: runs must be an integer ≥ 1, got ${runs}`);
  const { converter } = kind;
  if (converter.others.length === 0) {
    throw new TypeError(`expectRoundTrips: ${kind.kind} has one version; add others with withVersion(${kind.kind}, …)`);
  }
  const fc = await loadFastCheck('expectRoundTrips');
  for (const other of converter.others) {
    const { storage } = converter;
    for (const [from, to] of [
      [storage, other],
      [other, storage],
    ] as const) {
      checkWay(fc, { kind, from, to, other, options, runs });
    }
  }
}

interface Way {
  readonly kind: VersionedKind;
  readonly from: VersionSide;
  readonly to: VersionSide;
  readonly other: ConvertedVersion;
  readonly options: RoundTripOptions;
  readonly runs: number;
}

function checkWay(fc: FastCheck, way: Way): void {
  const { kind, from, to, options, runs } = way;
  const objects = objectsOf(fc, kind, from);
  const property = fc.property(objects, (object) => {
    fc.pre(schemaProblems(from.schema, object as unknown as Json).length === 0 && (options.where?.(object) ?? true));
    return roundTrip(way, object) === undefined;
  });
  const { seed } = options;
  const result = fc.check(property, { numRuns: runs, maxSkipsPerRun: 100, ...(seed === undefined ? {} : { seed }) });
  if (!result.failed) return;
  const subject = `expectRoundTrips: ${kind.kind} from ${from.name} to ${to.name} and back`;
  if (result.counterexample === null) {
    throw new Error(
      `${subject}: only ${result.numRuns} of ${result.numRuns + result.numSkips} generated objects fit the schema of ` +
        `${from.name} and "where"; loosen "where", or the schema's combinations of oneOf, not and pattern`,
    );
  }
  const [object] = result.counterexample as [KubeObject];
  const failure = roundTrip(way, object) ?? String(result.errorInstance);
  throw new Error(`${subject} (seed ${result.seed}, smallest of ${result.numRuns} runs):\n${failure}`);
}

/** What went wrong, for people; undefined if nothing did. */
function roundTrip({ kind, from, to, options }: Way, object: KubeObject): string | undefined {
  const { converter } = kind;
  const shown = (name: string, value: unknown) => `${name}: ${JSON.stringify(value)}`;
  const first = shown(from.name, object);
  let there: KubeObject | undefined;
  try {
    there = converter.convert(object, to.apiVersion);
    const second = shown(to.name, there);
    const again = changedFields(json(there), json(converter.convert(object, to.apiVersion)));
    if (again.length > 0) return lines('these fields are not the same each time:', again, first, second);
    const problems = schemaProblems(to.schema, json(there));
    if (problems.length > 0)
      return [`${to.name} would not be valid:`, ...problems.map(indent), first, second].join('\n');
    const kept = annotationsOf(there).filter((name) => !annotationsOf(object).includes(name));
    if (options.annotation === false && kept.length > 0) {
      const text = there.metadata.annotations?.[kept[0] as string] ?? '[]';
      const fields = (JSON.parse(text) as { at: readonly Json[]; is?: Json; was?: Json }[]).map(({ at, is, was }) => ({
        ...{
          path: at.map((step) => (typeof step === 'string' ? step : JSON.stringify(step))).join('.'),
          before: is,
          after: was,
        },
      }));
      return lines('these fields are kept by the annotation alone:', fields, first, second);
    }
    const back = converter.convert(there, from.apiVersion);
    const backProblems = schemaProblems(from.schema, json(back));
    if (backProblems.length > 0) {
      return [`${from.name} would not be valid after the way back:`, ...backProblems.map(indent), first, second].join(
        '\n',
      );
    }
    const lost = changedFields(fillDefaults(from.schema, json(object)), json(back));
    if (lost.length === 0) return undefined;
    return lines('these fields differ after the way back:', lost, first, second, shown(`${from.name} again`, back));
  } catch (error) {
    if (!isConversionError(error)) throw error;
    return [error.message, first, ...(there === undefined ? [] : [shown(to.name, there)])].join('\n');
  }
}

function lines(
  title: string,
  fields: readonly { path: string; before?: Json | undefined; after?: Json | undefined }[],
  ...rest: string[]
): string {
  const text = (value: Json | undefined) => (value === undefined ? 'nothing' : JSON.stringify(value));
  return [
    title,
    ...fields.map(({ path, before, after }) => indent(`${path}: ${text(before)} became ${text(after)}`)),
    ...rest,
  ].join('\n');
}

const indent = (line: string) => `  ${line}`;

function annotationsOf({ metadata }: KubeObject): readonly string[] {
  return Object.keys(metadata.annotations ?? {});
}

/** As it is on the wire. */
function json(value: unknown): Json {
  return JSON.parse(JSON.stringify(value)) as Json;
}

/** Whole objects of one version, with metadata that a server would have given. */
function objectsOf(fc: FastCheck, kind: VersionedKind, side: VersionSide): Arbitrary<KubeObject> {
  const { spec, status } = side.schema.properties ?? {};
  const labels = fc.dictionary(fc.constantFrom('app', 'tier'), fc.constantFrom('', 'a', 'b'), {
    noNullPrototype: true,
  });
  const base = {
    ...(kind.scope === 'Namespaced' ? { namespace: 'default' } : {}),
    ...{ name: 'site', uid: '00000000-0000-4000-8000-000000000000', resourceVersion: '1', generation: 1 },
    creationTimestamp: '2026-01-01T00:00:00Z',
  };
  const metadata = fc.option(labels, { nil: undefined }).map((given) => ({ ...base, ...(given && { labels: given }) }));
  const parts = {
    metadata,
    spec: schemaValues(fc, spec ?? { type: 'object' }),
    ...(status && { status: statuses(fc, status) }),
  };
  return fc
    .record(parts as Record<string, Arbitrary<unknown>>, { requiredKeys: ['metadata', 'spec'], noNullPrototype: true })
    .map((made) => ({ apiVersion: side.apiVersion, kind: kind.kind, ...made }) as unknown as KubeObject);
}

/** Conditions go along whatever the functions do: a few are enough. */
function statuses(fc: FastCheck, schema: StructuralSchema): Arbitrary<Json> {
  const { conditions: _, ...properties } = schema.properties ?? {};
  const condition = {
    ...{ type: 'Ready', status: 'True', reason: 'Tried', message: '' },
    lastTransitionTime: '2026-01-01T00:00:00Z',
  };
  const conditions = fc.constantFrom({}, { conditions: [] }, { conditions: [condition] });
  const own = schemaValues(fc, { ...schema, properties });
  return fc.tuple(own, conditions).map(([fields, more]) => ({ ...(fields as object), ...more }) as Json);
}
