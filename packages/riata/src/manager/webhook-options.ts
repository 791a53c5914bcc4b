import { type Duration, durationMs } from '../object/duration.js';
import { optionNames, refuseUnknownOptions } from '../runtime/option-names.js';
import type { WebhookListener } from '../webhook/webhook-listener.js';
import type { WebhookRecord } from '../webhook/webhook-route.js';
import type { CertificateFiles } from './probes/certificate-files.js';

/** A certificate authority and serving certificate of one's own, in a Secret that all replicas share. */
export interface OwnCertificateOptions {
  /** In the namespace of the program. @default the name of the webhooks with `-tls` */
  readonly secretName?: string;
  /** Validity of a serving certificate; renewed when a third of it is left. @default '90d' */
  readonly lifetime?: Duration;
  /** Validity of an authority; the next one is published before it ends. @default '3650d' */
  readonly authorityLifetime?: Duration;
  /**
   * How long a new authority is in every `caBundle` before it signs, and an old one after that: longer than it takes a
   * replica or an API server to notice a change. @default '1d'
   */
  readonly overlap?: Duration;
}

/** Files that are read again when they change; see `WebhookServerOptions.certificates`. */
export interface WebhookCertificateFiles extends CertificateFiles {
  /** The authorities for every `caBundle`, in PEM. @default nobody writes them: the configurations have them */
  readonly caFile?: string;
}

/** Files that cert-manager keeps, from a Certificate whose authority its injector writes into every `caBundle`. */
export interface CertManagerOptions extends CertificateFiles {
  /** The Certificate, in the namespace of the program. @default the name of the webhooks */
  readonly certificate: string;
}

/** Where a Service is that leads to the webhook server. */
export interface WebhookServiceOptions {
  /** @default the name of the webhooks */
  readonly name?: string;
  /** @default 443 */
  readonly port?: number;
  /** Labels of the program's Pods. Given, the program writes the Service when it starts. @default your manifests have it */
  readonly selector?: Readonly<Record<string, string>>;
}

/** Options of the server for webhooks: certificates, configurations, address (`webhook.Options`). */
export interface WebhookServerOptions {
  /** Of the Service and of the configurations; another one for each operator of a namespace. @default that of the leader election's Lease, or 'riata-webhooks' */
  readonly name?: string;
  /** Where the program runs, with its Secret and Service. @default that of the Pod, or of the kubeconfig */
  readonly namespace?: string;
  /** @default all interfaces in a cluster, loopback outside */
  readonly host?: string;
  /** 0: any that is free. @default 9443 */
  readonly port?: number;
  /** How API servers reach it, outside a cluster: `https://host:port`. @default the address that it listens on */
  readonly url?: string;
  /** How API servers reach it, in a cluster. @default a Service with the name of the webhooks */
  readonly service?: WebhookServiceOptions;
  /**
   * `'own'`: an authority and a certificate of its own, in a Secret, renewed in time and written into every `caBundle`.
   * `'cert-manager'`: files that a Certificate of cert-manager is mounted as, in
   * `/tmp/k8s-webhook-server/serving-certs`. Or other files, which are checked every ten seconds. @default 'own'
   */
  readonly certificates?: 'own' | 'cert-manager' | OwnCertificateOptions | CertManagerOptions | WebhookCertificateFiles;
  /** PEM file of the authorities of callers: others are refused (`ClientCAName`). @default callers need no certificate */
  readonly clientCaFile?: string;
  /**
   * Writes the webhook configurations and the conversions of CRDs, and restores them when someone changes them. False:
   * your manifests have them, and only their `caBundle` is kept. @default true
   */
  readonly install?: boolean;
  /**
   * Leaves the configurations in place when the program stops. False removes them: without a server, writes of guarded
   * kinds would fail. @default true in a cluster, where other replicas or the next one serve; false outside
   */
  readonly keepOnStop?: boolean;
  /**
   * Guards the namespace of the program, too. Then a webhook that is down may keep its own Pods from starting.
   * @default false
   */
  readonly guardOwnNamespace?: boolean;
  /** Larger requests get 413, in bytes. @default 7 MiB, as in controller-runtime */
  readonly bodyLimit?: number;
  /**
   * How long it keeps serving after a stop was requested: until no API server sends new requests. @default '3s' behind a Service,
   * '0s' otherwise
   */
  readonly drainDelay?: Duration;
  /** How long requests in flight may take then. @default '10s' */
  readonly drainTimeout?: Duration;
  /** Takes requests in another way than HTTPS, for tests. @default HTTPS */
  readonly listener?: WebhookListener;
}

export const ownCertificateOptionNames = optionNames<OwnCertificateOptions>({
  secretName: true,
  lifetime: true,
  authorityLifetime: true,
  overlap: true,
});

const certificateFileNames = optionNames<CertManagerOptions & WebhookCertificateFiles>({
  certFile: true,
  keyFile: true,
  caFile: true,
  certificate: true,
});

const serviceOptionNames = optionNames<WebhookServiceOptions>({ name: true, port: true, selector: true });

export const webhookServerOptionNames = optionNames<WebhookServerOptions>({
  name: true,
  namespace: true,
  host: true,
  port: true,
  url: true,
  service: true,
  certificates: true,
  clientCaFile: true,
  install: true,
  keepOnStop: true,
  guardOwnNamespace: true,
  bodyLimit: true,
  drainDelay: true,
  drainTimeout: true,
  listener: true,
});

/** Throws a `TypeError` for what is wrong with options. `subject` names their owner. */
export function checkWebhookOptions(subject: string, options: WebhookServerOptions | undefined): void {
  if (options === undefined) return;
  const { certificates, service, port = 9443, bodyLimit, url, drainDelay, drainTimeout } = options;
  if (typeof certificates === 'object') {
    const known = 'certFile' in certificates ? certificateFileNames : ownCertificateOptionNames;
    refuseUnknownOptions(`${subject}: certificates`, certificates, known);
  } else if (certificates !== undefined && certificates !== 'own' && certificates !== 'cert-manager') {
    const got = JSON.stringify(certificates);
    throw new TypeError(`${subject}: certificates must be 'own', 'cert-manager' or an object with files, got ${got}`);
  }
  refuseUnknownOptions(`${subject}: service`, service, serviceOptionNames);
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw new TypeError(`${subject}: port must be an integer from 0 to 65535, got ${port}`);
  }
  if (bodyLimit !== undefined && !(Number.isInteger(bodyLimit) && bodyLimit > 0)) {
    throw new TypeError(`${subject}: bodyLimit must be an integer ≥ 1, in bytes, got ${bodyLimit}`);
  }
  if (url !== undefined && service !== undefined) {
    throw new TypeError(`${subject}: give either url or service: API servers reach webhooks by one of them`);
  }
  if (url !== undefined && !(URL.canParse(url) && new URL(url).protocol === 'https:')) {
    throw new TypeError(`${subject}: url must be an https: URL, got ${JSON.stringify(url)}`);
  }
  if (drainDelay !== undefined) durationMs(drainDelay, `${subject}: drainDelay`);
  if (drainTimeout !== undefined) durationMs(drainTimeout, `${subject}: drainTimeout`);
}

/** The part of a manager that serves webhooks, as the manager itself sees it. */
export interface ManagedWebhooks {
  /** Where it listens; undefined before it does. */
  readonly url: string | undefined;
  /** When its certificate expires, in milliseconds since the epoch; undefined without one. */
  readonly certificateExpiresAt?: number | undefined;
  /** Finished calls, oldest first. */
  readonly calls: readonly WebhookRecord[];
}

/** Under which a manager keeps its {@link ManagedWebhooks}; see `Manager.extension`. */
export const webhooksExtension: unique symbol = Symbol('riata.webhooks');
