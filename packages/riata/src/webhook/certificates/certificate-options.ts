import type { Client } from '../../client/interfaces.js';
import type { WebhookServerOptions } from '../../manager/webhook-options.js';
import { durationMs } from '../../object/duration.js';
import type { Runtime } from '../../runtime/runtime.js';
import { webhookNames } from '../install/webhook-site.js';
import type { CertificateSource } from './certificate-source.js';
import { FileCertificates } from './file-certificates.js';
import { OwnCertificates } from './own-certificates.js';

/** Where kubebuilder mounts the Secret of a Certificate, and everyone after it. */
const mountedFiles = {
  certFile: '/tmp/k8s-webhook-server/serving-certs/tls.crt',
  keyFile: '/tmp/k8s-webhook-server/serving-certs/tls.key',
};

/** Makes the source that the options name. */
export function certificateSource(
  { certificates = 'own' }: Pick<WebhookServerOptions, 'certificates'>,
  parts: {
    readonly client: Client;
    readonly site: { readonly name: string; readonly namespace: string; readonly hosts: readonly string[] };
    readonly isPublished: (authority: string) => Promise<boolean>;
    readonly runtime: Runtime;
  },
): CertificateSource {
  const { client, site, isPublished, runtime } = parts;
  if (certificates === 'cert-manager') return new FileCertificates(mountedFiles, runtime);
  if (typeof certificates === 'object' && 'certFile' in certificates) {
    return new FileCertificates(certificates, runtime);
  }
  const own = certificates === 'own' ? {} : certificates;
  const ms = (name: 'lifetime' | 'authorityLifetime' | 'overlap', otherwise: '90d' | '3650d' | '1d') =>
    durationMs(own[name] ?? otherwise, `webhooks: certificates.${name}`);
  return new OwnCertificates({
    ...{ client, isPublished, runtime, hosts: site.hosts, namespace: site.namespace },
    secretName: own.secretName ?? webhookNames(site).secret,
    times: {
      leafMs: ms('lifetime', '90d'),
      authorityMs: ms('authorityLifetime', '3650d'),
      overlapMs: ms('overlap', '1d'),
    },
  });
}

/** The annotations that have cert-manager write its authority into `caBundle`; undefined if it has nothing to do with it. */
export function injectingAnnotations(
  { certificates }: Pick<WebhookServerOptions, 'certificates'>,
  { name, namespace }: { readonly name: string; readonly namespace: string },
): Readonly<Record<string, string>> | undefined {
  const isObject = typeof certificates === 'object' && 'certificate' in certificates;
  if (certificates !== 'cert-manager' && !isObject) return undefined;
  return { 'cert-manager.io/inject-ca-from': `${namespace}/${isObject ? certificates.certificate : name}` };
}
