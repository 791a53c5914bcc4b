import type { WriteObject } from 'riata/client';
import { ClusterRole, NetworkPolicy, Service } from 'riata/kinds';
import { webhookManifests } from 'riata/webhook';
import { isPlaceholder, onlyIf } from '../chart/placeholder.js';
import type { DeploymentSite } from './deployment-site.js';

/** The Service of the metrics, and the right to read them where they are protected. */
export function metricsObjects({ operator, namespace, selector, metrics }: DeploymentSite): WriteObject[] {
  if (metrics === undefined) return [];
  const { name } = operator;
  const { port, isHttps } = metrics;
  const service = Service({
    metadata: { name: `${name}-metrics`, namespace, labels: { 'app.kubernetes.io/component': 'metrics' } },
    spec: {
      selector,
      ports: [
        { name: 'metrics', port, targetPort: 'metrics', protocol: 'TCP', ...(isHttps && { appProtocol: 'https' }) },
      ],
    },
  });
  const reader = ClusterRole({
    metadata: { name: `${name}-metrics-reader` },
    rules: [{ nonResourceURLs: ['/metrics'], verbs: ['get'] }],
  });
  return operator.options.metrics?.protected === true ? [service, reader] : [service];
}

/** A NetworkPolicy that lets in API servers, scrapers and kubelets, each on its port. */
export function networkPolicyObjects(site: DeploymentSite): WriteObject[] {
  const { operator, namespace, selector, health, metrics, webhookPort } = site;
  const { networkPolicy = true } = site.options;
  if (networkPolicy === false) return [];
  const from =
    typeof networkPolicy === 'object' && !isPlaceholder(networkPolicy) ? networkPolicy.metricsFrom : undefined;
  const open = [health?.port, webhookPort].filter((port) => port !== undefined);
  const onPort = (port: number) => ({ port, protocol: 'TCP' as const });
  const policy = NetworkPolicy({
    metadata: { name: operator.name, namespace },
    spec: {
      podSelector: { matchLabels: selector },
      policyTypes: ['Ingress'],
      // API servers and kubelets have addresses of their own, outside the network of Pods.
      ingress: [
        ...(open.length > 0 ? [{ ports: open.map(onPort) }] : []),
        ...(metrics ? [{ ...(from && { from }), ports: [onPort(metrics.port)] }] : []),
      ],
    },
  });
  return isPlaceholder(networkPolicy) ? onlyIf(networkPolicy as boolean, [policy]) : [policy];
}

/** The Service of the webhooks, their configurations, certificates if cert-manager makes them, and CRDs with conversions. */
export function webhookObjects({ operator, namespace, webhookName, ...site }: DeploymentSite): WriteObject[] {
  if (site.webhookPort === undefined) return [...site.crds] as WriteObject[];
  const { certificates, guardOwnNamespace, service } = operator.options.webhooks ?? {};
  return webhookManifests(operator.webhooks, {
    ...{ name: webhookName, namespace, selector: site.selector, port: site.webhookPort, crds: site.crds },
    ...(certificates !== undefined && { certificates }),
    ...(guardOwnNamespace !== undefined && { guardOwnNamespace }),
    ...(service && {
      service: { ...(service.name && { name: service.name }), ...(service.port && { port: service.port }) },
    }),
  });
}
