import type { JsonObject } from 'riata/object';
import type { Random } from 'riata/runtime';
import { goKind } from '../../status/go-kind.js';
import { Refusal } from '../../status/refusal.js';
import { WebhookCallError, type WebhookCaller, type WebhookTarget } from '../../webhook-client/webhook-caller.js';
import { textOf } from '../metadata.js';
import { convertedIn, reviewOf, reviewVersionOf } from './conversion-review.js';
import { convertedObject } from './converted-object.js';

/** Dependencies of {@link WebhookConverter}. */
export interface ConversionParts {
  readonly webhooks: WebhookCaller;
  readonly random: Random;
}

/** The conversion settings of a definition. */
export interface WebhookConversion {
  readonly conversionReviewVersions: readonly string[];
  readonly clientConfig: WebhookTarget;
}

/** kube-apiserver's default timeout of webhooks. */
const timeoutMs = 30_000;

/** Converts objects of a custom kind by its webhook (`webhookConverter`). */
export class WebhookConverter {
  readonly #parts: ConversionParts;
  readonly #conversion: WebhookConversion;
  /** The versions of the definition, as `apiVersion`. */
  readonly #versions: ReadonlySet<string>;

  constructor(parts: ConversionParts, conversion: WebhookConversion, versions: Iterable<string>) {
    this.#parts = parts;
    this.#conversion = conversion;
    this.#versions = new Set(versions);
  }

  /** Converts objects to a version with one review, which leaves out those already in it. Throws a `Refusal`. */
  async convert(objects: readonly JsonObject[], apiVersion: string): Promise<readonly JsonObject[]> {
    const sent = objects.filter((object) => object.apiVersion !== apiVersion);
    const [first] = sent;
    if (first === undefined) return objects;
    try {
      for (const object of sent) this.#check(object, apiVersion);
      const answered = await this.#ask(sent, first, apiVersion);
      const converted = new Map(
        sent.map((object, i) => [object, convertedObject(object, answered[i] ?? null, apiVersion)]),
      );
      return objects.map((object) => converted.get(object) ?? object);
    } catch (error) {
      if (!(error instanceof Error) || error instanceof Refusal) throw error;
      throw new Refusal(500, '', error.message);
    }
  }

  #check(object: JsonObject, apiVersion: string): void {
    const invalid = (way: string, version: string) =>
      new Error(`request to convert CR ${way} an invalid group/version: ${version}`);
    if (!this.#versions.has(apiVersion)) throw invalid('to', apiVersion);
    if (!this.#versions.has(textOf(object.apiVersion))) throw invalid('from', textOf(object.apiVersion));
  }

  async #ask(objects: readonly JsonObject[], first: JsonObject, apiVersion: string) {
    const { webhooks, random } = this.#parts;
    const { conversionReviewVersions, clientConfig } = this.#conversion;
    const version = reviewVersionOf(conversionReviewVersions);
    const uid = random.uuid();
    const hook = `conversion webhook for ${goKind(textOf(first.apiVersion), textOf(first.kind))}`;
    const answered = await webhooks
      .call(clientConfig, reviewOf(version, uid, apiVersion, objects), { timeoutMs })
      .then((text) => convertedIn(text, version, uid))
      .catch((error: unknown) => {
        if (!(error instanceof WebhookCallError || error instanceof Error)) throw error;
        throw new Error(`${hook} failed: ${error.message}`);
      });
    if (answered.length === objects.length) return answered;
    throw new Error(`${hook} returned ${answered.length} objects, expected ${objects.length}`);
  }
}
