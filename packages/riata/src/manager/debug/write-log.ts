import { type Cache, tryCached } from '../../cache/cache.js';
import { notCached } from '../../cache/cache-reader.js';
import type { ConnectedClient } from '../../client/create-client.js';
import type { Write } from '../../client/operation/write-hook.js';
import { splitApiVersion } from '../../object/gvk.js';
import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import type { Clock } from '../../runtime/time/clock.js';
import { ConditionLog } from './condition-log.js';
import { type FieldChange, fieldDiff } from './field-diff.js';
import { isMaskedPointer } from './masking/masked.js';
import { sizeUpTo } from './size-up-to.js';

/** A write of this process, with what it has changed. */
export interface LoggedWrite {
  /** Wall time of the answer, in milliseconds since the epoch. */
  readonly at: number;
  readonly cluster?: string;
  readonly verb: string;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
  readonly subresource?: string;
  /** After the write: by it, a `ReconcileWrite` finds its own. */
  readonly resourceVersion?: string;
  /**
   * What is compared: `stored`, the version before and after; `sent`, where no cache had the version before: what was sent,
   * all of it as new.
   */
  readonly compared: 'stored' | 'sent';
  /** With secrets masked; the first 100. */
  readonly changes: readonly FieldChange[];
  /** How many more there are. */
  readonly moreChanges: number;
}

interface Versions extends Omit<LoggedWrite, 'compared' | 'changes' | 'moreChanges'> {
  readonly isStored: boolean;
  readonly before: unknown;
  readonly after: unknown;
}

/** A write that is kept: with its versions, or with what differs between them. */
type Kept = { readonly size: number } & ({ readonly versions: Versions } | { readonly logged: LoggedWrite });

interface Named {
  readonly cluster: string | undefined;
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace: string | undefined;
  readonly name: string;
}

/** Renewed every two seconds, or made in passing: they would push out all other writes. */
const housekeeping: ReadonlySet<string> = new Set(['Lease', 'Event', 'TokenReview', 'SubjectAccessReview']);
/** How many writes are kept, of all kinds together. */
const mostWrites = 256;
/** How many characters of JSON all of them may have. */
const mostSize = 2_000_000;
/** Larger versions are compared at once: next to parsing them, that costs little. */
const mostVersion = 32_000;

/**
 * The newest writes of a manager, of busy kinds and of quiet ones, each with the versions before and after. Those are references to objects that were there
 * anyway, and are compared when someone looks: a write costs a look into the cache. Large versions, and the oldest ones
 * where all have more than two million characters, are compared early, and what differs is kept instead.
 */
export class WriteLog {
  /** Of objects that were written. */
  readonly conditions = new ConditionLog();
  readonly #clock: Clock;
  /** Oldest first. */
  readonly #kept: Kept[] = [];
  /** How many of each kind are kept. */
  readonly #counts = new Map<string, number>();
  /** Of all that are kept. */
  #size = 0;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Follows a connection. Has to be called before its cache holds kinds: later, the cache shows writes before this does. */
  follow(client: Pick<ConnectedClient, 'onWrite'>, cache: () => Cache, cluster?: string): void {
    client.onWrite((write) => this.#note(write, cache(), cluster));
  }

  /** Writes of this object, oldest first. */
  of(object: Named): readonly LoggedWrite[] {
    return this.#kept.filter((kept) => isOf(named(kept), object)).map(describe);
  }

  /** The version after the last write of this object; undefined if it is no longer kept. */
  #lastOf(object: Named): unknown {
    const last = this.#kept.findLast((kept) => isStored(kept) && isOf(named(kept), object));
    return last !== undefined && 'versions' in last ? last.versions.after : undefined;
  }

  #note(write: Write, cache: Cache, cluster: string | undefined): void {
    if ('error' in write) return;
    const { operation, answer } = write;
    const { verb, kind, subresource } = operation;
    if (housekeeping.has(kind.kind)) return;
    const stored =
      isJsonObject(answer) && isJsonObject(answer.metadata) ? (answer as unknown as KubeObject) : undefined;
    const name = operation.name ?? stored?.metadata.name;
    if (name === undefined) return;
    const namespace = operation.namespace ?? stored?.metadata.namespace;
    const cached = cache[tryCached](kind, { name, namespace });
    const isSame = stored?.kind === kind.kind;
    const after = verb === 'delete' || !isSame ? undefined : stored;
    // The watch may have shown the write before its answer came: then the cache has nothing older.
    const isLate = cached !== notCached && stored !== undefined && isVersion(cached, stored);
    const earlier = isLate
      ? this.#lastOf({ cluster, apiVersion: kind.apiVersion, kind: kind.kind, namespace, name })
      : cached;
    const before = operation.current ?? earlier;
    const isKnown = before !== notCached && (isSame || verb === 'delete');
    const isStored = verb === 'create' || (isKnown && !(isLate && before === undefined));
    const at = this.#clock.now();
    if (isStored && verb !== 'create') this.conditions.noteFirst(before, at);
    this.conditions.note(after, at);
    this.#keep({
      ...{ at, verb, apiVersion: kind.apiVersion, kind: kind.kind, name, isStored },
      ...(cluster !== undefined && { cluster }),
      ...(namespace !== undefined && { namespace }),
      ...(subresource !== undefined && { subresource }),
      ...(stored?.metadata.resourceVersion && { resourceVersion: stored.metadata.resourceVersion }),
      ...(isStored
        ? { before: verb === 'create' ? undefined : before, after }
        : { before: undefined, after: operation.body }),
    });
  }

  /** The oldest one of the kind that has most of them: a busy controller must not push out what others wrote. */
  #dropOne(): void {
    let most = '';
    for (const [kind, count] of this.#counts) if (count > (this.#counts.get(most) ?? 0)) most = kind;
    this.#drop(this.#kept.findIndex((kept) => named(kept).kind === most));
  }

  #drop(at: number): void {
    for (const dropped of this.#kept.splice(at, 1)) {
      this.#size -= dropped.size;
      this.#count(named(dropped).kind, -1);
    }
  }

  #count(kind: string, by: 1 | -1): void {
    const count = (this.#counts.get(kind) ?? 0) + by;
    if (count === 0) this.#counts.delete(kind);
    else this.#counts.set(kind, count);
  }

  #keep(versions: Versions): void {
    const size = sizeUpTo(mostVersion, versions.before) + sizeUpTo(mostVersion, versions.after);
    this.#kept.push(size < mostVersion ? { versions, size } : compared(versions));
    this.#size += this.#kept.at(-1)?.size ?? 0;
    this.#count(versions.kind, 1);
    if (this.#kept.length > mostWrites) this.#dropOne();
    for (let at = 0; this.#size > mostSize && at < this.#kept.length; at += 1) {
      const kept = this.#kept[at] as Kept;
      if ('logged' in kept) continue;
      const smaller = compared(kept.versions);
      this.#kept[at] = smaller;
      this.#size += smaller.size - kept.size;
    }
    while (this.#size > mostSize) this.#drop(0);
  }
}

function named(kept: Kept): Omit<LoggedWrite, 'compared' | 'changes' | 'moreChanges'> {
  return 'versions' in kept ? kept.versions : kept.logged;
}

function isStored(kept: Kept): boolean {
  return 'versions' in kept ? kept.versions.isStored : kept.logged.compared === 'stored';
}

function compared(versions: Versions): Kept {
  const logged = diffOf(versions);
  return { logged, size: JSON.stringify(logged).length };
}

function describe(kept: Kept): LoggedWrite {
  return 'versions' in kept ? diffOf(kept.versions) : kept.logged;
}

function isOf(
  kept: Pick<LoggedWrite, 'cluster' | 'apiVersion' | 'kind' | 'namespace' | 'name'>,
  { cluster, apiVersion, kind, namespace = '', name }: Named,
): boolean {
  if (kept.name !== name || (kept.namespace ?? '') !== namespace || kept.cluster !== cluster) return false;
  // Kinds of two groups may have the same name, and who may read one may not read the other. Versions are of one object.
  return kept.kind === kind && splitApiVersion(kept.apiVersion).group === splitApiVersion(apiVersion).group;
}

function isVersion(cached: KubeObject | undefined, stored: KubeObject): boolean {
  return cached?.metadata.resourceVersion === stored.metadata.resourceVersion;
}

function diffOf({ isStored, before, after, ...rest }: Versions): LoggedWrite {
  const { changes, more } = fieldDiff(rest.kind, before, isStored ? after : sentFields(rest.kind, after));
  return { ...rest, compared: isStored ? 'stored' : 'sent', changes, moreChanges: more };
}

/** A patch by operations has the values of a Secret where no path of the object leads: they are left out. */
function sentFields(kind: string, body: unknown): unknown {
  if (isJsonObject(body)) return body;
  if (!Array.isArray(body)) return {};
  return Object.fromEntries(
    body.filter(isJsonObject).map(({ op, path, value }, at) => {
      const isHidden = isMaskedPointer(kind, String(path));
      return [`${at}`, isHidden ? { op, path } : { op, path, ...(value !== undefined && { value }) }];
    }),
  );
}
