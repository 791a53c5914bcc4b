import { Service } from '../../kinds/index.js';
import type { WebhookServerOptions } from '../../manager/webhook-options.js';
import { webhookNames } from './webhook-site.js';

/** The Service that leads to a webhook server; undefined unless the options select Pods for it. */
export function serviceObject(
  site: { readonly name: string; readonly namespace: string },
  { service = {}, port: targetPort = 9443 }: Pick<WebhookServerOptions, 'service' | 'port'>,
) {
  const { selector, port = 443, name = webhookNames(site).service } = service;
  if (selector === undefined) return undefined;
  return Service({
    metadata: { name, namespace: site.namespace },
    spec: { selector, ports: [{ name: 'webhooks', port, targetPort, protocol: 'TCP' }] },
  });
}
