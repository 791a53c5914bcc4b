import { type ConditionUpdate, setCondition } from '../../object/conditions.js';
import type { Condition } from '../../object/meta.js';
import { formatTime } from '../../object/time.js';
import { listAt, mapAt, numberAt, textAt } from '../../object/value/value-at.js';
import type { Clock } from '../../runtime/time/clock.js';
import { systemClock } from '../../runtime/time/system-clock.js';
import { isIgnoreError } from '../../shared/ignore-error.js';
import { messageOf, reasonOf } from './condition-error.js';

/** Fields of a condition to set; omitted ones are kept. */
export interface CondUpdate {
  readonly status?: Condition['status'];
  /** One word; servers refuse standard conditions without. @default what it was, else the condition's type */
  readonly reason?: string;
  /** @default what it was, else '' */
  readonly message?: string;
  /** @default kept up to date where the condition has one already, and the object is given whole */
  readonly observedGeneration?: number;
}

/**
 * Reads and sets one type of condition on objects of any kind (`condition.Cond`). Every method takes a whole object or its
 * status. Setters return a copy, or the same object if nothing changes, and create the list of conditions if it is missing.
 *
 * Works with standard conditions and with those that have a `lastUpdateTime`, which is set on every change where the list
 * has it. `lastTransitionTime` changes with the status.
 *
 * @example
 * const Deployed = new Cond('Deployed');
 * const next = Deployed.setFalse(foo, { reason: 'NoImage', message: 'spec.image is empty' });
 */
export class Cond {
  readonly type: string;
  readonly #clock: Clock;

  constructor(type: string, { clock = systemClock }: { readonly clock?: Clock } = {}) {
    this.type = type;
    this.#clock = clock;
  }

  /** `'True'`, `'False'`, `'Unknown'`, or `''` if it is missing (`GetStatus`). */
  getStatus(of: object): string {
    return textAt(this.#find(of), 'status') ?? '';
  }

  /** `''` if it is missing (`GetReason`). */
  getReason(of: object): string {
    return textAt(this.#find(of), 'reason') ?? '';
  }

  /** `''` if it is missing (`GetMessage`). */
  getMessage(of: object): string {
    return textAt(this.#find(of), 'message') ?? '';
  }

  /** `lastUpdateTime`, else `lastTransitionTime`; `''` if it is missing (`GetLastUpdated`). */
  getLastUpdated(of: object): string {
    const found = this.#find(of);
    return textAt(found, 'lastUpdateTime') ?? textAt(found, 'lastTransitionTime') ?? '';
  }

  /** `IsTrue` */
  isTrue(of: object): boolean {
    return this.getStatus(of) === 'True';
  }

  /** False if it is missing (`IsFalse`). */
  isFalse(of: object): boolean {
    return this.getStatus(of) === 'False';
  }

  /** False if it is missing (`IsUnknown`). */
  isUnknown(of: object): boolean {
    return this.getStatus(of) === 'Unknown';
  }

  /** With these fields of the condition changed (`SetStatus`, `Reason`, `Message`); a new one is `Unknown` at first. */
  set<T extends object>(of: T, update: CondUpdate): T {
    const conditions = conditionsIn(of);
    const known = this.#find(of);
    const keeps = numberAt(known, 'observedGeneration') !== undefined;
    const generation = keeps
      ? (numberAt(of, 'metadata', 'generation') ?? numberAt(known, 'observedGeneration'))
      : undefined;
    const observedGeneration = update.observedGeneration ?? generation;
    const complete: ConditionUpdate = {
      type: this.type,
      status: update.status ?? ((textAt(known, 'status') ?? 'Unknown') as Condition['status']),
      reason: update.reason ?? textAt(known, 'reason') ?? this.type,
      message: update.message ?? textAt(known, 'message') ?? '',
      ...(observedGeneration !== undefined && { observedGeneration }),
    };
    const now = formatTime(this.#clock.now());
    const next = setCondition(conditions, complete, now);
    if (next === conditions) return of;
    const keepsTimes = conditions.some((condition) => Object.hasOwn(condition, 'lastUpdateTime'));
    return withConditions(of, keepsTimes ? touched(next, this.type, now) : next);
  }

  /** `True`; the message goes, unless one is given. */
  setTrue<T extends object>(of: T, update: Omit<CondUpdate, 'status'> = {}): T {
    return this.set(of, { message: '', ...update, status: 'True' });
  }

  /** `False` */
  setFalse<T extends object>(of: T, update: Omit<CondUpdate, 'status'> = {}): T {
    return this.set(of, { ...update, status: 'False' });
  }

  /** `Unknown` */
  setUnknown<T extends object>(of: T, update: Omit<CondUpdate, 'status'> = {}): T {
    return this.set(of, { ...update, status: 'Unknown' });
  }

  /** `SetStatusBool` */
  setStatusBool<T extends object>(of: T, value: boolean): T {
    return value ? this.setTrue(of) : this.setFalse(of);
  }

  /** `SetMessageIfBlank` */
  setMessageIfBlank<T extends object>(of: T, message: string): T {
    return this.getMessage(of) === '' ? this.set(of, { message }) : of;
  }

  /** `CreateUnknownIfNotExists` */
  createUnknownIfNotExists<T extends object>(of: T): T {
    return this.getStatus(of) === '' ? this.setUnknown(of) : of;
  }

  /**
   * Sets the result of an operation (`SetError`): without an error, or with an `IgnoreError`, `True` without a message;
   * otherwise `False` with the error's message, and its reason if it is a `ConditionError`.
   * @param reason by default the condition's type, or `Error`
   */
  setError<T extends object>(of: T, error: unknown, reason?: string, observedGeneration?: number): T {
    return this.set(of, { ...this.#outcome(error, reason), observedGeneration });
  }

  /** Whether {@link setError} would change nothing (`MatchesError`). */
  matchesError(of: object, error: unknown, reason?: string): boolean {
    const outcome = this.#outcome(error, reason);
    const isSame = this.getStatus(of) === outcome.status && this.getMessage(of) === outcome.message;
    return isSame && this.getReason(of) === outcome.reason;
  }

  #outcome(error: unknown, reason: string | undefined) {
    if (error === undefined || error === null || isIgnoreError(error)) {
      return { status: 'True', reason: reason ?? this.type, message: '' } as const;
    }
    return { status: 'False', reason: reason ?? reasonOf(error) ?? 'Error', message: messageOf(error) } as const;
  }

  #find(of: object): Condition | undefined {
    return conditionsIn(of).find(({ type }) => type === this.type);
  }
}

/** True for a whole object; else it is taken for a status. */
function isWhole(of: object): boolean {
  return Object.hasOwn(of, 'metadata') || Object.hasOwn(of, 'status');
}

function conditionsIn(of: object): readonly Condition[] {
  const list = isWhole(of) ? listAt(of, 'status', 'conditions') : listAt(of, 'conditions');
  return list as readonly Condition[];
}

function withConditions<T extends object>(of: T, conditions: readonly Condition[]): T {
  if (!isWhole(of)) return { ...of, conditions };
  return { ...of, status: { ...mapAt(of, 'status'), conditions } };
}

function touched(conditions: readonly Condition[], type: string, now: string): readonly Condition[] {
  return conditions.map((condition) => (condition.type === type ? { ...condition, lastUpdateTime: now } : condition));
}
