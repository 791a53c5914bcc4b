import { keyOf } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { clone } from '../../object/value/clone.js';
import { carryLoss } from '../../object/value/lossy.js';
import { describeValue } from '../../object/with-metadata.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { applyTransform } from '../informer/apply-transform.js';
import { isAnotherObject } from '../informer/change.js';
import { DeletedFinalStateUnknown } from '../informer/deleted-final-state-unknown.js';
import { identityProblem, metadataProblem } from '../store/metadata-problem.js';
import { WithheldObjects } from '../store/withheld-objects.js';
import type { ReflectorOptions } from './reflector-options.js';

type IntakeOptions<T extends KubeObject> = Pick<ReflectorOptions<T>, 'kind' | 'transform' | 'admitListed' | 'known'>;

/** What a {@link ReflectorIntake} works with. */
export interface ReflectorIntakeParts<T extends KubeObject> {
  readonly name: string;
  readonly log: Logger;
  readonly runtime: Runtime;
  /** Takes in an object for which the transform works again. */
  readonly onRecovered: (object: T) => void;
}

/** Checks and transforms every object on its way into the store. */
export class ReflectorIntake<T extends KubeObject> {
  /** Objects that are withheld from the store. */
  readonly withheld: WithheldObjects<T>;
  readonly #kind: KindRef<T> | undefined;
  readonly #transform: ((object: T) => T) | undefined;
  readonly #admitListed: ((object: T) => T) | undefined;
  readonly #known: ((key: string) => T | undefined) | undefined;
  readonly #log: Logger;
  /** Kinds that were complained about. A server that sends wrong ones sends many. */
  readonly #refused = new Set<string>();

  constructor(options: IntakeOptions<T>, { name, log, runtime, onRecovered }: ReflectorIntakeParts<T>) {
    const { kind, transform, admitListed, known } = options;
    this.#kind = kind;
    this.#transform = transform;
    this.#admitListed = admitListed;
    this.#known = known;
    this.#log = log;
    // A transform may write to what it gets, also if it fails then.
    const retry = (object: T) => onRecovered(this.#transformed(copyOf(object)));
    this.withheld = new WithheldObjects<T>({ name, kind: kind?.kind, runtime, log, retry });
  }

  /**
   * False for an event that cannot be stored: not an object, without metadata, a Table, or of another kind. An object
   * without a kind is assumed to be of the right one.
   */
  accepts(object: T): boolean {
    const { apiVersion, kind, metadata } = (object ?? {}) as Partial<T>;
    if (typeof metadata !== 'object' || metadata === null) {
      return this.#refuse(object === null || typeof object !== 'object' ? describeValue(object) : 'no metadata');
    }
    const expected = this.#kind;
    if (expected !== undefined) {
      if ((kind === expected.kind && apiVersion === expected.apiVersion) || !(kind || apiVersion)) return true;
      return this.#refuse(`${apiVersion} ${kind}`);
    }
    if (kind === 'Table' && apiVersion?.startsWith('meta.k8s.io/')) return this.#refuse(`${apiVersion} ${kind}`);
    return true;
  }

  /** The object to store; undefined if it is withheld. */
  keep(object: T): T | undefined {
    const problem = metadataProblem(object.metadata);
    if (problem !== undefined) {
      this.withheld.add(object, 'metadata', new TypeError(problem));
      return undefined;
    }
    if (this.#transform === undefined) {
      if (this.withheld.size > 0) this.withheld.delete(object);
      return object;
    }
    const { namespace, name, uid, resourceVersion } = object.metadata;
    try {
      const kept = applyTransform(this.#transform, object);
      if (this.withheld.size > 0) this.withheld.delete(object);
      return kept;
    } catch (error) {
      // It may have been renamed in place.
      const metadata = { ...object.metadata, namespace, name, uid, resourceVersion };
      this.withheld.add({ ...object, metadata }, 'transform', error);
      return undefined;
    }
  }

  /** As {@link keep}, for an object of a list. Instead of one that is withheld, its last version that was taken in. */
  keepListed(object: T): T | undefined {
    const kept = this.keep(object);
    if (kept !== undefined) return this.#admitListed === undefined ? kept : this.#admitListed(kept);
    if (this.#known === undefined || identityProblem(object.metadata) !== undefined) return undefined;
    const known = this.#known(keyOf(object));
    return known === undefined || isAnotherObject(known, object) ? undefined : known;
  }

  /** The object to delete from the store: a failing transform must not keep it alive. */
  gone(object: T): T | DeletedFinalStateUnknown<T> | undefined {
    this.withheld.delete(object);
    if (identityProblem(object.metadata) !== undefined) return undefined;
    if (metadataProblem(object.metadata) !== undefined) {
      return new DeletedFinalStateUnknown<T>(keyOf(object), this.#known?.(keyOf(object)));
    }
    try {
      return this.#transformed(object);
    } catch {
      return object;
    }
  }

  #transformed(object: T): T {
    return this.#transform === undefined ? object : applyTransform(this.#transform, object);
  }

  #refuse(got: string): false {
    if (!this.#refused.has(got)) {
      this.#refused.add(got);
      const { apiVersion, kind } = this.#kind ?? {};
      const expected = kind === undefined ? 'an object' : `${apiVersion} ${kind}`;
      this.#log.error('dropped an object of unexpected type', { expected, got });
    }
    return false;
  }
}

function copyOf<T extends KubeObject>(object: T): T {
  const copy = clone(object) as T;
  carryLoss(object, copy);
  return copy;
}
