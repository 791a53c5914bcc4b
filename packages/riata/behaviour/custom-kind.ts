import type { Client } from '../src/client/index.js';
import { CustomResourceDefinition } from '../src/kinds/index.js';
import { type Kind, makeKind, type NamespacedMeta, type WriteOf } from '../src/object/kind.js';
import type { KubeObject } from '../src/object/meta.js';
import { uniqueName, until } from './servers.js';

/** An object of a custom kind, of whatever shape. */
export interface Widget extends KubeObject {
  readonly metadata: NamespacedMeta;
  readonly spec?: { readonly [field: string]: unknown };
  readonly status?: { readonly [field: string]: unknown };
}

export type WidgetKind = Kind<Widget, WriteOf<Widget>, 'Namespaced'>;

type Version = Parameters<typeof CustomResourceDefinition>[0]['spec']['versions'][number];

/**
 * Installs a custom kind of a group that no other test has, with status and scale, and waits until it is served. Takes
 * any field unless `version` has a schema of its own.
 */
export async function installKind(client: Client, version: Partial<Version> = {}): Promise<WidgetKind> {
  const group = `${uniqueName('g')}.riata.dev`;
  const names = { kind: 'Widget', plural: 'widgets', singular: 'widget', shortNames: ['wdg'] };
  const Widget: WidgetKind = makeKind({ group, version: 'v1', scope: 'Namespaced', ...names });
  await client.create(
    CustomResourceDefinition({
      metadata: { name: `widgets.${group}` },
      spec: {
        group,
        scope: 'Namespaced',
        names,
        versions: [{ name: 'v1', served: true, storage: true, ...anyFields, ...version }],
      },
    }),
  );
  await until(`${group} is served`, async () => {
    const crd = await client.get(CustomResourceDefinition, { name: `widgets.${group}` });
    if (!crd.status?.conditions?.some((c) => c.type === 'Established' && c.status === 'True')) return false;
    // Established is said a moment before the handlers are in place.
    return client.list(Widget).catch(() => undefined);
  });
  return Widget;
}

const anyFields: Partial<Version> = {
  schema: { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } },
  subresources: {
    status: {},
    scale: { specReplicasPath: '.spec.replicas', statusReplicasPath: '.status.replicas' },
  },
};
