import type { Cache } from '../../cache/cache.js';
import type { Client, WriteObject } from '../../client/interfaces.js';
import type { Patch } from '../../client/patch.js';
import type { Duration } from '../../object/duration.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { JsonPatch } from '../../object/patch/json-patch.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { SetApplyOptions } from './set-applier.js';

/** The context of a {@link SetReconciler} or {@link SetPatcher}. */
export interface SetWriteContext {
  readonly client: Client;
  readonly signal: AbortSignal | undefined;
  /**
   * The field manager. A patcher must send `apply` patches with it: objects that another field manager applied are not in
   * the set, and are not pruned.
   */
  readonly fieldManager: string;
}

/**
 * Decides how to update an existing object that differs (`apply.Reconciler`): `'apply'` or nothing, the default;
 * `'replace'`, delete and recreate it (`ErrReplace`); `'done'`, the function has updated it.
 */
export type SetReconciler = (
  current: KubeObject,
  desired: WriteObject,
  context: SetWriteContext,
) => SetVerdict | undefined | Promise<SetVerdict | undefined>;

/** The decision of a {@link SetReconciler}. */
export type SetVerdict = 'apply' | 'replace' | 'done';

/** Sends the patch of one object (`apply.Patcher`); resolves to the stored object. */
export type SetPatcher = (
  key: { readonly namespace?: string; readonly name: string },
  patch: Patch,
  context: SetWriteContext,
) => Promise<KubeObject>;

/** Changes the set before it is applied (`injectors.ConfigInjector`): adds, removes, edits. */
export type SetInjector = (objects: readonly WriteObject[]) => readonly WriteObject[] | Promise<readonly WriteObject[]>;

/** A function for the objects of one kind, whatever the version. */
export interface ForKind<F> {
  readonly kind: KindRef;
  readonly use: F;
}

/** Fields to ignore: neither compared nor sent. */
export interface DiffPatch {
  readonly kind: KindRef;
  /** @default all of the kind */
  readonly key?: { readonly namespace?: string; readonly name: string };
  /** Applied to the objects before they are compared, usually `remove`; operations that do not apply are skipped. */
  readonly patch: JsonPatch;
}

/** Options of a set, for `new Apply`, `with` or a call; the later take precedence. */
export interface ApplySetOptions extends SetApplyOptions {
  /**
   * `'server-side'`: server-side apply, which also adopts fields applied in the other mode. `'three-way'`: patches against
   * the last applied configuration in an annotation, for servers or tools that need it. @default 'server-side'
   */
  readonly mode?: 'server-side' | 'three-way';
  /**
   * The field manager. Only objects that it applied are in the set: after a change of the name, desired objects are adopted,
   * and others are no longer pruned. @default 'riata-apply'
   */
  readonly fieldManager?: string;
  /** Namespace of objects without one (`WithDefaultNamespace`). @default the owner's, else 'default' */
  readonly defaultNamespace?: string;
  /** List objects of the set in this namespace only (`WithListerNamespace`). @default all namespaces */
  readonly listerNamespace?: string;
  /** Refuse cluster-scoped objects (`WithRestrictClusterScoped`). @default false */
  readonly restrictClusterScoped?: boolean;
  /**
   * Adds an owner reference to each object where namespaces allow it, for garbage collection (`WithSetOwnerReference`).
   * @default false
   */
  readonly setOwnerReference?: boolean | { readonly controller?: boolean; readonly blockOwnerDeletion?: boolean };
  /** Changes the set, before labels and namespaces are added (`WithInjector`). @default none */
  readonly injectors?: readonly SetInjector[];
  /** @default none; objects that the server refuses to change are replaced, see {@link replaceImmutable} */
  readonly reconcilers?: readonly ForKind<SetReconciler>[];
  /** @default the client's patch */
  readonly patchers?: readonly ForKind<SetPatcher>[];
  /** Fields that are neither compared nor applied (`WithDiffPatch`). @default none */
  readonly diffPatches?: readonly DiffPatch[];
  /** Three-way only: do not remove previously applied fields (`WithIgnorePreviousApplied`). @default false */
  readonly ignorePreviousApplied?: boolean;
  /**
   * Delete and recreate objects whose immutable fields change: the template of a Job, the selector of a Deployment,
   * DaemonSet, StatefulSet or ReplicaSet, the type of a Secret. @default true
   */
  readonly replaceImmutable?: boolean;
  /** Do not prune (`WithNoDelete`). @default false */
  readonly noDelete?: boolean;
  /** Kinds that are not pruned (`WithNoDeleteGVK`). @default none */
  readonly noDeleteKinds?: readonly KindRef[];
  /** Prune even if some objects could not be applied. @default false */
  readonly pruneOnFailure?: boolean;
  /**
   * Which existing objects the set may adopt: all, only those in no other set, or none. @default 'all'
   */
  readonly adopt?: 'all' | 'unowned' | 'none';
  /** Kinds to prune, besides those found by {@link lookup} (`WithGVK`, `WithCacheTypes`). @default none */
  readonly kinds?: readonly KindRef[];
  /**
   * How to find the kinds that the set had before: `'server'` lists the metadata of all objects of any set, of each served
   * kind except Events and Endpoints, once and then every {@link lookupEvery}; `'given'` uses {@link kinds}, the set itself,
   * and what this `Apply` has applied. @default 'server'
   */
  readonly lookup?: 'server' | 'given';
  /** Other processes may apply the same sets, e.g. an older version after this one. @default '10m' */
  readonly lookupEvery?: Duration | 'never';
  /**
   * Called with each kind that {@link lookup} could not list (`secrets`, `sites.example.com`), and each group whose discovery
   * failed (`group example.com/v1`): objects of the set may be left there. Once per scan. @default it is logged
   */
  readonly onUnlisted?: (what: string, error: unknown) => void;
  /** Reads objects from this cache if it has their kind; it must include all namespaces of the set. */
  readonly cache?: Pick<Cache, 'find' | 'holds' | 'list' | 'use'>;
  /**
   * For kinds that are not in {@link cache}: `'held'` reads them from the server, `'strict'` refuses them
   * (`WithStrictCaching`), `'dynamic'` adds them to the cache (`WithDynamicLookup`). @default 'held'
   */
  readonly caching?: 'held' | 'strict' | 'dynamic';
  /** Limits how often one set is applied; calls wait (`WithRateLimiting`). @default no limit */
  readonly rateLimit?: { readonly qps: number; readonly burst?: number };
  /** Requests in flight. @default 8 */
  readonly concurrency?: number;
  /**
   * Waits after each phase (namespaces, definitions, RBAC, configuration, the rest) until its objects are ready, by
   * `computeStatus` or `isReady`. @default false
   */
  readonly wait?: boolean | SetWait;
  /** How long to wait for the deletion of a replaced object. @default '30s' */
  readonly replaceTimeout?: Duration;
}

export const applySetOptionNames = optionNames<ApplySetOptions>({
  mode: true,
  fieldManager: true,
  defaultNamespace: true,
  listerNamespace: true,
  restrictClusterScoped: true,
  setOwnerReference: true,
  injectors: true,
  reconcilers: true,
  patchers: true,
  diffPatches: true,
  ignorePreviousApplied: true,
  replaceImmutable: true,
  noDelete: true,
  noDeleteKinds: true,
  pruneOnFailure: true,
  adopt: true,
  kinds: true,
  lookup: true,
  lookupEvery: true,
  onUnlisted: true,
  cache: true,
  caching: true,
  rateLimit: true,
  concurrency: true,
  wait: true,
  replaceTimeout: true,
  owner: true,
  setId: true,
  release: true,
  signal: true,
});

/** Options of {@link ApplySetOptions.wait}. */
export interface SetWait {
  /** For each phase. @default '5m' */
  readonly timeout?: Duration | 'never';
  readonly isReady?: (object: KubeObject) => boolean;
}

/** Options of `new Apply`. */
export interface ApplyOptions extends ApplySetOptions {
  /** @default clock and randomness of the client */
  readonly runtime?: Partial<Runtime>;
}

export const applyOptionNames = applySetOptionNames.and<ApplyOptions>({ runtime: true });
