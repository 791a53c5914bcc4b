import { equal, type Json, type JsonObject, parseQuantity } from 'riata/object';
import { isGiven, metaOf, recordOf, textOf } from '../../resource/metadata.js';
import { dnsSubdomain } from '../../schema/name-rules.js';
import { checkImmutable } from '../../schema/object-meta.js';
import { type FieldError, forbidden, invalid, notSupported, required, tooLong } from '../../status/field-error.js';
import { checkEnum, checkText } from '../checks/basic-checks.js';
import { goDiff } from '../checks/go-diff.js';
import type { KindRules } from '../kind-rules.js';
import { checkNodeSelector } from '../pods/checks/affinity-checks.js';
import { checkNoBacksteps } from '../pods/checks/path-checks.js';
import { oldVolumes } from '../pods/old-volumes.js';
import { rounded } from '../pods/pod-defaults.js';
import { type FieldCheck, needs } from '../pods/volume-files.js';
import { checkAccessModes } from './check-access-modes.js';
import { volumeSourceInGo } from './go-forms.js';

const hostPathTypes = [
  ...['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'],
];
const secretRefs = [
  'controllerPublishSecretRef',
  'controllerExpandSecretRef',
  'nodePublishSecretRef',
  'nodeExpandSecretRef',
];
const deprecated: Readonly<Record<string, string>> = {
  cephfs: 'spec.cephfs: deprecated in v1.28, non-functional in v1.31+',
  photonPersistentDisk: 'spec.photonPersistentDisk: deprecated in v1.11, non-functional in v1.16+',
  scaleIO: 'spec.scaleIO: deprecated in v1.16, non-functional in v1.22+',
  storageos: 'spec.storageOS: deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'spec.glusterfs: deprecated in v1.25, non-functional in v1.26+',
  rbd: 'spec.rbd: deprecated in v1.28, non-functional in v1.31+',
};
const mountable = [
  ...['gcePersistentDisk', 'awsElasticBlockStore', 'glusterfs', 'nfs', 'rbd', 'quobyte', 'iscsi', 'cinder', 'cephfs'],
  ...['azureFile', 'vsphereVolume', 'azureDisk', 'photonPersistentDisk'],
];
const oldAnnotations: Readonly<Record<string, string>> = {
  'volume.beta.kubernetes.io/storage-class': 'deprecated since v1.8; use "storageClassName" attribute instead',
  'volume.beta.kubernetes.io/mount-options': 'deprecated since v1.31; use "mountOptions" attribute instead',
};

/** Where the data is: of all these, there is one. */
const sources: Readonly<Record<string, FieldCheck>> = {
  hostPath: ({ path: text, type }, path) =>
    textOf(text) === ''
      ? [required(`${path}.path`)]
      : [...checkNoBacksteps(textOf(text), `${path}.path`), ...checkEnum(type, hostPathTypes, `${path}.type`)],
  ...oldVolumes,
  nfs: (nfs, path) => [
    ...needs('server', 'path')(nfs, path),
    ...(textOf(nfs.path).startsWith('/')
      ? []
      : [invalid(`${path}.path`, textOf(nfs.path), 'must be an absolute path')]),
  ],
  local: ({ path: text }, path) =>
    textOf(text) === '' ? [required(`${path}.path`)] : checkNoBacksteps(textOf(text), `${path}.path`),
  csi: checkCsi,
};

export const persistentVolumeRules: KindRules = {
  defaults: {
    'spec.persistentVolumeReclaimPolicy': 'Retain',
    'spec.volumeMode': 'Filesystem',
    'spec.capacity': rounded,
    'spec.hostPath.type': '',
    'spec.rbd.pool': 'rbd',
    'spec.rbd.user': 'admin',
    'spec.rbd.keyring': '/etc/ceph/keyring',
    'spec.iscsi.iscsiInterface': 'default',
    'spec.azureDisk.cachingMode': 'ReadWrite',
    'spec.azureDisk.kind': 'Shared',
    'spec.azureDisk.fsType': 'ext4',
    'spec.azureDisk.readOnly': false,
    'spec.scaleIO.storageMode': 'ThinProvisioned',
    'spec.scaleIO.fsType': 'xfs',
    'status.phase': 'Pending',
  },
  prepare(object, before, { now, subresource }) {
    if (before === undefined) {
      const status = { phase: 'Pending', lastPhaseTransitionTime: now };
      return { ...object, status };
    }
    return subresource === 'status' ? withTransition(object, before, now) : object;
  },
  validate: (object) => [...checkSpec(recordOf(object.spec), 'spec'), ...checkMountOptions(object)],
  validateUpdate: checkChange,
  warnings(object) {
    const spec = recordOf(object.spec);
    const annotations = recordOf(metaOf(object).annotations);
    const recycle =
      'spec.persistentVolumeReclaimPolicy: The Recycle reclaim policy is deprecated. Instead, the recommended approach is to use dynamic provisioning.';
    return [
      ...Object.entries(oldAnnotations).flatMap(([key, text]) =>
        isGiven(annotations[key]) ? [`metadata.annotations[${key}]: ${text}`] : [],
      ),
      ...(spec.persistentVolumeReclaimPolicy === 'Recycle' ? [recycle] : []),
      ...Object.entries(deprecated).flatMap(([source, text]) => (isGiven(spec[source]) ? [text] : [])),
    ];
  },
};

/** Options by annotation, which only some kinds of volumes have known. */
function checkMountOptions(object: JsonObject): FieldError[] {
  const key = 'volume.beta.kubernetes.io/mount-options';
  const isGivenTo = (source: string) => isGiven(recordOf(object.spec)[source]);
  if (!isGiven(recordOf(metaOf(object).annotations)[key]) || mountable.some(isGivenTo)) return [];
  return [forbidden(`metadata.annotations.${key}`, 'may not specify mount options for this volume type')];
}

/** When the phase changed last, unless the writer says it. */
function withTransition(object: JsonObject, before: JsonObject, now: string): JsonObject {
  const [status, old] = [recordOf(object.status), recordOf(before.status)];
  const [given, known] = [status.lastPhaseTransitionTime, old.lastPhaseTransitionTime];
  const isSame = status.phase === old.phase;
  const time = isSame ? (given ?? known) : isGiven(given) && given !== known ? given : now;
  return time === undefined ? object : { ...object, status: { ...status, lastPhaseTransitionTime: time } };
}

function checkSpec(spec: JsonObject, path: string): FieldError[] {
  const { nodeAffinity, volumeAttributesClassName: attributes } = spec;
  const className = textOf(spec.storageClassName);
  const isRoot = /^\/+$/.test(textOf(recordOf(spec.hostPath).path));
  return [
    ...checkAccessModes(spec.accessModes, `${path}.accessModes`),
    ...checkCapacity(recordOf(spec.capacity), `${path}.capacity`),
    ...checkEnum(
      spec.persistentVolumeReclaimPolicy,
      ['Delete', 'Recycle', 'Retain'],
      `${path}.persistentVolumeReclaimPolicy`,
    ),
    ...(isGiven(nodeAffinity) ? checkAffinity(recordOf(nodeAffinity), `${path}.nodeAffinity`) : []),
    ...checkSource(spec, path),
    ...(isRoot && spec.persistentVolumeReclaimPolicy === 'Recycle'
      ? [forbidden(`${path}.persistentVolumeReclaimPolicy`, "may not be 'recycle' for a hostPath mount of '/'")]
      : []),
    ...(className === '' ? [] : checkText(dnsSubdomain, className, `${path}.storageClassName`)),
    ...checkEnum(spec.volumeMode, ['Block', 'Filesystem'], `${path}.volumeMode`),
    ...(isGiven(attributes) ? checkAttributes(textOf(attributes), spec, path) : []),
  ];
}

function checkAttributes(name: string, { csi }: JsonObject, path: string): FieldError[] {
  const at = `${path}.volumeAttributesClassName`;
  return [
    ...(name === '' ? [required(at, 'an empty string is disallowed')] : checkText(dnsSubdomain, name, at)),
    ...(isGiven(csi) ? [] : [required(`${path}.csi`, 'has to be specified when using volumeAttributesClassName')]),
  ];
}

function checkCapacity(capacity: JsonObject, path: string): FieldError[] {
  const entries = Object.entries(capacity);
  const isOne = entries.length === 1 && Object.hasOwn(capacity, 'storage');
  return [
    ...(entries.length === 0 ? [required(path)] : []),
    ...(isOne ? [] : [notSupported(path, entries.length === 0 ? null : capacity, ['storage'])]),
    ...entries.flatMap(([name, amount]) => checkPositive(amount, `${path}[${name}]`)),
  ];
}

function checkPositive(amount: Json | undefined, path: string): FieldError[] {
  const quantity = parseQuantity(String(amount));
  if (quantity.sign() > 0) return [];
  const errors =
    quantity.sign() < 0 ? [invalid(path, Number(quantity.value()), 'must be a valid resource quantity')] : [];
  return [...errors, invalid(path, String(amount), 'must be greater than zero')];
}

function checkAffinity({ required: terms }: JsonObject, path: string): FieldError[] {
  if (!isGiven(terms)) return [required(`${path}.required`, 'must specify required node constraints')];
  return checkNodeSelector(recordOf(terms), `${path}.required`);
}

function checkSource(spec: JsonObject, path: string): FieldError[] {
  const [first, ...others] = Object.keys(sources).filter((source) => isGiven(spec[source]));
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const errors = sources[first]?.(recordOf(spec[first]), `${path}.${first}`) ?? [];
  return [
    ...errors,
    ...others.map((source) => forbidden(`${path}.${source}`, 'may not specify more than 1 volume type')),
    ...(first === 'local' && !isGiven(spec.nodeAffinity)
      ? [required(`${path}.nodeAffinity`, 'Local volume requires node affinity')]
      : []),
  ];
}

function checkCsi(csi: JsonObject, path: string): FieldError[] {
  const driver = textOf(csi.driver);
  return [
    ...(driver === '' ? [required(`${path}.driver`)] : []),
    ...(driver.length > 63 ? [tooLong(`${path}.driver`, 63)] : []),
    ...(driver === ''
      ? []
      : dnsSubdomain(driver.toLowerCase()).map((problem) => invalid(`${path}.driver`, driver, problem))),
    ...needs('volumeHandle')(csi, path),
    ...secretRefs.flatMap((ref) =>
      isGiven(csi[ref]) ? needs('name', 'namespace')(recordOf(csi[ref]), `${path}.${ref}`) : [],
    ),
  ];
}

/** The data stays where it is. */
function checkChange(object: JsonObject, before: JsonObject): FieldError[] {
  const [spec, old] = [recordOf(object.spec), recordOf(before.spec)];
  const wasUnset = isGiven(old.csi) && !isGiven(recordOf(old.csi).controllerExpandSecretRef);
  const { controllerExpandSecretRef: _, ...csi } = recordOf(spec.csi);
  const now = wasUnset && isGiven(spec.csi) ? { ...spec, csi } : spec;
  const changed = Object.keys(sources).filter((source) => !equal(now[source] ?? null, old[source] ?? null));
  const words = 'spec.persistentvolumesource is immutable after creation';
  const wasClassed = isGiven(old.volumeAttributesClassName) && !isGiven(spec.volumeAttributesClassName);
  const [from, to] = [volumeSourceInGo(old), volumeSourceInGo(now)];
  const shown = from === undefined || to === undefined ? `${changed.join('\n')}\n` : goDiff(from, to);
  return [
    ...(changed.length === 0 ? [] : [forbidden('spec.persistentvolumesource', `${words}\n${shown}`)]),
    ...checkImmutable(spec.volumeMode ?? null, old.volumeMode ?? null, 'volumeMode'),
    ...(isGiven(old.nodeAffinity)
      ? checkImmutable(recordOf(spec.nodeAffinity), recordOf(old.nodeAffinity), 'nodeAffinity')
      : []),
    ...(wasClassed
      ? [forbidden('spec.volumeAttributesClassName', 'update from non-nil value to nil is forbidden')]
      : []),
  ];
}
