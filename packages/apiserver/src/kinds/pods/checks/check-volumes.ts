import { type Json, type JsonObject, parseQuantity } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel, dnsSubdomain } from '../../../schema/name-rules.js';
import { checkAnnotations, checkLabels } from '../../../schema/object-meta.js';
import { append } from '../../../status/append.js';
import {
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../status/field-error.js';
import { goQuote } from '../../../status/go-quote.js';
import { checkRequiredEnum, checkText } from '../../checks/basic-checks.js';
import { checkClaimSpec } from '../../storage/persistent-volume-claim.js';
import { checkProjected } from '../check-projected.js';
import { oldVolumes } from '../old-volumes.js';
import { checkDownwardFile, checkKeyToPath, checkMode, type FieldCheck, needs } from '../volume-files.js';
import type { Volumes } from './check-mounts.js';
import { checkDescending, checkNoBacksteps } from './path-checks.js';

const moreThanOne = 'may not specify more than 1 volume type';
/** The problems of the volumes of a Pod, and the valid ones. `name` is that of the Pod, if it has one. */
export function checkVolumes(
  given: Json | undefined,
  name: string,
  path: string,
): { errors: FieldError[]; fine: Volumes } {
  const volumes = recordsOf(given);
  const fine = new Map<string, JsonObject>();
  const made = new Set(volumes.filter((v) => name !== '' && v.ephemeral !== undefined).map((v) => `${name}-${v.name}`));
  const errors = volumes.flatMap((volume, index) => {
    const at = `${path}[${index}]`;
    const own = textOf(volume.name);
    const found = [
      ...checkSource(volume, name, at),
      ...(own === '' ? [required(`${at}.name`)] : checkText(dnsLabel, own, `${at}.name`)),
      ...(fine.has(own) ? [duplicate(`${at}.name`, own)] : []),
    ];
    if (found.length === 0) fine.set(own, volume);
    const claim = textOf(recordOf(volume.persistentVolumeClaim).claimName);
    if (volume.persistentVolumeClaim !== undefined && made.has(claim)) {
      const detail = 'must not reference a PVC that gets created for an ephemeral volume';
      found.push(invalid(`${at}.persistentVolumeClaim.claimName`, claim, detail));
    }
    return found;
  });
  return { errors, fine };
}

const sources: Readonly<Record<string, FieldCheck>> = {
  emptyDir: ({ sizeLimit }, path) =>
    sizeLimit !== undefined && parseQuantity(String(sizeLimit)).sign() < 0
      ? [forbidden(`${path}.sizeLimit`, 'SizeLimit field must be a valid resource quantity')]
      : [],
  hostPath: checkHostPath,
  ...oldVolumes,
  gitRepo: (repo, path) => [
    ...needs('repository')(repo, path),
    ...checkDescending(textOf(repo.directory), `${path}.directory`),
  ],
  secret: (secret, path) => checkFiles(secret, 'secretName', path),
  nfs: (nfs, path) => [
    ...needs('server', 'path')(nfs, path),
    ...(textOf(nfs.path).startsWith('/')
      ? []
      : [invalid(`${path}.path`, textOf(nfs.path), 'must be an absolute path')]),
  ],
  persistentVolumeClaim: needs('claimName'),
  downwardAPI: (source, path) => [
    ...checkMode(source.defaultMode, `${path}.defaultMode`),
    ...recordsOf(source.items).flatMap((file) => checkDownwardFile(file, path)),
  ],
  configMap: (map, path) => checkFiles(map, 'name', path),
  projected: (projected, path) => [
    ...checkMode(projected.defaultMode, `${path}.defaultMode`),
    ...checkProjected(projected, path),
  ],
  csi: checkCsi,
  ephemeral: checkEphemeral,
  image: ({ pullPolicy }, path) =>
    checkRequiredEnum(pullPolicy, ['Always', 'IfNotPresent', 'Never'], `${path}.pullPolicy`),
};

/** In which order they are looked at: the first of several is the one that counts. */
const order = [
  ...['emptyDir', 'hostPath', 'gitRepo', 'gcePersistentDisk', 'awsElasticBlockStore', 'secret', 'nfs', 'iscsi'],
  ...['glusterfs', 'flocker', 'persistentVolumeClaim', 'rbd', 'cinder', 'cephfs', 'quobyte', 'downwardAPI', 'fc'],
  ...['flexVolume', 'configMap', 'azureFile', 'vsphereVolume', 'photonPersistentDisk', 'portworxVolume', 'azureDisk'],
  ...['storageos', 'projected', 'scaleIO', 'csi', 'ephemeral', 'image'],
];

const misspelt: Readonly<Record<string, string>> = { downwardAPI: 'downwarAPI', cephfs: 'cephFS' };

/** A volume has one source. */
function checkSource(volume: JsonObject, pod: string, path: string): FieldError[] {
  const [first, ...others] = order.filter((name) => volume[name] !== undefined);
  if (first === undefined) return [required(path, 'must specify a volume type')];
  const errors = [
    ...(sources[first]?.(recordOf(volume[first]), `${path}.${first}`) ?? []),
    ...others.map((name) => forbidden(`${path}.${misspelt[name] ?? name}`, moreThanOne)),
  ];
  // A template may leave the image to who makes Pods of it.
  if (first === 'image' && pod !== '') append(errors, needs('reference')(recordOf(volume.image), `${path}.image`));
  if (first !== 'ephemeral' || pod === '' || textOf(volume.name) === '') return errors;
  const claim = `${pod}-${textOf(volume.name)}`;
  const problems = dnsSubdomain(claim).map((problem) =>
    invalid(`${path}.name`, textOf(volume.name), `PVC name ${goQuote(claim)}: ${problem}`),
  );
  return [...errors, ...problems];
}

function checkHostPath(source: JsonObject, path: string): FieldError[] {
  if (textOf(source.path) === '') return [required(`${path}.path`)];
  const types = ['', 'BlockDevice', 'CharDevice', 'Directory', 'DirectoryOrCreate', 'File', 'FileOrCreate', 'Socket'];
  const known = source.type === undefined || types.includes(textOf(source.type));
  return [
    ...checkNoBacksteps(textOf(source.path), `${path}.path`),
    ...(known ? [] : [notSupported(`${path}.type`, source.type, types)]),
  ];
}

function checkFiles(source: JsonObject, nameField: string, path: string): FieldError[] {
  return [
    ...(textOf(source[nameField]) === '' ? [required(`${path}.${nameField}`)] : []),
    ...checkMode(source.defaultMode, `${path}.defaultMode`),
    ...recordsOf(source.items).flatMap((item, index) => checkKeyToPath(item, `${path}.items[${index}]`)),
  ];
}

function checkCsi(csi: JsonObject, path: string): FieldError[] {
  const { nodePublishSecretRef: ref } = csi;
  const [driver, secret] = [textOf(csi.driver), textOf(recordOf(ref).name)];
  const errors = driver === '' ? [required(`${path}.driver`)] : [];
  if (driver.length > 63) errors.push(tooLong(`${path}.driver`, 63));
  if (driver !== '') {
    append(
      errors,
      dnsSubdomain(driver.toLowerCase()).map((problem) => invalid(`${path}.driver`, driver, problem)),
    );
  }
  if (ref !== undefined) {
    errors.push(
      ...(secret === ''
        ? [required(`${path}.nodePublishSecretRef.name`)]
        : checkText(dnsSubdomain, secret, `${path}.name`)),
    );
  }
  return errors;
}

function checkEphemeral({ volumeClaimTemplate }: JsonObject, path: string): FieldError[] {
  if (volumeClaimTemplate === undefined) return [required(`${path}.volumeClaimTemplate`)];
  const at = `${path}.volumeClaimTemplate.metadata`;
  const { labels, annotations, ...others } = recordOf(recordOf(volumeClaimTemplate).metadata);
  return [
    ...checkAnnotations(recordOf(annotations), `${at}.annotations`),
    ...checkLabels(recordOf(labels), `${at}.labels`),
    ...Object.keys(others).map((field) => forbidden(`${at}.${field}`, 'cannot be set')),
    ...checkClaimSpec(recordOf(recordOf(volumeClaimTemplate).spec), `${path}.volumeClaimTemplate.spec`),
  ];
}
