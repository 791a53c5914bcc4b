import type { KubeObject } from 'riata';
import { Pod, type PodTemplateSpec } from 'riata/kinds';
import { controllerReference } from './pods.js';

/** How a Pod is called. */
export type PodName = { readonly generateName: string } | { readonly name: string };

/** The Pod that a template of a workload asks for. */
export function podFrom(
  owner: KubeObject & { readonly metadata: { readonly namespace: string } },
  template: PodTemplateSpec | undefined,
  called: PodName,
  more: {
    readonly labels?: Readonly<Record<string, string>>;
    readonly spec?: object;
    readonly annotations?: Readonly<Record<string, string>>;
  } = {},
) {
  const { labels, annotations, finalizers } = template?.metadata ?? {};
  return Pod({
    metadata: {
      namespace: owner.metadata.namespace,
      ...called,
      labels: { ...labels, ...more.labels },
      annotations: { ...annotations, ...more.annotations },
      ...(finalizers && { finalizers }),
      ownerReferences: [controllerReference(owner)],
    },
    spec: { ...(template?.spec ?? { containers: [] }), ...more.spec },
  });
}
