import type { LabelSelector, OwnerReference, TypeMeta } from '../../object/meta.js';
import { listAt, mapAt, textAt } from '../../object/value/value-at.js';
import type { Relationship, Summarizer } from './summary-draft.js';

/** Kinds that make Pods by a template. */
const workload = /^(?:apps|extensions)\/[^/]+ (?:ReplicaSet|DaemonSet|StatefulSet|Deployment)$|^batch\/[^/]+ Job$/;

export function isPod({ apiVersion, kind }: TypeMeta): boolean {
  return apiVersion === 'v1' && kind === 'Pod';
}

/** Owners, whom owner references name. */
export const checkOwner: Summarizer = (object, _, draft) => {
  const refs = listAt(object, 'metadata', 'ownerReferences') as readonly OwnerReference[];
  const found = refs.map(({ name, kind, apiVersion, controller }): Relationship => {
    return { name, kind, apiVersion, type: 'owner', inbound: true, ...(controller && { controlledBy: true }) };
  });
  return { ...draft, relationships: [...draft.relationships, ...found] };
};

/** The owner of the set that an object is in, where no owner reference says it. */
export const checkApplyOwned: Summarizer = (object, _, draft) => {
  if (listAt(object, 'metadata', 'ownerReferences').length > 0) return draft;
  const annotation = (name: string) => textAt(object, 'metadata', 'annotations', `objectset.rio.cattle.io/${name}`);
  const [apiVersion, kind] = annotation('owner-gvk')?.split(', Kind=') ?? [];
  if (!apiVersion || !kind) return draft;
  const [name, namespace] = [annotation('owner-name'), annotation('owner-namespace')];
  // Kinds of the core group are written with an empty group.
  const owner: Relationship = {
    ...{ kind, apiVersion: apiVersion.replace(/^\//, ''), type: 'applies', inbound: true },
    ...(name !== undefined && { name }),
    ...(namespace !== undefined && { namespace }),
  };
  return { ...draft, relationships: [...draft.relationships, owner] };
};

/** The Pods that an object makes or selects. */
export const checkPodSelector: Summarizer = (object, _, draft) => {
  const selector = mapAt(object, 'spec', 'selector');
  const isService = object.apiVersion === 'v1' && object.kind === 'Service';
  if (selector === undefined || !(isService || workload.test(`${object.apiVersion} ${object.kind}`))) return draft;
  const isFull = 'matchLabels' in selector || 'matchExpressions' in selector;
  const pods: Relationship = {
    ...{ kind: 'Pod', apiVersion: 'v1', type: isService ? 'selects' : 'creates' },
    selector: (isFull ? selector : { matchLabels: selector }) as LabelSelector,
  };
  return { ...draft, relationships: [...draft.relationships, pods] };
};

/** The objects that a Pod, or the Pods of a template, use. */
export const checkPodUses: Summarizer = (object, _, draft) => {
  const isWorkload = workload.test(`${object.apiVersion} ${object.kind}`);
  if (!isPod(object) && !isWorkload) return draft;
  const spec = isPod(object) ? mapAt(object, 'spec') : mapAt(object, 'spec', 'template', 'spec');
  const uses = new Map<string, Relationship>();
  const use = (kind: string, name: string | undefined) => {
    if (name !== undefined) uses.set(`${kind} ${name}`, { name, kind, apiVersion: 'v1', type: 'uses' });
  };
  const useBoth = (from: unknown, configMap: readonly string[], secret: readonly string[]) => {
    use('ConfigMap', textAt(from, ...configMap));
    use('Secret', textAt(from, ...secret));
  };
  for (const volume of listAt(spec, 'volumes')) {
    useBoth(volume, ['configMap', 'name'], ['secret', 'secretName']);
    use('PersistentVolumeClaim', textAt(volume, 'persistentVolumeClaim', 'claimName'));
    for (const source of listAt(volume, 'projected', 'sources')) {
      useBoth(source, ['configMap', 'name'], ['secret', 'name']);
    }
  }
  for (const container of [...listAt(spec, 'initContainers'), ...listAt(spec, 'containers')]) {
    for (const from of listAt(container, 'envFrom')) useBoth(from, ['configMapRef', 'name'], ['secretRef', 'name']);
    for (const variable of listAt(container, 'env')) {
      useBoth(variable, ['valueFrom', 'configMapKeyRef', 'name'], ['valueFrom', 'secretKeyRef', 'name']);
    }
  }
  use('ServiceAccount', textAt(spec, 'serviceAccountName'));
  for (const secret of listAt(spec, 'imagePullSecrets')) use('Secret', textAt(secret, 'name'));
  return { ...draft, relationships: [...draft.relationships, ...uses.values()] };
};

/** The objects that a release has installed, by Rancher's catalog. */
export const checkRelease: Summarizer = (object, _, draft) => {
  if (object.kind !== 'App' || !object.apiVersion.startsWith('catalog.cattle.io/')) return draft;
  if (textAt(object, 'status', 'summary', 'state') !== 'deployed') return draft;
  const found = listAt(object, 'spec', 'resources').map((resource): Relationship => {
    const [name, namespace] = [textAt(resource, 'name'), textAt(resource, 'namespace')];
    const [kind, apiVersion] = [textAt(resource, 'kind') ?? '', textAt(resource, 'apiVersion') ?? ''];
    return { name, namespace, kind, apiVersion, type: 'helmresource' };
  });
  return { ...draft, relationships: [...draft.relationships, ...found] };
};
