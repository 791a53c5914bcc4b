import type { WriteObject } from '../../client/interfaces.js';
import type { CertManagerOptions, WebhookServerOptions } from '../../manager/webhook-options.js';
import type { CrdManifest } from '../../object/schema/crd-manifest.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { injectingAnnotations } from '../certificates/certificate-options.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { configurationsFor, conversionsFor } from './configurations.js';
import { serviceObject } from './service-object.js';
import { serviceConfig, serviceHosts, webhookNames } from './webhook-site.js';

/** Options of {@link webhookManifests}: those that the program runs with, and its Pods. */
export interface WebhookManifestsOptions extends Pick<WebhookServerOptions, 'certificates' | 'guardOwnNamespace'> {
  /** See `WebhookServerOptions.name`. */
  readonly name: string;
  /** Where the program runs. */
  readonly namespace: string;
  /** Labels of the program's Pods. @default `app.kubernetes.io/name` with the name */
  readonly selector?: Readonly<Record<string, string>>;
  /** The port of the program. @default 9443 */
  readonly port?: number;
  /** The Service, if it has another name or port. */
  readonly service?: { readonly name?: string; readonly port?: number };
  /** Definitions of the kinds that webhooks convert: they come back with their conversion. @default none */
  readonly crds?: readonly CrdManifest[];
}

export const webhookManifestsOptionNames = optionNames<WebhookManifestsOptions>({
  name: true,
  namespace: true,
  selector: true,
  port: true,
  service: true,
  certificates: true,
  guardOwnNamespace: true,
  crds: true,
});

/**
 * The objects that webhooks need in a cluster, to be applied or written as YAML: the Service, both configurations, CRDs
 * with their conversion, and with `certificates: 'cert-manager'` a Certificate and its Issuer. No secrets: a program with
 * certificates of its own writes these itself, and every `caBundle`. Run it with the same options, and
 * `install: false` if these objects are the only source.
 *
 * @example
 * toYaml([...webhookManifests([siteRules], { name: 'site-operator', namespace: 'site-system' })]);
 */
export function webhookManifests(
  definitions: readonly Pick<WebhookDefinition, 'name' | 'targets'>[],
  options: WebhookManifestsOptions,
): WriteObject[] {
  refuseUnknownOptions('webhookManifests', options, webhookManifestsOptionNames);
  const { name, namespace, guardOwnNamespace = false, port, crds = [] } = options;
  const { selector = { 'app.kubernetes.io/name': name } } = options;
  const names = webhookNames(options);
  const service = { namespace, name: options.service?.name ?? names.service, port: options.service?.port ?? 443 };
  const annotations = injectingAnnotations(options, options);
  const parts = {
    ...{ definitions, guardOwnNamespace, annotations, isInNamespace: true },
    site: { name, namespace, configurationName: names.configuration },
    clientConfig: (path: string) => serviceConfig(service, path),
  };
  const { mutating, validating } = configurationsFor(parts);
  const conversions = conversionsFor(parts);
  const missing = conversions.find((conversion) => !crds.some(({ metadata }) => metadata.name === conversion.name));
  if (missing !== undefined) {
    throw new TypeError(
      `webhookManifests: crds must include ${missing.name}, which a webhook converts; add Kind.crd()`,
    );
  }
  const objects = [
    serviceObject(options, { ...(port !== undefined && { port }), service: { ...options.service, selector } }),
    ...(annotations === undefined ? [] : certManagerObjects(options, service)),
    ...[mutating, validating].filter(({ webhooks = [] }) => webhooks.length > 0),
    ...crds.map((crd) => {
      const conversion = conversions.find((each) => each.name === crd.metadata.name)?.conversion;
      if (conversion === undefined) return crd as WriteObject;
      const metadata = {
        ...crd.metadata,
        ...(annotations && { annotations: { ...crd.metadata.annotations, ...annotations } }),
      };
      return { ...crd, metadata, spec: { ...crd.spec, conversion } } as WriteObject;
    }),
  ];
  return objects.filter((object) => object !== undefined);
}

/** A Certificate for the Service, and an Issuer that signs it with the certificate's own key. */
function certManagerObjects(
  { name, namespace, certificates }: WebhookManifestsOptions,
  service: { readonly name: string; readonly namespace: string },
): WriteObject[] {
  const certificate = typeof certificates === 'object' ? (certificates as CertManagerOptions).certificate : name;
  const apiVersion = 'cert-manager.io/v1';
  const issuer = { apiVersion, kind: 'Issuer', metadata: { name, namespace }, spec: { selfSigned: {} } };
  const spec = {
    secretName: webhookNames({ name, namespace }).secret,
    dnsNames: serviceHosts(service),
    issuerRef: { kind: 'Issuer', name },
  };
  return [issuer, { apiVersion, kind: 'Certificate', metadata: { name: certificate, namespace }, spec } as WriteObject];
}
