import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import { type KindRule, withCompiledRules, withRulePlaces } from './cel/kind-rules.js';
import type { ClusterMeta, Kind, KindRef, ListMap, NamespacedMeta, Scope } from './kind.js';
import type { Condition, KubeObject, WriteMeta } from './meta.js';
import { buildCrdVersion } from './schema/build-crd-version.js';
import { buildSchema } from './schema/build-schema.js';
import type { CrdConversion, CrdManifest, CrdVersion, PrinterColumn, ScaleSubresource } from './schema/crd-manifest.js';
import type { AnySchema, SchemaInput, SchemaOutput, SchemaSource } from './schema/infer-schema.js';
import { checkNames, checkVersionName, type KindNames, pluralOf } from './schema/kind-names.js';
import { Problems, SchemaError } from './schema/schema-error.js';
import { structuralProblems } from './schema/structural-problems.js';
import type { SchemaExtension, StructuralSchema } from './schema/structural-schema.js';
import { clone } from './value/clone.js';
import { freeze } from './value/freeze.js';
import { assembleKind } from './version/assemble-kind.js';
import type { ObjectConverter } from './version/object-converter.js';

/** The options of every version of a kind. */
export interface VersionDefinition<
  Spec extends AnySchema = AnySchema,
  Status extends AnySchema | undefined = AnySchema | undefined,
> {
  /** The desired state, an object: any Standard JSON Schema (zod, arktype, valibot), TypeBox, or a JSON Schema. */
  readonly spec: Spec;
  /**
   * The observed state. Its fields are optional whatever the schema says, and `conditions` and `observedGeneration` are
   * added. Given, the kind has the `status` subresource.
   */
  readonly status?: Status;
  /**
   * Keywords that the schema library can't express, by path: CEL rules, list and map types, defaults… Paths are written
   * `spec.ports`, `spec.ports[].name`, `spec.labels.*`, or `.` for the whole object. The same keywords are taken from
   * the schema's own metadata, e.g. zod's `.meta({ 'x-kubernetes-list-type': 'set' })`.
   */
  readonly extend?: Readonly<Record<string, SchemaExtension>>;
  /**
   * Rules across fields and for updates (`x-kubernetes-validations`), as functions that are compiled to CEL: on the spec,
   * unless `at` names the status or, as `.`, the whole object. For fields below, `extend` takes what `rule` returns.
   *
   * ```ts
   * rules: [{ require: ({ self }) => self.min.lte(self.max), message: 'min must not exceed max', fieldPath: '.min' }]
   * ```
   */
  readonly rules?: readonly KindRule<SchemaOutput<Spec>, StatusOutput<Status>>[];
  /** Columns of `kubectl get`. Without any, it shows the age. */
  readonly printerColumns?: readonly PrinterColumn[];
  /** Paths that field selectors may use, e.g. `.spec.color`: scalars, at most 8. */
  readonly selectableFields?: readonly string[];
  /** Gives the kind the `scale` subresource. */
  readonly scale?: ScaleSubresource;
  /**
   * What to do with all that the schema says and a CustomResourceDefinition cannot: refinements without a CEL rule,
   * computed defaults, `.trim()` and the like. `'refuse'` throws. `'webhook'` leaves it to a webhook, which you run beside
   * your controllers: `admit(Site, { schema: true })` of `riata/webhook`. Servers without it accept what the schema
   * refuses. @default 'refuse'
   */
  readonly beyondCrd?: 'refuse' | 'webhook';
  /** Whether the server offers this version. @default true */
  readonly served?: boolean;
  /** Makes the server warn clients that use this version. @default false */
  readonly deprecated?: boolean;
  /** The text of the warning, instead of the server's own. */
  readonly deprecationWarning?: string;
}

/** A version beside the one that a kind is used in. */
export interface OtherVersion extends VersionDefinition {
  readonly name: string;
  /** Whether objects are stored in this version. @default false: they are stored in the kind's own */
  readonly storage?: boolean;
}

/** The definition of a kind for {@link defineKind}. */
export interface KindDefinition<
  Group extends string = string,
  Version extends string = string,
  Name extends string = string,
  Spec extends AnySchema = AnySchema,
  Status extends AnySchema | undefined = AnySchema | undefined,
  S extends Scope = Scope,
> extends VersionDefinition<Spec, Status> {
  /** A domain of yours, e.g. `apps.example.com`. */
  readonly group: Group;
  /** `v1`, `v1beta1`, … */
  readonly version: Version;
  /** In CamelCase, singular. */
  readonly kind: Name;
  /** @default 'Namespaced' */
  readonly scope?: S;
  /** @default the English plural of the kind in lower case: foos, policies, ingresses */
  readonly plural?: string;
  /** @default the kind in lower case */
  readonly singular?: string;
  readonly shortNames?: readonly string[];
  /** Groups of kinds that `kubectl get` knows, e.g. `all`. */
  readonly categories?: readonly string[];
  /** More versions that the server shall offer. */
  readonly versions?: readonly OtherVersion[];
  /** How the server converts between versions. @default none: it changes `apiVersion` and nothing else */
  readonly conversion?: CrdConversion;
  /** Labels of the CustomResourceDefinition itself. */
  readonly labels?: Readonly<Record<string, string>>;
  /** Annotations of the CustomResourceDefinition itself. */
  readonly annotations?: Readonly<Record<string, string>>;
}

export const versionDefinitionOptionNames = optionNames<VersionDefinition>({
  spec: true,
  status: true,
  extend: true,
  rules: true,
  beyondCrd: true,
  printerColumns: true,
  selectableFields: true,
  scale: true,
  served: true,
  deprecated: true,
  deprecationWarning: true,
});

export const kindDefinitionOptionNames = versionDefinitionOptionNames.and<KindDefinition>({
  group: true,
  version: true,
  kind: true,
  scope: true,
  plural: true,
  singular: true,
  shortNames: true,
  categories: true,
  versions: true,
  conversion: true,
  labels: true,
  annotations: true,
});

/** What `defineKind` adds to every status. */
export interface AddedStatus {
  readonly conditions?: ListMap<Condition, 'type'>;
  /** The `metadata.generation` that this status speaks of. */
  readonly observedGeneration?: number;
}

/** `T` with every field optional, and what is added to every status. */
export type OptionalFields<T> = T extends unknown
  ? { readonly [K in keyof T as Exclude<K, keyof AddedStatus>]?: T[K] } & AddedStatus
  : never;

type MetaOf<S extends Scope> = S extends 'Namespaced' ? NamespacedMeta : ClusterMeta;

/** An object of a defined kind as it is read: `Spec` and `Status` are what its schemas put out. */
export type DefinedObject<
  Name extends string,
  Spec,
  Status = undefined,
  S extends Scope = 'Namespaced',
  ApiVersion extends string = string,
> = {
  readonly apiVersion: ApiVersion;
  readonly kind: Name;
  readonly metadata: MetaOf<S>;
  readonly spec: Spec;
} & ([Status] extends [undefined] ? unknown : { readonly status?: OptionalFields<Status> });

/** An object of a defined kind as it is written: `Spec` and `Status` are what its schemas take in, defaults left out. */
export type DefinedWrite<Spec, Status = undefined> = {
  readonly metadata: WriteMeta;
  readonly spec: Spec;
} & ([Status] extends [undefined] ? unknown : { readonly status?: OptionalFields<Status> });

/** The type of a status when read; undefined without one. */
export type StatusOutput<Status> = Status extends AnySchema ? SchemaOutput<Status> : undefined;
/** The type of a status when written; undefined without one. */
export type StatusInput<Status> = Status extends AnySchema ? SchemaInput<Status> : undefined;

/** A {@link Kind} that knows its schema. `V` has a kind for each version that `withVersion` added. */
export interface DefinedKind<
  R extends KubeObject = KubeObject,
  W = unknown,
  S extends Scope = Scope,
  V extends object = NoVersions,
> extends Kind<R, W, S> {
  /** The structural schema of a whole object, in the kind's own version. */
  readonly schema: StructuralSchema;
  /** The schemas as they were given, in the kind's own version. */
  readonly source: SchemaSource;
  /** The CustomResourceDefinition that makes a server offer the kind: plain JSON, frozen, the same each time. */
  crd(): CrdManifest;
  /** The versions that `withVersion` added, each a kind to read and write with: `Site.versions.v1`. */
  readonly versions: V;
  /** Converts between versions given by name; for webhooks. */
  readonly converter: ObjectConverter;
  /**
   * An object of any of the versions in the version of another kind: `Site.convert(old, Site)`. Opens nothing; throws a
   * `ConversionError` if a conversion function does.
   */
  convert<T extends KubeObject>(object: KubeObject, to: KindRef<T>): T;
  /**
   * This kind, its objects typed as an interface of yours, so that editors and compile errors show that name instead of
   * all that the schema says. The interface adds nothing to the schema's type.
   *
   * ```ts
   * const site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', spec });
   * export interface Site extends KindOf<typeof site> {}
   * export const Site = site.named<Site>();
   * ```
   */
  named<T extends KubeObject>(
    ...exact: [T] extends [R] ? ([R] extends [T] ? [] : [error: WiderThanSchema]) : [error: WiderThanSchema]
  ): DefinedKind<T, W, S, V>;
}

/** A kind has no versions besides its own. */
export type NoVersions = Readonly<Record<never, never>>;

/** Compile errors show this name: the type given to {@link DefinedKind.named} is not the schema's. */
export interface WiderThanSchema {
  readonly use: 'interface Site extends KindOf<typeof site> {}';
}

/**
 * Defines a custom kind from a schema: its TypeScript types, the {@link Kind} to use it by, and its
 * CustomResourceDefinition.
 *
 * ```ts
 * export const Foo = defineKind({
 *   group: 'example.com', version: 'v1', kind: 'Foo',
 *   spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
 *   status: z.object({ ready: z.int() }),
 * });
 * export interface Foo extends KindOf<typeof Foo> {}
 * ```
 *
 * What is read is the schema's output, what is written its input; both are the same on the wire save for defaults, which
 * the server fills in. Throws a `SchemaError` that lists, each with its path, every name a server would refuse and all
 * that the schema says and a CustomResourceDefinition cannot: transforms, refinements without a CEL rule, computed
 * defaults, unions whose variants differ in a field's type, schemas that contain themselves, types without JSON form. A
 * webhook can take care of some: see `beyondCrd`.
 *
 * Types of other kinds, such as a Pod's template, can be had without their schema: servers then take any object there.
 *
 * ```ts
 * z.custom<PodTemplateSpec>().meta({ type: 'object', 'x-kubernetes-preserve-unknown-fields': true })
 * ```
 */
export function defineKind<
  const Group extends string,
  const Version extends string,
  const Name extends string,
  const Spec extends AnySchema,
  const Status extends AnySchema | undefined = undefined,
  const S extends Scope = 'Namespaced',
>(
  definition: KindDefinition<Group, Version, Name, Spec, Status, S>,
): DefinedKind<
  DefinedObject<Name, SchemaOutput<Spec>, StatusOutput<Status>, S, `${Group}/${Version}`>,
  DefinedWrite<SchemaInput<Spec>, StatusInput<Status>>,
  S
> {
  const { group, version, kind } = definition;
  // Functions that know their argument's type are not assignable to those that know none.
  const whole = definition as unknown as KindDefinition;
  refuseUnknownOptions(`defineKind: ${kind} of ${group}/${version}`, definition, kindDefinitionOptionNames);
  const scope = definition.scope ?? ('Namespaced' as S);
  const names: KindNames = {
    group,
    version,
    kind,
    plural: definition.plural ?? pluralOf(kind),
    singular: definition.singular ?? kind.toLowerCase(),
    shortNames: definition.shortNames ?? [],
    categories: definition.categories ?? [],
  };
  const problems = new Problems();
  checkNames(names, definition.annotations ?? {}, problems);
  if (scope !== 'Namespaced' && scope !== 'Cluster') {
    problems.add('scope', `must be 'Namespaced' or 'Cluster', got ${JSON.stringify(scope)}`);
  }
  const versions = buildVersions(whole, problems);
  if (problems.count > 0) {
    throw new SchemaError(`defineKind: ${kind} of ${group}/${version} is invalid`, problems.list());
  }
  // Copied first: parts of it are the caller's own objects.
  const manifest: CrdManifest = freeze(clone(manifestOf(whole, names, scope, versions)));
  const { spec, status } = definition;
  return assembleKind(manifest, [], { [version]: { spec, status } }) as DefinedKind<
    DefinedObject<Name, SchemaOutput<Spec>, StatusOutput<Status>, S, `${Group}/${Version}`>,
    DefinedWrite<SchemaInput<Spec>, StatusInput<Status>>,
    S
  >;
}

/** All versions, the kind's own first. */
function buildVersions(definition: KindDefinition, problems: Problems): readonly CrdVersion[] {
  const others = definition.versions ?? [];
  const stored = others.filter(({ storage }) => storage === true);
  if (stored.length > 1) {
    const names = stored.map(({ name }) => name).join(' and ');
    problems.add('versions', `${names} both have storage: true; only one version can be the storage version`);
  }
  const seen = new Set([definition.version]);
  for (const [index, { name }] of others.entries()) {
    checkVersionName(name, `versions[${index}].name`, problems);
    if (seen.has(name)) problems.add(`versions[${index}].name`, `duplicate version ${name}`);
    seen.add(name);
  }
  const own = { ...definition, name: definition.version, storage: stored.length === 0 };
  return [
    buildVersion(own, '', problems),
    ...others.map((other) => buildVersion(other, `versions.${other.name}.`, problems)),
  ];
}

/** `inherited`: the schema of the status, if the version says none of its own. */
export function buildVersion(
  version: OtherVersion,
  prefix: string,
  problems: Problems,
  inherited?: StructuralSchema,
): CrdVersion {
  const found = new Problems();
  const { rules = [], extend = {} } = version;
  const placed = buildSchema({ ...version, extend: withRulePlaces(extend, rules) }, found);
  const own = withCompiledRules(placed, rules, found);
  const isInherited = version.status === undefined && inherited !== undefined;
  const schema = isInherited ? { ...own, properties: { ...own.properties, status: inherited } } : own;
  if (found.count === 0) for (const { path, message } of structuralProblems(schema)) found.add(path, message);
  const { served = true, storage = false, status, rules: _, ...facts } = version;
  const built = buildCrdVersion(
    { ...facts, served, storage, hasStatus: status !== undefined || isInherited },
    schema,
    found,
  );
  for (const { path, message } of found.list()) problems.add(prefix + path, message);
  return built;
}

function manifestOf(
  definition: KindDefinition,
  names: KindNames,
  scope: Scope,
  versions: readonly CrdVersion[],
): CrdManifest {
  const { kind, group, plural, singular, shortNames, categories } = names;
  const { labels, annotations } = definition;
  return {
    apiVersion: 'apiextensions.k8s.io/v1',
    kind: 'CustomResourceDefinition',
    metadata: {
      name: `${plural}.${group}`,
      ...(labels === undefined ? {} : { labels }),
      ...(annotations === undefined ? {} : { annotations }),
    },
    spec: {
      group,
      scope,
      names: {
        kind,
        listKind: `${kind}List`,
        plural,
        singular,
        ...(shortNames.length > 0 ? { shortNames } : {}),
        ...(categories.length > 0 ? { categories } : {}),
      },
      versions,
      conversion: definition.conversion ?? { strategy: 'None' },
    },
  };
}
