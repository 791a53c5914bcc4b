import type { ObjectReference } from '../../kinds/generated/types/core-v1.js';
import { isDns1123Subdomain } from '../../object/names.js';
import type { Random } from '../../runtime/random.js';

/** The object of an event, or the part of it that is known. */
export interface EventSubject {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: {
    readonly name: string;
    readonly namespace?: string;
    readonly uid?: string;
    readonly resourceVersion?: string;
  };
}

/** Something that happened, on its way to become an Event of either API. */
export interface EventNotice {
  readonly type: 'Normal' | 'Warning';
  readonly reason: string;
  readonly message: string;
  readonly action?: string;
  readonly annotations?: Readonly<Record<string, string>>;
  readonly regarding: ObjectReference;
  readonly related?: ObjectReference;
  /** Who says so. */
  readonly component: string;
  /** Which of its replicas. */
  readonly instance: string;
  /** Wall time. */
  readonly atMs: number;
}

/** Points to an object (`reference.GetReference`). Throws a `TypeError` if it has no name or kind, or odd ones. */
export function referenceOf({ apiVersion, kind, metadata }: EventSubject): ObjectReference {
  const { name, namespace, uid, resourceVersion } = metadata ?? {};
  for (const [field, value] of Object.entries({ apiVersion, kind, name })) {
    if (!value)
      throw new TypeError(`an event requires an object with apiVersion, kind and a name; ${field} is missing`);
  }
  for (const [field, value] of Object.entries({ apiVersion, kind, name, namespace, uid, resourceVersion })) {
    if (value === undefined || value === null || typeof value === 'string') continue;
    throw new TypeError(`an event requires an object whose ${field} is a string, got ${typeof value}`);
  }
  return {
    ...{ apiVersion, kind, name },
    ...(namespace && { namespace }),
    ...(uid && { uid }),
    ...(resourceVersion && { resourceVersion }),
  };
}

/** Where an event lives: beside its object; events of what is cluster-scoped live in `default`. */
export function namespaceOf({ regarding }: EventNotice): string {
  return regarding.namespace ?? 'default';
}

const nanosPerMs = 1_000_000;
const longestName = 253;

/** Names events after their object and the time, as the original does: `cart.17f3a9c2e1b04d00`. No two are the same. */
export class EventNames {
  readonly #random: Random;
  /** Clocks give milliseconds only: the remaining nanoseconds keep events of one millisecond distinct. */
  #rest: number;

  constructor(random: Random) {
    this.#random = random;
    this.#rest = random.int(0, nanosPerMs - 1);
  }

  nameFor({ regarding, atMs }: EventNotice): string {
    this.#rest = (this.#rest + 1) % nanosPerMs;
    const nanos = BigInt(Math.floor(atMs)) * BigInt(nanosPerMs) + BigInt(this.#rest);
    const name = `${regarding.name}.${nanos.toString(16)}`;
    // Names of roles and the like may hold what those of events may not.
    return name.length <= longestName && isDns1123Subdomain(name) ? name : `event-${this.#random.uuid()}`;
  }
}
