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

/** A write as it is noted: one shape for all, and nothing is copied. */
interface Versions extends Named {
  readonly at: number;
  readonly verb: string;
  readonly subresource: string | undefined;
  readonly resourceVersion: string | undefined;
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
 * The newest writes of a manager, of busy kinds and of quiet ones, each with the versions before and after. Those are
 * references to objects that were there anyway, and are compared when someone looks: a write costs a look into the cache.
 * Large versions, and the oldest ones where all have more than two million characters, are compared early, and what
 * differs is kept instead.
 */
export class WriteLog {
  /** Of objects that were written. */
  readonly conditions = new ConditionLog();
  readonly #clock: Clock;
  /** By kind, oldest first. */
  readonly #kept = new Map<string, Kept[]>();
  /** Of all that are kept. */
  #count = 0;
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
    return (this.#kept.get(object.kind) ?? []).filter((kept) => isOf(kept, object)).map(describe);
  }

  /** The version after the last write of this object; undefined if it is no longer kept. */
  #lastOf(object: Named): unknown {
    const last = this.#kept.get(object.kind)?.findLast((kept) => isStored(kept) && isOf(kept, object));
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
      ...{ at, verb, cluster, apiVersion: kind.apiVersion, kind: kind.kind, namespace, name, subresource, isStored },
      resourceVersion: stored?.metadata.resourceVersion,
      before: isStored && verb !== 'create' ? before : undefined,
      after: isStored ? after : operation.body,
    });
  }

  #keep(versions: Versions): void {
    const size = sizeUpTo(mostVersion, versions.before) + sizeUpTo(mostVersion, versions.after);
    const kept = size < mostVersion ? { versions, size } : compared(versions);
    const ofKind = this.#kept.get(versions.kind);
    if (ofKind === undefined) this.#kept.set(versions.kind, [kept]);
    else ofKind.push(kept);
    this.#count += 1;
    this.#size += kept.size;
    if (this.#count > mostWrites) this.#dropOne();
    if (this.#size > mostSize) this.#shrink();
  }

  /** The oldest one of the kind that has most of them: a busy controller must not push out what others wrote. */
  #dropOne(): void {
    let most: Kept[] = [];
    for (const ofKind of this.#kept.values()) if (ofKind.length > most.length) most = ofKind;
    this.#size -= most.shift()?.size ?? 0;
    this.#count -= 1;
  }

  #shrink(): void {
    for (const ofKind of this.#kept.values()) {
      for (let at = 0; this.#size > mostSize && at < ofKind.length; at += 1) {
        const kept = ofKind[at] as Kept;
        if ('logged' in kept) continue;
        const smaller = compared(kept.versions);
        ofKind[at] = smaller;
        this.#size += smaller.size - kept.size;
      }
    }
    while (this.#size > mostSize) this.#dropOne();
  }
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

/** Whether a write of the same kind is of this object. */
function isOf(kept: Kept, { cluster, apiVersion, namespace = '', name }: Named): boolean {
  const write = 'versions' in kept ? kept.versions : kept.logged;
  if (write.name !== name || (write.namespace ?? '') !== namespace || write.cluster !== cluster) return false;
  // Kinds of two groups may have the same name, and who may read one may not read the other. Versions are of one object.
  return splitApiVersion(write.apiVersion).group === splitApiVersion(apiVersion).group;
}

function isVersion(cached: KubeObject | undefined, stored: KubeObject): boolean {
  return cached?.metadata.resourceVersion === stored.metadata.resourceVersion;
}

function diffOf(versions: Versions): LoggedWrite {
  const { at, verb, cluster, apiVersion, kind, namespace, name, subresource, resourceVersion, isStored } = versions;
  const { before, after } = versions;
  const { changes, more } = fieldDiff(kind, before, isStored ? after : sentFields(kind, after));
  return {
    ...{ at, ...(cluster !== undefined && { cluster }), verb, apiVersion, kind },
    ...{ ...(namespace !== undefined && { namespace }), name, ...(subresource !== undefined && { subresource }) },
    ...(resourceVersion && { resourceVersion }),
    ...{ compared: isStored ? 'stored' : 'sent', changes, moreChanges: more },
  };
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
