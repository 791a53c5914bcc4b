import type { JsonObject } from 'riata/object';
import type { Steps } from '../steps.js';
import type { StorageEvent } from '../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from './admission.js';

/** Runs admission plugins in their order. */
export class AdmissionChain {
  readonly #plugins: readonly AdmissionPlugin[];
  readonly #mutating: readonly AdmissionPlugin[];
  readonly #validating: readonly AdmissionPlugin[];
  readonly #committing: readonly AdmissionPlugin[];

  constructor(plugins: readonly AdmissionPlugin[]) {
    this.#plugins = plugins;
    this.#mutating = plugins.filter(({ admit }) => admit !== undefined);
    this.#committing = plugins.filter(({ commit }) => commit !== undefined);
    this.#validating = plugins.filter(({ validate }) => validate !== undefined);
  }

  /** Whether some plugin needs the object with its managedFields before it is known to be valid. */
  needsManagedFields(attributes: AdmissionAttributes): boolean {
    return this.#plugins.some((plugin) => plugin.needsManagedFields?.(attributes) === true);
  }

  /** The mutating phase: the object as the plugins leave it, the same reference if none changes it. */
  *admit(attributes: AdmissionAttributes): Steps<JsonObject | undefined> {
    const object = yield* this.#mutate(attributes);
    const { reinvocation } = attributes;
    if (reinvocation?.isRequired !== true) return object;
    reinvocation.begin();
    return yield* this.#mutate(object === attributes.object ? attributes : withObject(attributes, object));
  }

  *#mutate(attributes: AdmissionAttributes): Steps<JsonObject | undefined> {
    let current = attributes;
    for (const plugin of this.#mutating) {
      if (plugin.handles?.(current) === false) continue;
      const object = yield* (plugin.admit as Admit).call(plugin, current);
      if (object !== current.object && current.operation !== 'DELETE') current = withObject(current, object);
    }
    return current.object;
  }

  /** The validating phase. */
  *validate(attributes: AdmissionAttributes): Steps<void> {
    for (const plugin of this.#validating) {
      if (plugin.handles?.(attributes) === false) continue;
      yield* (plugin.validate as Validate).call(plugin, attributes);
    }
  }

  /** Right before an object is stored. */
  commit(attributes: AdmissionAttributes): void {
    for (const plugin of this.#committing) if (plugin.handles?.(attributes) !== false) plugin.commit?.(attributes);
  }

  observe(table: string, event: StorageEvent): void {
    for (const plugin of this.#plugins) plugin.observe?.(table, event);
  }
}

type Admit = NonNullable<AdmissionPlugin['admit']>;
type Validate = NonNullable<AdmissionPlugin['validate']>;

/** The attributes of a request with another object. */
export function withObject(attributes: AdmissionAttributes, object: JsonObject | undefined): AdmissionAttributes {
  return Object.create(attributes, { object: { value: object, enumerable: true } }) as AdmissionAttributes;
}
