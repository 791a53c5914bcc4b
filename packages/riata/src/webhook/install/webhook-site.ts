import { readFile } from 'node:fs/promises';
import process from 'node:process';
import type { WebhookClientConfig } from '../../kinds/generated/types/admissionregistration-v1.js';
import type { WebhookServerOptions } from '../../manager/webhook-options.js';

/** Where a webhook server is: what its objects are called, and how API servers reach it. */
export interface WebhookSite {
  readonly name: string;
  /** Of the program, its Secret and its Service. */
  readonly namespace: string;
  /** Of the webhook configurations, which are cluster-scoped. */
  readonly configurationName: string;
  /** API servers reach it by a Service, so that any replica may answer. */
  readonly isBehindService: boolean;
  /** What it listens on; all interfaces if undefined. */
  readonly host: string | undefined;
  /** The names and addresses that API servers call it by. */
  readonly hosts: readonly string[];
  /** How API servers reach a path of it, once it listens on this port. */
  clientConfig(path: string, port: number): WebhookClientConfig;
}

/** What decides on a {@link WebhookSite} besides options. */
export interface SiteParts {
  /** Without a name among the options. @default 'riata-webhooks' */
  readonly name?: string | undefined;
  /** That of the connection. */
  readonly namespace?: string | undefined;
  /** @default the environment of the process */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const namespaceFile = '/var/run/secrets/kubernetes.io/serviceaccount/namespace';

/** The names of the objects of a webhook server; the same in a running program and in manifests. */
export function webhookNames(options: { readonly name: string; readonly namespace: string }) {
  const { name, namespace } = options;
  return { configuration: `${name}.${namespace}`, secret: `${name}-tls`, lease: `${name}-webhooks`, service: name };
}

/** Finds out where a server with these options is: in a Pod, behind a Service, or anywhere, at a URL. */
export async function resolveSite(options: WebhookServerOptions, parts: SiteParts = {}): Promise<WebhookSite> {
  const { env = process.env } = parts;
  const isPod = (env.KUBERNETES_SERVICE_HOST ?? '') !== '';
  const isBehindService = options.url === undefined && (options.service !== undefined || isPod);
  const name = options.name ?? options.service?.name ?? parts.name ?? 'riata-webhooks';
  const namespace = options.namespace ?? parts.namespace ?? (await podNamespace(env, isPod)) ?? 'default';
  const names = webhookNames({ name, namespace });
  const site = { name, namespace, configurationName: names.configuration, isBehindService };
  if (isBehindService) {
    const service = { namespace, name: options.service?.name ?? names.service, port: options.service?.port ?? 443 };
    return {
      ...site,
      host: options.host,
      hosts: serviceHosts(service),
      clientConfig: (path) => serviceConfig(service, path),
    };
  }
  const host = options.host ?? '127.0.0.1';
  const { url } = options;
  return {
    ...site,
    host,
    hosts: [url === undefined ? host : new URL(url).hostname.replace(/^\[(.*)\]$/, '$1')],
    clientConfig: (path, port) => ({
      url: `${url?.replace(/\/+$/, '') ?? `https://${bracketed(host)}:${port}`}${path}`,
    }),
  };
}

export function serviceConfig(
  { namespace, name, port }: { readonly namespace: string; readonly name: string; readonly port: number },
  path: string,
): WebhookClientConfig {
  return { service: { namespace, name, path, port } };
}

/** The names that a Service is called by. */
export function serviceHosts({ name, namespace }: { readonly name: string; readonly namespace: string }): string[] {
  return [`${name}.${namespace}.svc`, `${name}.${namespace}`, `${name}.${namespace}.svc.cluster.local`];
}

/** A host as it stands in a URL. */
export function bracketed(host: string): string {
  return host.includes(':') ? `[${host}]` : host;
}

async function podNamespace(
  env: Readonly<Record<string, string | undefined>>,
  isPod: boolean,
): Promise<string | undefined> {
  if (env.POD_NAMESPACE) return env.POD_NAMESPACE;
  if (!isPod) return undefined;
  const text = await readFile(namespaceFile, 'utf8').catch(() => '');
  return text.trim() || undefined;
}
