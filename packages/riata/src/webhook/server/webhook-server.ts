import type { Client } from '../../client/interfaces.js';
import type { Runnable } from '../../manager/runnable.js';
import {
  checkWebhookOptions,
  type ManagedWebhooks,
  type WebhookServerOptions,
  webhookServerOptionNames,
} from '../../manager/webhook-options.js';
import { durationMs } from '../../object/duration.js';
import { createAuthority } from '../../runtime/crypto/x509.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookRecord } from '../webhook-route.js';
import { HttpsListener } from './https-listener.js';
import { WebhookRoutes } from './webhook-routes.js';

/** Options of a {@link WebhookServer} that no manager runs. */
export interface StandaloneWebhookOptions extends WebhookServerOptions {
  /** Served from the start; others can be added at any time. @default none */
  readonly webhooks?: readonly WebhookDefinition[];
  /** What handlers read and write with, and the server its Secret and configurations. */
  readonly client?: Client;
  readonly runtime?: Partial<Runtime>;
}

const standaloneNames = webhookServerOptionNames.and<StandaloneWebhookOptions>({
  webhooks: true,
  client: true,
  runtime: true,
});

const mebibyte = 2 ** 20;

/**
 * Serves webhooks over HTTPS (`webhook.Server`): HTTP/2 and HTTP/1.1, TLS 1.2 and newer. A manager makes one when a
 * webhook is added; alone it is run like this:
 *
 * @example
 * await new WebhookServer({ webhooks: [siteRules], client }).run({ signal });
 */
export class WebhookServer implements Runnable, ManagedWebhooks {
  readonly name = 'webhooks';
  readonly stage = 'webhooks';
  readonly #options: StandaloneWebhookOptions;
  readonly #runtime: Runtime;
  readonly #routes: WebhookRoutes;
  /** Resolves once it accepts connections. */
  readonly listening: Promise<void>;
  #onListening: () => void = () => {};
  #url: string | undefined;

  constructor(options: StandaloneWebhookOptions = {}) {
    refuseUnknownOptions('WebhookServer', options, standaloneNames);
    checkWebhookOptions('WebhookServer', options);
    this.#options = options;
    this.#runtime = resolveRuntime(options.runtime);
    this.#routes = new WebhookRoutes(this.#runtime);
    this.listening = new Promise((resolve) => {
      this.#onListening = resolve;
    });
    for (const definition of options.webhooks ?? []) this.add(definition);
  }

  /** Where it listens; undefined before it does. */
  get url(): string | undefined {
    return this.#url;
  }

  /** Finished calls, oldest first; the last 1,000. */
  get calls(): readonly WebhookRecord[] {
    return this.#routes.records;
  }

  /** Throws unless it accepts connections (`StartedChecker`). */
  check(): void {
    if (this.#url === undefined) throw new Error('the webhook server does not listen yet');
  }

  /** Serves a webhook until the answer is disposed. Throws if its name or one of its paths is taken. */
  add(definition: WebhookDefinition): Disposable {
    return this.#routes.add(definition, this.#options.client as Client);
  }

  /** Serves until the signal aborts; resolves when all requests are answered. */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { host = '127.0.0.1', port = 9443, bodyLimit = 7 * mebibyte, listener } = this.#options;
    const { drainDelay = '0s', drainTimeout = '10s' } = this.#options;
    const runtime = this.#runtime;
    const stopped = new Promise<void>((resolve) => void onAbort(signal, resolve));
    if (listener !== undefined) {
      await listener.listen(this.#routes.serve, { signal });
      await stopped;
      return;
    }
    const https = new HttpsListener(this.#routes.serve, {
      ...{ name: this.name, host, port, bodyLimit, runtime },
      drainDelayMs: durationMs(drainDelay),
      drainTimeoutMs: durationMs(drainTimeout),
    });
    const now = runtime.clock.now();
    const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 86_400_000) };
    await https.listen(createAuthority('webhooks', validity).issue(host, [host], validity));
    this.#url = `https://${host.includes(':') ? `[${host}]` : host}:${https.port}`;
    runtime.log.info('listening', { server: this.name, url: this.#url });
    this.#onListening();
    await stopped;
    await https.close();
    this.#url = undefined;
  }
}
