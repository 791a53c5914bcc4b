import type { Client } from '../../client/interfaces.js';
import type { WebhookClientConfig } from '../../kinds/generated/types/admissionregistration-v1.js';
import type { Runnable } from '../../manager/runnable.js';
import {
  checkWebhookOptions,
  type ManagedWebhooks,
  type WebhookServerOptions,
  webhookServerOptionNames,
} from '../../manager/webhook-options.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';
import { type Runtime, resolveRuntime } from '../../runtime/runtime.js';
import { assertDistinctTargets } from '../install/configurations.js';
import { probeRoute } from '../install/probe-webhook.js';
import type { SiteParts } from '../install/webhook-site.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookRecord } from '../webhook-route.js';
import { missingClient } from './missing-client.js';
import { ServerRun } from './server-run.js';
import { type ServedWebhook, WebhookRoutes } from './webhook-routes.js';

/** Options of a {@link WebhookServer} that no manager runs. */
export interface StandaloneWebhookOptions extends WebhookServerOptions {
  /** Served from the start; others can be added at any time. @default none */
  readonly webhooks?: readonly WebhookDefinition[];
  /**
   * What handlers read and write with, and the server its Secret and configurations. Can be left out if certificates are
   * files and `install` is false. @default none
   */
  readonly client?: Client;
  readonly runtime?: Partial<Runtime>;
}

const standaloneNames = webhookServerOptionNames.and<StandaloneWebhookOptions>({
  webhooks: true,
  client: true,
  runtime: true,
});

/** What a manager knows besides options. */
export interface ManagedServerParts extends Pick<SiteParts, 'name' | 'namespace'> {
  /** Reads from the server, always. */
  readonly live: Client;
}

/**
 * Serves webhooks over HTTPS (`webhook.Server`): HTTP/2 and HTTP/1.1, TLS 1.2 and newer. It keeps its certificate and the
 * webhook configurations, too. A manager makes one when a webhook is added; alone it is run like this:
 *
 * @example
 * await new WebhookServer({ webhooks: [siteRules], client }).run({ signal });
 */
export class WebhookServer implements Runnable, ManagedWebhooks {
  readonly name = 'webhooks';
  readonly stage = 'webhooks';
  /** Resolves once it accepts requests. */
  readonly listening: Promise<void>;
  readonly #options: StandaloneWebhookOptions;
  readonly #runtime: Runtime;
  readonly #routes: WebhookRoutes;
  readonly #client: Client;
  readonly #parts: ManagedServerParts | undefined;
  readonly #id: string;
  #onListening: () => void = () => {};
  #run: ServerRun | undefined;

  constructor(options: StandaloneWebhookOptions = {}, parts?: ManagedServerParts) {
    refuseUnknownOptions('WebhookServer', options, standaloneNames);
    checkWebhookOptions('WebhookServer', options);
    const { certificates, install = true, client } = options;
    const needsClient = install || certificates === undefined || !isFiles(certificates);
    if (client === undefined && needsClient) {
      throw new TypeError(
        'WebhookServer: requires a client for its Secret and the webhook configurations; give one, or certificates as ' +
          'files and install: false',
      );
    }
    this.#options = options;
    this.#parts = parts;
    this.#client = client ?? missingClient();
    this.#runtime = resolveRuntime(options.runtime);
    this.#id = this.#runtime.random.int(0, 0xffff_ffff).toString(36);
    this.#routes = new WebhookRoutes(this.#runtime);
    this.#routes.addOwn(probeRoute(this.#id));
    this.listening = new Promise((resolve) => {
      this.#onListening = resolve;
    });
    for (const definition of options.webhooks ?? []) this.add(definition);
  }

  /** Where it listens; undefined before it does, and without HTTPS. */
  get url(): string | undefined {
    return this.#run?.url;
  }

  /** When its certificate expires, in milliseconds since the epoch; undefined before it listens, and without HTTPS. */
  get certificateExpiresAt(): number | undefined {
    return this.#run?.certificateExpiresAt;
  }

  /** Finished calls, oldest first; the last 1,000. */
  get calls(): readonly WebhookRecord[] {
    return this.#routes.records;
  }

  /** Throws unless it accepts requests (`StartedChecker`). */
  checkStarted(): void {
    if (this.#run?.isListening !== true) throw new Error('the webhook server does not listen yet');
  }

  /** Throws unless it accepts requests, its configurations are in place, and an API server has reached it. */
  check(): void {
    this.checkStarted();
    this.#run?.check();
  }

  /**
   * How API servers reach a path of it, with the authorities to trust: for configurations that you write yourself. Throws
   * unless it listens.
   */
  clientConfig(path: string): WebhookClientConfig {
    this.checkStarted();
    return this.#run?.clientConfig(path) as WebhookClientConfig;
  }

  /** Serves a webhook until the answer is disposed. Throws if its name, a path or an entry is taken. */
  add(definition: WebhookDefinition): ServedWebhook {
    assertDistinctTargets(definition, this.#routes.definitions);
    const served = this.#routes.add(definition, this.#client);
    this.#run?.redefine();
    return {
      replace: (next) => {
        const others = this.#routes.definitions.filter(({ name }) => name !== definition.name);
        assertDistinctTargets(next, others);
        served.replace(next);
        this.#run?.redefine();
      },
      [Symbol.dispose]: () => {
        served[Symbol.dispose]();
        this.#run?.redefine();
      },
    };
  }

  /**
   * Replaces the certificate and its authority, though they are good: a key may have leaked. Takes as long as the overlap,
   * and no request fails. Has no effect on files, which this program does not write.
   */
  rotateCertificates(): void {
    this.#run?.rotate();
  }

  /** Serves until the signal aborts; resolves when all requests are answered. */
  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    if (this.#run !== undefined) throw new Error('a webhook server cannot run twice; make another one');
    this.#run = new ServerRun({
      ...{ options: this.#options, routes: this.#routes, runtime: this.#runtime, id: this.#id },
      ...{ client: this.#parts?.live ?? this.#options.client, site: this.#parts, onListening: this.#onListening },
    });
    await this.#run.run({ signal });
  }
}

function isFiles(certificates: NonNullable<WebhookServerOptions['certificates']>): boolean {
  return certificates === 'cert-manager' || (typeof certificates === 'object' && 'certFile' in certificates);
}
