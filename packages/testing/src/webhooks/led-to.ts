import { MutatingWebhookConfiguration, ValidatingWebhookConfiguration } from 'riata/kinds';
import type { KubeObject } from 'riata/object';

/** How an API server reaches a webhook. */
interface Address {
  readonly url?: string;
  readonly service?: { readonly path?: string };
  readonly caBundle?: string;
}

const builders: Readonly<Record<string, (object: never) => unknown>> = {
  MutatingWebhookConfiguration,
  ValidatingWebhookConfiguration,
};

/** A webhook configuration, to be created, whose entries lead to other addresses, by the same paths. */
export function ledTo(configuration: object, address: (path: string) => Address) {
  const { kind = 'none', webhooks = [] } = configuration as KubeObject & {
    readonly webhooks?: readonly { readonly name?: string; readonly clientConfig?: Address }[];
  };
  const build = builders[kind];
  if (build === undefined) {
    const expected = Object.keys(builders).join(' or ');
    throw new TypeError(`installWebhooks: expects a ${expected}, got kind ${JSON.stringify(kind)}`);
  }
  const led = webhooks.map((webhook) => ({ ...webhook, clientConfig: address(pathOf(webhook.clientConfig)) }));
  const { apiVersion: _, kind: __, ...rest } = configuration as KubeObject;
  return build({ ...rest, webhooks: led } as never) as ReturnType<typeof ValidatingWebhookConfiguration>;
}

/** API servers call the root where a Service has no path. */
function pathOf({ url, service }: Address = {}): string {
  return url === undefined ? (service?.path ?? '/') : new URL(url).pathname;
}
