import { failureFields } from '../../controller/loop/failure-fields.js';
import { servedConversions } from '../../manager/missing-conversions.js';
import type { DefinedKind } from '../../object/define-kind.js';
import type { KindRef } from '../../object/kind.js';
import type { ObjectConverter } from '../../object/version/object-converter.js';
import type { CounterSeries } from '../../runtime/metrics.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { addWebhook } from '../server/add-webhook.js';
import { problem } from '../server/webhook-routes.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookAnswer, WebhookParts, WebhookRequest } from '../webhook-route.js';
import { convertReview, readReview } from './convert-review.js';

/** Options of {@link conversion}. */
export interface ConversionOptions {
  /** In logs and metrics. @default 'convert-' and the name of the CustomResourceDefinition */
  readonly name?: string;
  /** @default a slash and the name, with dashes for dots */
  readonly path?: string;
}

export const conversionOptionNames = optionNames<ConversionOptions>({ name: true, path: true });

/** A kind with versions, as `withVersion` gives it. */
export type ConvertibleKind = KindRef & Pick<DefinedKind, 'crd'> & { readonly converter: ObjectConverter };

/** An API server has a whole list converted by one request, however long the list is. */
const bodyLimit = 256 * 2 ** 20;
/** Answers up to this size are sent whole, with their length. */
const smallBytes = 65_536;

/**
 * The webhook by which an API server converts objects of a kind between the versions that `withVersion` gave it: a
 * value, as `control` gives one. It is served on every replica.
 *
 * @example
 * await run(sites, conversion(Site));
 */
export function conversion(kind: ConvertibleKind, options: ConversionOptions = {}): WebhookDefinition {
  refuseUnknownOptions(`conversion of ${kind.kind}`, options, conversionOptionNames);
  const { converter } = kind;
  if ((converter?.others ?? []).length === 0) {
    throw new TypeError(`conversion: ${kind.kind} has one version; add others with withVersion(${kind.kind}, …)`);
  }
  const crd = kind.crd().metadata.name;
  const name = options.name ?? `convert-${crd}`;
  const path = options.path ?? `/${name.replaceAll('.', '-')}`;
  const definition: WebhookDefinition = {
    name,
    readKinds: [],
    targets: [{ type: 'conversion', path, kind }],
    bind: (parts) => {
      const failures = parts.runtime.metrics
        .counter({
          name: 'controller_runtime_conversion_webhook_panics_total',
          help: 'Total number of conversions that threw.',
        })
        .with({});
      failures.inc(0);
      const webhook = { name, path, converter, failures };
      return [{ path, bodyLimit, answer: (request) => answer(request, webhook, parts) }];
    },
    addTo: (manager) => {
      const added = addWebhook(manager, definition);
      const served = servedConversions(manager);
      served.add(crd);
      return {
        ...added,
        remove: async () => {
          served.delete(crd);
          await added.remove();
        },
      };
    },
  };
  return definition;
}

interface Webhook {
  readonly name: string;
  readonly path: string;
  readonly converter: ObjectConverter;
  readonly failures: CounterSeries;
}

async function answer(request: WebhookRequest, webhook: Webhook, parts: WebhookParts): Promise<WebhookAnswer> {
  const { name, path, converter, failures } = webhook;
  const { clock, log } = parts.runtime;
  const startedAt = clock.now();
  const started = clock.monotonic();
  const review = readReview(request.body);
  if (typeof review === 'string') return { status: 400, body: problem(review) };
  // Every read of another version is converted: successes would push everything else out of the records.
  const onFailure = (error: unknown) => {
    failures.inc();
    log.error('cannot convert an object', { webhook: name, ...failureFields(error) });
    parts.record({
      ...{ webhook: name, path, object: undefined, operation: 'CONVERT', user: undefined, dryRun: false },
      ...{ startedAt, durationMs: clock.monotonic() - started, outcome: 'failed' },
      details: [error instanceof Error ? error.message : String(error)],
    });
  };
  const body = convertReview(review, { converter, clock, signal: request.signal, onFailure });
  if (request.body.length > smallBytes) return { status: 200, body };
  let whole = '';
  for await (const piece of body) whole += piece;
  return { status: 200, body: whole };
}
