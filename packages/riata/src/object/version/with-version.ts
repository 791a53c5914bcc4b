import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import {
  buildVersion,
  type DefinedKind,
  type DefinedObject,
  type DefinedWrite,
  type OptionalFields,
  type StatusInput,
  type StatusOutput,
  type VersionDefinition,
  versionDefinitionOptionNames,
} from '../define-kind.js';
import type { Scope } from '../kind.js';
import type { KubeObject } from '../meta.js';
import type { CrdManifest, CrdVersion } from '../schema/crd-manifest.js';
import type { AnySchema, SchemaInput, SchemaOutput } from '../schema/infer-schema.js';
import { checkVersionName } from '../schema/kind-names.js';
import { Problems, SchemaError } from '../schema/schema-error.js';
import { clone } from '../value/clone.js';
import { freeze } from '../value/freeze.js';
import { assembleKind } from './assemble-kind.js';
import { missingConversion } from './missing-conversion.js';
import type { ConvertedVersion } from './object-converter.js';

type GroupOf<ApiVersion> = ApiVersion extends `${infer Group}/${string}` ? Group : string;
type SpecOf<T> = T extends { readonly spec: infer Spec } ? Spec : never;
type StatusIn<T> = T extends { readonly status?: infer Status } ? Status : undefined;

/** The status that a version reads: its own, or else the storage version's. */
type ReadStatus<R, Status> = [Status] extends [undefined]
  ? 'status' extends keyof R
    ? { readonly status?: StatusIn<R> }
    : unknown
  : { readonly status?: OptionalFields<StatusOutput<Status>> };

type WrittenStatus<W, Status> = [Status] extends [undefined]
  ? 'status' extends keyof W
    ? { readonly status?: StatusIn<W> }
    : unknown
  : { readonly status?: OptionalFields<StatusInput<Status>> };

/** An object of a version that {@link withVersion} added, as it is read. */
export type VersionObject<R extends KubeObject, Version extends string, Spec, Status> = Omit<
  DefinedObject<R['kind'], SchemaOutput<Spec>, undefined, Scope, `${GroupOf<R['apiVersion']>}/${Version}`>,
  'metadata'
> & { readonly metadata: R['metadata'] } & ReadStatus<R, Status>;

/** An object of a version that {@link withVersion} added, as it is written. */
export type VersionWrite<W, Spec, Status> = DefinedWrite<SchemaInput<Spec>> & WrittenStatus<W, Status>;

/**
 * What `up` and `down` return. Name, namespace and all other metadata go along; so do `conditions` and
 * `observedGeneration`. Of a status that both versions share nothing needs to be returned.
 */
export type Converted<W, Status> = {
  readonly spec: SpecOf<W>;
  /** Where labels or annotations change: all of them. */
  readonly metadata?: {
    readonly labels?: Readonly<Record<string, string>> | undefined;
    readonly annotations?: Readonly<Record<string, string>> | undefined;
  };
} & ([Status] extends [undefined]
  ? { readonly status?: StatusIn<W> | undefined }
  : { readonly status: StatusIn<W> | undefined });

/** A version for {@link withVersion}: its schema, and how its objects become those of the storage version and back. */
export interface VersionConversion<
  R extends KubeObject,
  W,
  Version extends string,
  Spec extends AnySchema,
  Status extends AnySchema | undefined,
> extends Omit<VersionDefinition<Spec, Status>, 'spec' | 'status'> {
  readonly spec: Spec;
  /** @default the status of the storage version, which then goes along unchanged */
  readonly status?: Status;
  /** Makes an object of the storage version out of one of this version. Pure; the object is frozen. */
  up(object: VersionObject<R, Version, Spec, Status>): Converted<W, Status>;
  /** Makes an object of this version out of one of the storage version. Pure; the object is frozen. */
  down(object: R): Converted<VersionWrite<W, Spec, Status>, Status>;
  /**
   * Where fields go that the other version has no place for. `'annotation'`: they travel in an annotation
   * `conversion.riata.dev/<version>`, and come back where nobody has changed what they belong to. `'nothing'`: they are
   * lost. @default 'annotation'
   */
  readonly keeps?: 'annotation' | 'nothing';
}

const withVersionOptionNames = versionDefinitionOptionNames.with(
  optionNames<{ up: true; down: true; keeps: true }>({ up: true, down: true, keeps: true }),
);

/**
 * The same kind with one more version that the server offers. Objects are stored in the kind's own version; every other
 * one is converted to and from that, by functions that the compiler checks against both schemas. Several calls add
 * several versions.
 *
 * ```ts
 * export const Site = withVersion(SiteV2, 'v1', {
 *   spec: z.object({ image: z.string(), replicas: z.int().default(1) }),
 *   up: ({ spec: { image, ...rest } }) => {
 *     const [name = '', tag = 'latest'] = image.split(':');
 *     return { spec: { ...rest, image: { name, tag } } };
 *   },
 *   down: ({ spec: { image, replicas } }) => ({ spec: { replicas, image: `${image.name}:${image.tag}` } }),
 * });
 * const old = await client.get(Site.versions.v1, { namespace: 'shop', name: 'cart' });
 * ```
 *
 * The server asks a webhook to convert: run `conversion(Site)` of `riata/webhook` beside the controllers. As long as none
 * runs, it refuses to read and write objects of any version but the stored one. A function that throws makes every list
 * fail that holds such an object, so have both take whatever the schema lets pass; `expectRoundTrips` of
 * `@riata/testing` tries that.
 */
export function withVersion<
  R extends KubeObject,
  W,
  S extends Scope,
  V extends object,
  const Version extends string,
  const Spec extends AnySchema,
  const Status extends AnySchema | undefined = undefined,
>(
  kind: DefinedKind<R, W, S, V>,
  version: Version,
  definition: VersionConversion<R, W, Version, Spec, Status>,
): DefinedKind<
  R,
  W,
  S,
  V & {
    readonly [N in Version]: DefinedKind<VersionObject<R, Version, Spec, Status>, VersionWrite<W, Spec, Status>, S>;
  }
> {
  const subject = `withVersion: ${version} of ${kind.kind} of ${kind.group}`;
  refuseUnknownOptions(subject, definition, withVersionOptionNames);
  const manifest = kind.crd();
  const problems = new Problems();
  const built = buildOther(kind, manifest, version, definition as unknown as VersionDefinition, problems);
  for (const name of ['up', 'down'] as const) {
    if (typeof definition[name] !== 'function')
      problems.add(name, `must be a function, got ${typeof definition[name]}`);
  }
  const { keeps = 'annotation' } = definition;
  if (keeps !== 'annotation' && keeps !== 'nothing') {
    problems.add('keeps', `must be 'annotation' or 'nothing', got ${JSON.stringify(keeps)}`);
  }
  if (problems.count > 0) throw new SchemaError(`${subject} is invalid`, problems.list());
  const { conversion, versions } = manifest.spec;
  const next: CrdManifest = {
    ...manifest,
    spec: {
      ...manifest.spec,
      versions: [...versions, built],
      conversion: conversion.strategy === 'None' ? missingConversion(manifest.metadata.name) : conversion,
    },
  };
  const added: ConvertedVersion = {
    ...{ name: version, apiVersion: `${kind.group}/${version}`, schema: built.schema.openAPIV3Schema, keeps },
    up: definition.up as ConvertedVersion['up'],
    down: definition.down as ConvertedVersion['down'],
    hasOwnStatus: definition.status !== undefined,
  };
  const olders = Object.entries(kind.versions as Readonly<Record<string, DefinedKind>>);
  const sources = {
    ...Object.fromEntries(olders.map(([name, older]) => [name, older.source])),
    ...{ [kind.version]: kind.source, [version]: { spec: definition.spec, status: definition.status } },
  };
  return assembleKind(freeze(clone(next)), [...kind.converter.others, added], sources) as never;
}

function buildOther(
  kind: { readonly version: string; readonly kind: string },
  manifest: CrdManifest,
  name: string,
  definition: VersionDefinition,
  problems: Problems,
): CrdVersion {
  const { versions } = manifest.spec;
  const [stored] = versions;
  checkVersionName(name, 'version', problems);
  if (versions.some((known) => known.name === name)) problems.add('version', `duplicate version ${name}`);
  if (stored?.name !== kind.version || !stored.storage) {
    const storage = versions.find((each) => each.storage)?.name;
    problems.add('kind', `${kind.kind} of ${kind.version} is not stored; add versions to the kind of ${storage}`);
  }
  const inherited = stored?.schema.openAPIV3Schema.properties?.status;
  if (definition.status !== undefined && inherited === undefined) {
    problems.add('status', `${kind.kind} of ${kind.version} has no status; define one there as well, or omit this one`);
  }
  return buildVersion({ ...pickVersion(definition), name }, '', problems, inherited);
}

function pickVersion(definition: object): VersionDefinition {
  const known = Object.entries(definition).filter(([name]) => versionDefinitionOptionNames.has(name));
  return Object.fromEntries(known) as unknown as VersionDefinition;
}
