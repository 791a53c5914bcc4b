import type { Condition } from './meta.js';
import { formatTime } from './time.js';

/** As much of a condition as asking takes: also those of kinds that keep other times, or `status` as any text. */
export interface ConditionLike {
  readonly type: string;
  readonly status: string;
}

/** A condition to be set: `lastTransitionTime` is filled in, where it is not given. */
export type ConditionUpdate<C extends Condition = Condition> = Omit<C, 'lastTransitionTime'> & {
  readonly lastTransitionTime?: string;
};

/**
 * Sets one condition (`meta.SetStatusCondition`). Returns the very same array when nothing changes, else a new one:
 * the condition of that type is updated in its place, or added at the end.
 *
 * `lastTransitionTime` moves only when `status` does, to the one given or else to `now` (milliseconds since the
 * epoch, e.g. `clock.now()`, or an RFC 3339 text). `observedGeneration` becomes the one given: leaving it out takes it
 * away. Fields that are not named stay as they were.
 */
export function setCondition<C extends Condition = Condition>(
  conditions: readonly C[] | undefined,
  condition: ConditionUpdate<NoInfer<C>>,
  now: number | string,
): readonly C[] {
  const update = condition as unknown as ConditionUpdate;
  const list = conditions ?? [];
  const at = list.findIndex(({ type }) => type === update.type);
  const existing = list[at];
  const moved = existing?.status !== update.status;
  if (existing && !moved && !differs(existing, update)) return list;
  const lastTransitionTime =
    existing && !moved
      ? existing.lastTransitionTime
      : update.lastTransitionTime || (typeof now === 'number' ? formatTime(now) : now);
  const merged: Record<string, unknown> = { ...existing, ...update, lastTransitionTime };
  if (update.observedGeneration === undefined) delete merged.observedGeneration;
  const next = merged as unknown as C;
  return existing ? list.with(at, next) : [...list, next];
}

function differs(existing: Condition, update: ConditionUpdate): boolean {
  if ((existing.observedGeneration ?? 0) !== (update.observedGeneration ?? 0)) return true;
  const before = existing as unknown as Readonly<Record<string, unknown>>;
  const after = update as unknown as Readonly<Record<string, unknown>>;
  for (const key of Object.keys(after)) {
    if (key === 'lastTransitionTime' || key === 'observedGeneration') continue;
    if ((Object.hasOwn(before, key) ? before[key] : undefined) !== after[key]) return true;
  }
  return false;
}

/**
 * The conditions without those of `type` (`meta.RemoveStatusCondition`): the very same array when it has none. An
 * undefined list counts as an empty one.
 */
export function removeCondition<C extends Condition>(conditions: readonly C[] | undefined, type: string): readonly C[] {
  const list = conditions ?? [];
  return list.some((condition) => condition.type === type) ? list.filter((condition) => condition.type !== type) : list;
}

/** The condition of `type` (`meta.FindStatusCondition`); undefined if it is missing. */
export function findCondition<C extends ConditionLike>(
  conditions: readonly C[] | undefined,
  type: string,
): C | undefined {
  return conditions?.find((condition) => condition.type === type);
}

/** True when the condition is there and `True` (`meta.IsStatusConditionTrue`). */
export function isConditionTrue(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return isCondition(conditions, type, 'True');
}

/** True when the condition is there and `False` (`meta.IsStatusConditionFalse`); not when it is missing. */
export function isConditionFalse(conditions: readonly ConditionLike[] | undefined, type: string): boolean {
  return isCondition(conditions, type, 'False');
}

/** True when the condition is there and has this status (`meta.IsStatusConditionPresentAndEqual`). */
export function isCondition(
  conditions: readonly ConditionLike[] | undefined,
  type: string,
  status: Condition['status'],
): boolean {
  return findCondition(conditions, type)?.status === status;
}
