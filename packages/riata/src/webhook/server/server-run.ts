import { X509Certificate } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import type { Client } from '../../client/interfaces.js';
import type { WebhookClientConfig } from '../../kinds/generated/types/admissionregistration-v1.js';
import type { WebhookServerOptions } from '../../manager/webhook-options.js';
import { durationMs } from '../../object/duration.js';
import { describeError } from '../../runtime/log/describe-error.js';
import type { Runtime } from '../../runtime/runtime.js';
import { AbortSource, onAbort } from '../../runtime/signals.js';
import { Shutdown } from '../../runtime/stop-reasons.js';
import { certificateSource, injectingAnnotations } from '../certificates/certificate-options.js';
import type { CertificateSource } from '../certificates/certificate-source.js';
import { withBundle } from '../install/client-configs.js';
import { ReachProbe } from '../install/reach-probe.js';
import { serviceObject } from '../install/service-object.js';
import { WebhookInstaller } from '../install/webhook-installer.js';
import { bracketed, resolveSite, type SiteParts, type WebhookSite } from '../install/webhook-site.js';
import type { ListeningWebhooks } from '../webhook-listener.js';
import { HttpsListener } from './https-listener.js';
import type { WebhookRoutes } from './webhook-routes.js';

/** What a {@link ServerRun} works with. */
export interface ServerRunParts {
  readonly options: WebhookServerOptions;
  readonly routes: WebhookRoutes;
  /** Reads from the server, always. Undefined if there is nothing to do there. */
  readonly client: Client | undefined;
  readonly site: SiteParts | undefined;
  /** In answers to probes. */
  readonly id: string;
  readonly runtime: Runtime;
  readonly onListening: () => void;
}

const mebibyte = 2 ** 20;

/** A webhook server while it runs: its listener, its certificates, its configurations. */
export class ServerRun {
  readonly #parts: ServerRunParts;
  #url: string | undefined;
  #isListening = false;
  #source: CertificateSource | undefined;
  #installer: WebhookInstaller | undefined;
  #probe: ReachProbe | undefined;
  #listening: ListeningWebhooks | undefined;
  #authorities: string | undefined;
  #certificate: string | undefined;

  constructor(parts: ServerRunParts) {
    this.#parts = parts;
  }

  get url(): string | undefined {
    return this.#url;
  }

  /** When the serving certificate expires, in milliseconds since the epoch; undefined without HTTPS. */
  get certificateExpiresAt(): number | undefined {
    if (this.#certificate === undefined) return undefined;
    return Date.parse(new X509Certificate(this.#certificate).validTo);
  }

  get isListening(): boolean {
    return this.#isListening;
  }

  /** Throws while API servers are not known to reach it. Without targets none has to. */
  check(): void {
    if (!this.#hasTargets) return;
    const problem = this.#installer?.problem;
    if (problem !== undefined) throw problem;
    this.#probe?.check();
  }

  /** How an API server reaches a path, with the authorities to trust. Undefined before it listens. */
  clientConfig(path: string): WebhookClientConfig | undefined {
    const config = this.#listening?.clientConfig(path);
    return config === undefined || this.#authorities === undefined ? config : withBundle(config, this.#authorities);
  }

  /** Webhooks were added or removed. */
  redefine(): void {
    this.#installer?.redefine();
  }

  rotate(): void {
    this.#source?.rotate?.();
  }

  async run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    const { options, routes, runtime } = this.#parts;
    const site = await resolveSite(options, this.#parts.site);
    if (options.listener !== undefined) {
      const listening = await options.listener.listen(routes.serve, { signal });
      await this.#serve(site, { listening, signal });
      this.#isListening = false;
      return;
    }
    const https = this.#listener(site);
    const isPublished = async (authority: string) => (await this.#installer?.isPublished(authority)) ?? false;
    const source = certificateSource(options, { client: this.#parts.client as Client, site, isPublished, runtime });
    this.#source = source;
    const clientCa = await clientAuthorities(options.clientCaFile);
    let served: Awaited<ReturnType<CertificateSource['load']>>;
    try {
      served = await source.load({ signal });
    } catch (error) {
      if (signal.aborted) return;
      throw error;
    }
    await https.listen({ ...served.serving, clientCa });
    this.#certificate = served.serving.cert;
    const port = https.port as number;
    this.#url = `https://${bracketed(site.host ?? 'localhost')}:${port}`;
    runtime.log.info('listening', { server: 'webhooks', url: this.#url });
    const listening = { clientConfig: (path: string) => site.clientConfig(path, port) };
    const keepsAuthorities = served.authorities !== undefined;
    const drain = async () => {
      await https.close();
      this.#url = undefined;
    };
    const follow = (installer: WebhookInstaller | undefined, until: AbortSignal) => {
      const trust = (authorities: string | undefined) => {
        this.#authorities = authorities;
        installer?.trust(authorities);
      };
      trust(served.authorities);
      return source.follow(
        (next) => {
          https.use({ ...next.serving, clientCa });
          this.#certificate = next.serving.cert;
          trust(next.authorities);
        },
        { signal: until },
      );
    };
    await this.#serve(site, { listening, signal, follow, drain, keepsAuthorities });
  }

  /** Everything that happens while it listens, until the signal aborts; and then the way out. */
  async #serve(
    site: WebhookSite,
    parts: {
      readonly listening: ListeningWebhooks;
      readonly signal: AbortSignal;
      /** Whether `caBundle` is to be written. @default false */
      readonly keepsAuthorities?: boolean;
      readonly follow?: (installer: WebhookInstaller | undefined, signal: AbortSignal) => Promise<void>;
      readonly drain?: () => Promise<void>;
    },
  ): Promise<void> {
    const { signal, listening, follow, drain, keepsAuthorities = false } = parts;
    const { options, routes, client, runtime, id } = this.#parts;
    const { install: isInstalling = true, keepOnStop = site.isBehindService } = options;
    const annotations = injectingAnnotations(options, site);
    if (client !== undefined && (isInstalling || keepsAuthorities)) {
      this.#installer = new WebhookInstaller({
        ...{ client, runtime, site, isInstalling, annotations, isInNamespace: site.isBehindService },
        guardOwnNamespace: options.guardOwnNamespace ?? false,
        service: serviceObject(site, options),
        definitions: () => routes.definitions,
        clientConfig: (path) => listening.clientConfig(path),
        onInstalled: () => {
          this.#source?.wake?.();
          this.#probe?.wake();
        },
      });
    }
    if (client !== undefined) this.#probe = new ReachProbe({ client, site, server: id, isInstalling, runtime });
    this.#isListening = true;
    this.#listening = listening;
    this.#parts.onListening();
    const stop = new AbortSource();
    using _stopped = onAbort(signal, () => stop.abort(signal.reason));
    const work = Promise.all([
      follow?.(this.#installer, stop.signal),
      this.#installer?.run({ signal: stop.signal }),
      this.#hasTargets ? this.#probe?.run({ signal: stop.signal }) : undefined,
    ]);
    try {
      await Promise.race([work, new Promise<void>((resolve) => void onAbort(signal, resolve))]);
      await new Promise<void>((resolve) => void onAbort(signal, resolve));
    } finally {
      stop.abort(new Shutdown('the webhook server stops'));
      await work.catch(() => {});
      if (!keepOnStop) await this.#uninstall();
      await drain?.();
      this.#isListening = false;
    }
  }

  get #hasTargets(): boolean {
    return this.#parts.routes.definitions.some(({ targets }) => targets.length > 0);
  }

  async #uninstall(): Promise<void> {
    const { log } = this.#parts.runtime;
    await this.#installer?.uninstall().catch((error: unknown) => {
      log.warn('cannot remove the webhook configurations', { error });
    });
  }

  #listener(site: WebhookSite): HttpsListener {
    const { options, routes, runtime } = this.#parts;
    const { port = 9443, bodyLimit = 7 * mebibyte, drainTimeout = '10s' } = options;
    const { drainDelay = site.isBehindService ? '3s' : '0s' } = options;
    return new HttpsListener(routes.serve, {
      ...{ name: 'webhooks', host: site.host, port, runtime },
      bodyLimit: (path) => Math.max(bodyLimit, routes.bodyLimit(path) ?? 0),
      drainDelayMs: durationMs(drainDelay, 'webhooks: drainDelay'),
      drainTimeoutMs: durationMs(drainTimeout, 'webhooks: drainTimeout'),
    });
  }
}

async function clientAuthorities(file: string | undefined): Promise<string | undefined> {
  if (file === undefined) return undefined;
  const problem = (why: string, cause?: unknown) =>
    new Error(`webhooks: clientCaFile ${file} ${why}`, { ...(cause !== undefined && { cause }) });
  const text = await readFile(file, 'utf8').catch((error: unknown) => {
    throw problem(`cannot be read: ${describeError(error)}`, error);
  });
  if (!text.includes('-----BEGIN CERTIFICATE-----')) throw problem('must hold certificates in PEM');
  return text;
}
