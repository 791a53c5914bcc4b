import type { KindRef } from '../object/kind.js';
import type { KubeObject } from '../object/meta.js';
import { describeValue } from '../object/with-metadata.js';
import type { Logger } from '../runtime/logger.js';
import { applyTransform } from './apply-transform.js';
import type { ReflectorOptions } from './reflector-options.js';

type IntakeOptions<T extends KubeObject> = Pick<ReflectorOptions<T>, 'kind' | 'transform' | 'admitListed'>;

/** What every object passes on its way in: is it what was expected, and what is kept of it. */
export class ReflectorIntake<T extends KubeObject> {
  readonly #kind: KindRef<T> | undefined;
  readonly #transform: ((object: T) => T) | undefined;
  readonly #admitListed: ((object: T) => T) | undefined;
  readonly #log: Logger;
  /** Kinds that were complained about. A server that sends wrong ones sends many. */
  readonly #refused = new Set<string>();

  constructor({ kind, transform, admitListed }: IntakeOptions<T>, log: Logger) {
    this.#kind = kind;
    this.#transform = transform;
    this.#admitListed = admitListed;
    this.#log = log;
  }

  /**
   * False for what cannot be taken in: no object, none with metadata, a Table, or one of another kind. What does not say
   * its kind is believed to be of the right one.
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

  /** What is kept of an object; throws what the transform throws, with the object's name. */
  keep(object: T): T {
    return this.#transform === undefined ? object : applyTransform(this.#transform, object);
  }

  /** As {@link keep}, for an object of a list. */
  keepListed(object: T): T {
    const kept = this.keep(object);
    return this.#admitListed === undefined ? kept : this.#admitListed(kept);
  }

  #refuse(got: string): false {
    if (!this.#refused.has(got)) {
      this.#refused.add(got);
      const { apiVersion, kind } = this.#kind ?? {};
      const expected = kind === undefined ? 'an object' : `${apiVersion} ${kind}`;
      this.#log.error('dropped what the server sent, as it is not what was asked for', { expected, got });
    }
    return false;
  }
}
