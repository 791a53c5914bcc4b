import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { edit } from '../../object/value/edit.js';

/** Names a Service. */
export interface ServiceName {
  readonly namespace: string;
  readonly name: string;
}

/** The CA bundles for callers of a Service, by `namespace/name`, in base64. */
export type CaBundles = Map<string, string>;

/** How a server calls a webhook: the Service, and the CA to trust. */
interface ClientConfig {
  service?: { namespace?: string; name?: string };
  caBundle?: string;
}

/** The Services that webhooks, a conversion or an APIService name. */
export function servicesOf(object: KubeObject): ServiceName[] {
  return configsOf(object).flatMap(({ service }) => {
    return service?.namespace && service.name ? [{ namespace: service.namespace, name: service.name }] : [];
  });
}

/**
 * The object with these bundles in place; the very same if they are there. Webhooks without a bundle are left alone.
 */
export function fillBundles<T extends KubeObject>(object: T, bundles: CaBundles): T {
  const bundleFor = ({ service }: ClientConfig) => bundles.get(`${service?.namespace}/${service?.name}`);
  const isFilled = configsOf(object).every((config) => {
    const bundle = bundleFor(config);
    return bundle === undefined || bundle === config.caBundle;
  });
  if (isFilled) return object;
  return edit(object, (draft) => {
    for (const config of configsOf(draft as KubeObject)) {
      const bundle = bundleFor(config);
      if (bundle !== undefined) config.caBundle = bundle;
    }
  });
}

function configsOf(object: KubeObject): ClientConfig[] {
  const { webhooks, spec } = object as { readonly webhooks?: readonly unknown[]; readonly spec?: unknown };
  if (object.kind === 'APIService') return isJsonObject(spec) ? [spec as ClientConfig] : [];
  if (object.kind === 'CustomResourceDefinition') {
    const { conversion } = (spec ?? {}) as {
      readonly conversion?: { readonly webhook?: { clientConfig?: ClientConfig } };
    };
    return conversion?.webhook?.clientConfig === undefined ? [] : [conversion.webhook.clientConfig];
  }
  return (webhooks ?? []).flatMap((webhook) => {
    const { clientConfig } = webhook as { readonly clientConfig?: ClientConfig };
    return clientConfig === undefined ? [] : [clientConfig];
  });
}
