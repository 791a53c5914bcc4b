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

/** What a reconciler or patcher is told besides the objects. */
export interface SetWriteContext {
  readonly client: Client;
  readonly signal: AbortSignal | undefined;
  /**
   * Who the applied fields belong to. A patcher that is given an `apply` patch must send it in this name: objects that
   * another field manager applied are not in the set, and are not pruned.
   */
  readonly fieldManager: string;
}

/**
 * What is to be done about one object that is there and differs (`apply.Reconciler`): `'apply'` or nothing, the usual;
 * `'replace'`, delete it and make it anew (`ErrReplace`); `'done'`, the function has taken care of it.
 */
export type SetReconciler = (
  current: KubeObject,
  desired: WriteObject,
  context: SetWriteContext,
) => SetVerdict | undefined | Promise<SetVerdict | undefined>;

/** What a {@link SetReconciler} decides. */
export type SetVerdict = 'apply' | 'replace' | 'done';

/** Sends the patch that changes one object (`apply.Patcher`); resolves to what is stored then. */
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

/** What is left out of the comparison and of what is sent. */
export interface DiffPatch {
  readonly kind: KindRef;
  /** @default all of the kind */
  readonly key?: { readonly namespace?: string; readonly name: string };
  /** Done to the objects before they are compared, mostly a `remove`; one that does not fit is left out. */
  readonly patch: JsonPatch;
}

/** How a set is applied; given to `new Apply`, `with` or a call, the later ones before the earlier ones. */
export interface ApplySetOptions extends SetApplyOptions {
  /**
   * `'server-side'`: server-side apply, which also takes over what the other form has applied. `'three-way'`: patches
   * against what an annotation says was applied last, for servers or tools that need that. @default 'server-side'
   */
  readonly mode?: 'server-side' | 'three-way';
  /**
   * Who the applied fields belong to. Only objects that it applied are in the set: after a change of the name, objects that
   * are still desired are taken over, and others are no longer pruned. @default 'riata-apply'
   */
  readonly fieldManager?: string;
  /** For objects of namespaced kinds that name none (`WithDefaultNamespace`). @default the owner's, else 'default' */
  readonly defaultNamespace?: string;
  /** Look for objects of the set in this namespace alone (`WithListerNamespace`). @default everywhere */
  readonly listerNamespace?: string;
  /** Refuse objects that live beside the namespaces (`WithRestrictClusterScoped`). @default false */
  readonly restrictClusterScoped?: boolean;
  /**
   * Makes the owner an owner of each object in the sense of garbage collection, where namespaces allow it
   * (`WithSetOwnerReference`): objects elsewhere are kept by the set alone. @default false
   */
  readonly setOwnerReference?: boolean | { readonly controller?: boolean; readonly blockOwnerDeletion?: boolean };
  /** Changes the set, before labels and namespaces are added (`WithInjector`). @default none */
  readonly injectors?: readonly SetInjector[];
  /** @default none; what the server says cannot be changed is replaced, see {@link replaceImmutable} */
  readonly reconcilers?: readonly ForKind<SetReconciler>[];
  /** @default the client's patch */
  readonly patchers?: readonly ForKind<SetPatcher>[];
  /** What is not compared and not applied (`WithDiffPatch`). @default none */
  readonly diffPatches?: readonly DiffPatch[];
  /** Three-way only: remove nothing for having been applied before (`WithIgnorePreviousApplied`). @default false */
  readonly ignorePreviousApplied?: boolean;
  /**
   * Delete and make anew what the server refuses to change as it is immutable: the template of a Job, the selector of a
   * Deployment, DaemonSet, StatefulSet or ReplicaSet, the type of a Secret. @default true
   */
  readonly replaceImmutable?: boolean;
  /** Delete nothing that is no longer in the set (`WithNoDelete`). @default false */
  readonly noDelete?: boolean;
  /** Delete nothing of these kinds (`WithNoDeleteGVK`). @default none */
  readonly noDeleteKinds?: readonly KindRef[];
  /** Delete what is no longer in the set even if not all of it could be applied. @default false */
  readonly pruneOnFailure?: boolean;
  /**
   * What may be taken into the set that is there already: all, only what is in no other set, or nothing. @default 'all'
   */
  readonly adopt?: 'all' | 'unowned' | 'none';
  /** Kinds that the set may have held before, besides those found out (`WithGVK`, `WithCacheTypes`). @default none */
  readonly kinds?: readonly KindRef[];
  /**
   * How the kinds are found that the set held before: `'server'` asks for the metadata of all objects of any set, of each
   * kind that is served save Events and Endpoints, once and then every {@link lookupEvery}; `'given'` goes by {@link kinds}, the set itself, and
   * what this `Apply` has applied. @default 'server'
   */
  readonly lookup?: 'server' | 'given';
  /** Other processes may apply the same sets, e.g. an older version after this one. @default '10m' */
  readonly lookupEvery?: Duration | 'never';
  /** Where objects are read that it holds, without a request; it must hold all namespaces of the set. */
  readonly cache?: Pick<Cache, 'find' | 'holds' | 'list' | 'use'>;
  /**
   * Of kinds that {@link cache} does not hold: `'held'` reads them from the server, `'strict'` refuses them
   * (`WithStrictCaching`), `'dynamic'` has the cache hold them from then on (`WithDynamicLookup`). @default 'held'
   */
  readonly caching?: 'held' | 'strict' | 'dynamic';
  /** How often one set may be applied; waits (`WithRateLimiting`). @default no limit */
  readonly rateLimit?: { readonly qps: number; readonly burst?: number };
  /** Requests at a time. @default 8 */
  readonly concurrency?: number;
  /**
   * Waits after each phase (namespaces, definitions, rights, configuration, the rest) until its objects are ready: by
   * `computeStatus`, or as `isReady` says. @default false
   */
  readonly wait?: boolean | SetWait;
  /** How long a replaced object may take to go. @default '30s' */
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

/** How long to wait for the objects of a phase, and until when. */
export interface SetWait {
  /** For each phase. @default '5m' */
  readonly timeout?: Duration | 'never';
  readonly isReady?: (object: KubeObject) => boolean;
}

/** Options of `new Apply`. */
export interface ApplyOptions extends ApplySetOptions {
  readonly runtime?: Partial<Runtime>;
}

export const applyOptionNames = applySetOptionNames.and<ApplyOptions>({ runtime: true });
