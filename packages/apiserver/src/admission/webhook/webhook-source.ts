import type { JsonObject } from 'riata/object';
import { AdmissionCompiler } from '../../cel/admission/admission-compiler.js';
import { metaOf, numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import type { Storage } from '../../storage/storage.js';
import type { WebhookTarget } from '../../webhook-client/webhook-caller.js';
import { MatchConditions } from '../policy/match-conditions.js';

/** One webhook of a configuration. */
export interface Webhook {
  /** Unique among all webhooks. */
  readonly id: string;
  readonly configuration: string;
  readonly name: string;
  readonly spec: JsonObject;
  readonly rules: readonly JsonObject[];
  readonly target: WebhookTarget;
  readonly timeoutMs: number;
  /** Whether a request continues when the webhook cannot be called. */
  readonly failsOpen: boolean;
  /** Whether it also matches other versions of the same objects. */
  readonly fuzzy: boolean;
  /** Compiled on first use. */
  conditions(): MatchConditions | undefined;
}

/** The webhooks of one table of configurations, in the order of calls. */
export class WebhookSource {
  readonly #storage: Storage;
  readonly #table: string;
  #webhooks: readonly Webhook[] | undefined;
  /** Webhooks by stored configuration: a change of another one keeps its expressions compiled. */
  readonly #known = new WeakMap<object, readonly Webhook[]>();

  constructor(storage: Storage, table: string) {
    this.#storage = storage;
    this.#table = table;
  }

  list(): readonly Webhook[] {
    this.#webhooks ??= this.#storage.list(this.#table).items.flatMap(({ object }) => {
      const known = this.#known.get(object) ?? webhooksOf(object as unknown as JsonObject);
      this.#known.set(object, known);
      return known;
    });
    return this.#webhooks;
  }

  observe(table: string): void {
    if (table === this.#table) this.#webhooks = undefined;
  }
}

function webhooksOf(configuration: JsonObject): readonly Webhook[] {
  const name = textOf(metaOf(configuration).name);
  return recordsOf(configuration.webhooks).map((spec, index) => webhookOf(spec, name, index));
}

function webhookOf(spec: JsonObject, configuration: string, index: number): Webhook {
  let compiled: MatchConditions | undefined;
  const hasConditions = recordsOf(spec.matchConditions).length > 0;
  const compile = () => new MatchConditions(spec, new AdmissionCompiler(false), { params: false, authorizer: true });
  return {
    id: `${configuration}/${index}`,
    configuration,
    name: textOf(spec.name),
    spec,
    rules: recordsOf(spec.rules),
    target: recordOf(spec.clientConfig) as WebhookTarget,
    timeoutMs: (numberOf(spec.timeoutSeconds) || 10) * 1000,
    failsOpen: spec.failurePolicy === 'Ignore',
    fuzzy: spec.matchPolicy !== 'Exact',
    conditions() {
      compiled ??= hasConditions ? compile() : undefined;
      return compiled;
    },
  };
}
