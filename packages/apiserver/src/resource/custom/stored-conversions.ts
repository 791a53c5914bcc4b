import type { JsonObject, KubeObject } from 'riata/object';
import { Refusal } from '../../status/refusal.js';
import { type Steps, wait } from '../../steps.js';
import type { VersionSchemas } from './version-schemas.js';
import type { WebhookConverter } from './webhook-converter.js';

/** Thrown when code reads an object that the webhook has not converted yet. Call `convert`, then retry. */
export class MissingConversion extends Error {
  override readonly name = 'MissingConversion';
  readonly convert: () => Promise<void>;

  constructor(convert: () => Promise<void>) {
    super('internal error: an object is looked at in a version that it was not converted to');
    this.convert = convert;
  }
}

/** Repeats a pure function until all objects that it reads are converted. */
export function* withConversions<T>(work: () => T): Steps<T> {
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!(error instanceof MissingConversion)) throw error;
      yield* wait(error.convert());
    }
  }
}

/** Dependencies of {@link StoredConversions}. */
export interface StoredConversionParts<R> {
  /** The version of the resource. */
  readonly apiVersion: string;
  /** The storage version. */
  readonly storedAs: string;
  readonly converter: WebhookConverter;
  readonly schemas: VersionSchemas;
  /** The resource of the version that an object is stored in. */
  readonly asStored: (object: KubeObject) => R | undefined;
}

/** How many converted objects of a write to remember. */
const maxKnown = 64;

/**
 * Converts objects of a custom kind between a resource's version and the stored versions by a webhook. An object is
 * converted once for all lists and watches, as in kube-apiserver's watch cache.
 */
export class StoredConversions<R = unknown> {
  /** The resource of an object's stored version, for writes that keep this version. */
  readonly asStored: (object: KubeObject) => R | undefined;
  readonly #apiVersion: string;
  readonly #storedAs: string;
  readonly #converter: WebhookConverter;
  readonly #schemas: VersionSchemas;
  /** By the stored object. */
  readonly #shown = new WeakMap<KubeObject, KubeObject>();
  /** Objects that were converted for managedFields of other versions, by version and JSON. */
  readonly #known = new Map<string, JsonObject | Refusal>();

  constructor(parts: StoredConversionParts<R>) {
    const { apiVersion, storedAs, converter, schemas, asStored } = parts;
    this.#apiVersion = apiVersion;
    this.#storedAs = storedAs;
    this.#converter = converter;
    this.#schemas = schemas;
    this.asStored = asStored;
  }

  /** Whether a stored object must be converted before it can be shown. */
  needs(object: KubeObject): boolean {
    return object.apiVersion !== this.#apiVersion && !this.#shown.has(object);
  }

  /**
   * Requests the conversion of objects that are about to be read, all with one review. Throws {@link
   * MissingConversion}.
   */
  need(objects: readonly { readonly object: KubeObject }[]): void {
    const missing = objects.map(({ object }) => object).filter((object) => this.needs(object));
    if (missing.length > 0) throw new MissingConversion(() => this.prepare(missing));
  }

  /** A stored object as the resource shows it. Throws {@link MissingConversion}. */
  shown(object: KubeObject): KubeObject {
    const known = this.#shown.get(object);
    if (known === undefined) throw new MissingConversion(() => this.prepare([object]));
    return known;
  }

  /** Converts stored objects with one review, except for those that were converted before. Throws a `Refusal`. */
  async prepare(objects: readonly KubeObject[]): Promise<void> {
    await this.refresh(objects.filter((object) => this.needs(object)));
  }

  /** Like {@link prepare}, but converts all of them again. */
  async refresh(objects: readonly KubeObject[]): Promise<void> {
    const decoded = objects.map((object) => this.#schemas.decoded(object as unknown as JsonObject));
    const converted = await this.#converter.convert(decoded, this.#apiVersion);
    for (const [i, object] of objects.entries()) {
      const shown = this.#schemas.trimmed(converted[i] as JsonObject, this.#apiVersion);
      this.#shown.set(object, shown as unknown as KubeObject);
    }
  }

  /** The storage form of an object. Throws a `Refusal`. */
  async toStored(object: JsonObject): Promise<JsonObject> {
    if (object.apiVersion === this.#storedAs) return object;
    const [converted = object] = await this.#converter.convert([object], this.#storedAs);
    return this.#schemas.trimmed(converted, this.#storedAs);
  }

  /** An object in another version. Throws {@link MissingConversion}, or a `Refusal` if the conversion failed. */
  known(object: JsonObject, apiVersion: string): JsonObject {
    const id = `${apiVersion} ${JSON.stringify(object)}`;
    const known = this.#known.get(id);
    if (known === undefined) throw new MissingConversion(() => this.#learn(id, object, apiVersion));
    if (!(known instanceof Refusal)) return known;
    this.#known.delete(id);
    throw known;
  }

  async #learn(id: string, object: JsonObject, apiVersion: string): Promise<void> {
    const [oldest] = this.#known.keys();
    if (this.#known.size >= maxKnown && oldest !== undefined) this.#known.delete(oldest);
    try {
      const [converted = object] = await this.#converter.convert([object], apiVersion);
      this.#known.set(id, converted);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#known.set(id, error);
    }
  }
}
