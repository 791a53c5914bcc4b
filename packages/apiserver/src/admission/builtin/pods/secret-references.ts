import type { JsonObject } from 'riata/object';
import { isGiven, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';

const lists = {
  initContainers: 'init container',
  containers: 'container',
  ephemeralContainers: 'ephemeral container',
} as const;

/** Volume sources with a reference to a Secret, and the field that it is in. */
const secretFields = {
  cephfs: 'secretRef',
  cinder: 'secretRef',
  flexVolume: 'secretRef',
  iscsi: 'secretRef',
  rbd: 'secretRef',
  scaleIO: 'secretRef',
  storageos: 'secretRef',
  csi: 'nodePublishSecretRef',
  azureFile: 'secretName',
  secret: 'secretName',
} as const;

/** Whether a Pod refers to any Secret. */
export function hasSecrets(spec: JsonObject): boolean {
  if (recordsOf(spec.imagePullSecrets).length > 0) return true;
  const inContainers = Object.keys(lists).some((list) =>
    recordsOf(spec[list]).some((container) => referencesOf(container, '').length > 0),
  );
  return inContainers || recordsOf(spec.volumes).some(hasSecret);
}

function hasSecret(volume: JsonObject): boolean {
  const isDirect = Object.entries(secretFields).some(([type, field]) => isGiven(recordOf(volume[type])[field]));
  return isDirect || recordsOf(recordOf(volume.projected).sources).some(({ secret }) => isGiven(secret));
}

/** Why a Pod may not use a Secret that its account doesn't list; undefined if it may use all of them. */
export function secretProblem(spec: JsonObject, account: JsonObject, ephemeral: boolean): string | undefined {
  const name = textOf(recordOf(account.metadata).name);
  const names = (list: string) => recordsOf(account[list]).map((one) => textOf(one.name));
  const mountable = names('secrets');
  const words = `is not allowed because service account ${name} does not reference that`;
  const inContainers = (list: keyof typeof lists) =>
    recordsOf(spec[list]).flatMap((container) =>
      referencesOf(container, lists[list])
        .filter(({ secret }) => !mountable.includes(secret))
        .map(({ where, secret }) => `${where} referencing secret.secretName="${secret}" ${words} secret`),
    );
  if (ephemeral) return inContainers('ephemeralContainers')[0];
  const pullable = names('imagePullSecrets');
  const inVolumes = recordsOf(spec.volumes)
    .filter(({ secret }) => isGiven(secret))
    .map(({ secret }) => textOf(recordOf(secret).secretName))
    .filter((secret) => !mountable.includes(secret))
    .map((secret) => `volume with secret.secretName="${secret}" ${words} secret`);
  const pulled = recordsOf(spec.imagePullSecrets).flatMap((one, index) =>
    pullable.includes(textOf(one.name))
      ? []
      : [`imagePullSecrets[${index}].name="${textOf(one.name)}" ${words} imagePullSecret`],
  );
  return [...inVolumes, ...inContainers('initContainers'), ...inContainers('containers'), ...pulled][0];
}

/** The Secrets in the environment of a container. */
function referencesOf(container: JsonObject, called: string): { where: string; secret: string }[] {
  const at = `${called} ${textOf(container.name)}`;
  return [
    ...recordsOf(container.env).flatMap(({ name, valueFrom }) => {
      const { secretKeyRef } = recordOf(valueFrom);
      if (!isGiven(secretKeyRef)) return [];
      return [{ where: `${at} with envVar ${textOf(name)}`, secret: textOf(recordOf(secretKeyRef).name) }];
    }),
    ...recordsOf(container.envFrom).flatMap(({ secretRef }) =>
      isGiven(secretRef) ? [{ where: `${at} with envFrom`, secret: textOf(recordOf(secretRef).name) }] : [],
    ),
  ];
}
