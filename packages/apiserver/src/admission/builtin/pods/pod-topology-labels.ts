import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, textOf, withMeta } from '../../../resource/metadata.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionPlugin } from '../../admission.js';
import { findObject, synchronousPlugin } from '../synchronous-plugin.js';

const copied = ['topology.kubernetes.io/zone', 'topology.kubernetes.io/region'];

/** Copies a node's zone and region to the labels of Pods that are created on it or bound to it (`PodTopologyLabels`). */
export function podTopologyLabels({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const labelsOf = (node: string): JsonObject => {
    const labels = recordOf(metaOf(findObject(storage, '/nodes', node) ?? {}).labels);
    return Object.fromEntries(Object.entries(labels).filter(([name]) => copied.includes(name)));
  };
  return synchronousPlugin({
    name: 'PodTopologyLabels',
    handles: ({ operation, resource, subresource }) =>
      operation === 'CREATE' && resource.table === '/pods' && (subresource === '' || subresource === 'binding'),
    change(object, { subresource }) {
      const { kind, name } = recordOf(object.target);
      const node = subresource === '' ? recordOf(object.spec).nodeName : kind === 'Node' ? name : '';
      const labels = textOf(node) === '' ? {} : labelsOf(textOf(node));
      if (Object.keys(labels).length === 0) return object;
      return withMeta(object, { labels: { ...recordOf(metaOf(object).labels), ...labels } });
    },
  });
}
