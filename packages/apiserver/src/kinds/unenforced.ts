import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, stringsOf, textOf } from '../resource/metadata.js';
import type { ResourceRules } from '../resource/resource.js';

/** The start of every warning about a setting that kube-apiserver would act on and this server doesn't. */
export const unenforcedPrefix = 'not enforced by this server: ';

type Warnings = (object: JsonObject) => readonly string[];

const unvalidated =
  (kind: string): Warnings =>
  () => [`the fields of a ${kind} are not validated`];

/** kube-apiserver refuses other specs of these two. */
function fixed(kind: string): Warnings {
  return (object) => {
    const name = textOf(metaOf(object).name);
    return name === 'exempt' || name === 'catch-all' ? [`the spec of the ${kind} "${name}" is not fixed`] : [];
  };
}

/** What such an object sets in vain, by `group/plural`. docs/embedded-server.md has the same list. */
const onWrite: Readonly<Record<string, Warnings>> = {
  '/secrets': ({ type }) =>
    type === 'kubernetes.io/service-account-token'
      ? [`no token is created for Secrets of type ${type}; use a TokenRequest`]
      : [],
  '/resourcequotas': ({ spec }) =>
    Object.keys(recordOf(recordOf(spec).hard))
      .filter((name) => /deviceclass\.resource\.(k8s|kubernetes)\.io\//.test(name))
      .map((name) => `${name}: the devices of ResourceClaims are not counted`),
  'networking.k8s.io/servicecidrs': (object) =>
    metaOf(object).name === 'kubernetes' ? [] : ['Services get addresses of the ServiceCIDR "kubernetes" only'],
  'flowcontrol.apiserver.k8s.io/flowschemas': fixed('FlowSchema'),
  'flowcontrol.apiserver.k8s.io/prioritylevelconfigurations': fixed('PriorityLevelConfiguration'),
  'resource.k8s.io/deviceclasses': unvalidated('DeviceClass'),
  'resource.k8s.io/resourceclaims': unvalidated('ResourceClaim'),
  'resource.k8s.io/resourceclaimtemplates': unvalidated('ResourceClaimTemplate'),
  'resource.k8s.io/resourceslices': unvalidated('ResourceSlice'),
  'storage.k8s.io/csidrivers': unvalidated('CSIDriver'),
  'storage.k8s.io/csinodes': unvalidated('CSINode'),
  'storage.k8s.io/csistoragecapacities': unvalidated('CSIStorageCapacity'),
  'storage.k8s.io/volumeattachments': unvalidated('VolumeAttachment'),
  'storage.k8s.io/volumeattributesclasses': unvalidated('VolumeAttributesClass'),
};

/** The same for a write of the status. */
const onStatus: Readonly<Record<string, Warnings>> = {
  '/nodes': ({ status }) =>
    stringsOf(recordOf(status).declaredFeatures).length === 0
      ? []
      : ['status.declaredFeatures does not restrict changes of the Pods on the node'],
};

type WarningRules = Pick<ResourceRules, 'warnings' | 'statusWarnings'>;

/** The warnings of a kind together with those about what isn't enforced. */
export function withUnenforced(id: string, { warnings, statusWarnings }: WarningRules): WarningRules {
  const [more, moreOfStatus] = [onWrite[id], onStatus[id]];
  const named = (texts: readonly string[]) => texts.map((text) => unenforcedPrefix + text);
  return {
    ...(more && { warnings: (object, before) => [...(warnings?.(object, before) ?? []), ...named(more(object))] }),
    ...(moreOfStatus && {
      statusWarnings: (object) => [...(statusWarnings?.(object) ?? []), ...named(moreOfStatus(object))],
    }),
  };
}
