import { compareResourceVersions } from '../../object/compare-resource-versions.js';
import { isJsonObject } from '../../object/json.js';

/** A condition that got another status or reason. */
export interface ConditionChange {
  /** Wall time, in milliseconds since the epoch: of the transition, as far as the condition names it. */
  readonly at: number;
  readonly type: string;
  /** Undefined if the condition was removed. */
  readonly status?: string;
  readonly reason?: string;
  readonly message?: string;
}

interface Known {
  /** Of the newest version. */
  resourceVersion: string | undefined;
  readonly latest: Map<string, ConditionChange>;
  readonly changes: ConditionChange[];
}

/** Objects beyond this are forgotten, those that changed least recently first. */
const mostObjects = 500;
const mostChanges = 20;
const mostText = 200;

/** The conditions of objects over time, as far as this process wrote or showed them. */
export class ConditionLog {
  readonly #known = new Map<string, Known>();

  /** Takes in a version of an object. @param now wall time, for conditions that do not name the time of their transition */
  note(object: unknown, now: number): void {
    const conditions = conditionsOf(object);
    if (conditions === undefined) return;
    const { uid, resourceVersion } = (object as Versioned).metadata;
    const known: Known = this.#known.get(uid) ?? { resourceVersion: undefined, latest: new Map(), changes: [] };
    // Answers overtake each other: what was read before a write may come after it.
    if (isOlder(resourceVersion, known.resourceVersion)) return;
    known.resourceVersion = resourceVersion;
    let hasChanged = false;
    const take = (change: ConditionChange) => {
      hasChanged = true;
      known.latest.set(change.type, change);
      known.changes.push(change);
      if (known.changes.length > mostChanges) known.changes.shift();
    };
    const types = new Set<string>();
    for (const each of conditions) {
      if (!isJsonObject(each) || typeof each.type !== 'string' || typeof each.status !== 'string') continue;
      types.add(each.type);
      const before = known.latest.get(each.type);
      if (before?.status === each.status && before.reason === text(each.reason)) continue;
      const transition = Date.parse(String(each.lastTransitionTime));
      // The time of a transition is that of the status: another reason came later.
      const isTransition = before?.status !== each.status && Number.isFinite(transition);
      const at = isTransition ? Math.max(transition, before?.at ?? transition) : now;
      const [reason, message] = [text(each.reason), text(each.message)];
      take({ at, type: each.type, status: each.status, ...(reason && { reason }), ...(message && { message }) });
    }
    for (const [type, { status }] of known.latest) {
      if (!types.has(type) && status !== undefined) take({ at: now, type });
    }
    if (!hasChanged) return;
    this.#known.delete(uid);
    this.#known.set(uid, known);
    if (this.#known.size > mostObjects) this.#known.delete(this.#known.keys().next().value as string);
  }

  /** Takes in a version of an object of which none is known: the one before a write, which may be older than others. */
  noteFirst(object: unknown, now: number): void {
    const uid = isJsonObject(object) && isJsonObject(object.metadata) ? object.metadata.uid : undefined;
    if (typeof uid === 'string' && !this.#known.has(uid)) this.note(object, now);
  }

  /** Oldest first, at most 20; the first one of each type is how it was found. */
  of(uid: string): readonly ConditionChange[] {
    return [...(this.#known.get(uid)?.changes ?? [])].sort((a, b) => a.at - b.at);
  }
}

interface Versioned {
  readonly metadata: { readonly uid: string; readonly resourceVersion?: string };
}

function isOlder(version: string | undefined, known: string | undefined): boolean {
  if (version === undefined || known === undefined) return false;
  return (compareResourceVersions(version, known) ?? 0) < 0;
}

function conditionsOf(object: unknown): readonly unknown[] | undefined {
  if (!isJsonObject(object) || !isJsonObject(object.metadata) || typeof object.metadata.uid !== 'string') {
    return undefined;
  }
  const { status } = object;
  return isJsonObject(status) && Array.isArray(status.conditions) ? status.conditions : undefined;
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' && value !== '' ? value.slice(0, mostText) : undefined;
}
