import type { JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { append } from '../../../status/append.js';
import { absent, type FieldError, forbidden, invalid, required } from '../../../status/field-error.js';
import { checkEnum } from '../../checks/basic-checks.js';
import { checkDescending, checkNoBacksteps } from './path-checks.js';

/** The volumes of a Pod that are fine, by their names. */
export type Volumes = ReadonlyMap<string, JsonObject>;

/** The problems of the mounts and devices of a container. */
export function checkMounts(container: JsonObject, volumes: Volumes, path: string): FieldError[] {
  const [mounts, devices] = [recordsOf(container.volumeMounts), recordsOf(container.volumeDevices)];
  if (mounts.length === 0 && devices.length === 0) return [];
  const privileged = recordOf(container.securityContext).privileged === true;
  const paths = new Set<string>();
  return [
    ...mounts.flatMap((mount, index) => {
      const errors = checkMount(mount, devices, volumes, privileged, `${path}.volumeMounts`, index);
      const mountPath = textOf(mount.mountPath);
      if (paths.has(mountPath)) {
        errors.push(invalid(`${path}.volumeMounts[${index}].mountPath`, mountPath, 'must be unique'));
      }
      paths.add(mountPath);
      return errors;
    }),
    ...checkDevices(devices, mounts, volumes, `${path}.volumeDevices`),
  ];
}

function checkMount(
  mount: JsonObject,
  devices: readonly JsonObject[],
  volumes: Volumes,
  privileged: boolean,
  path: string,
  index: number,
): FieldError[] {
  const at = `${path}[${index}]`;
  const [name, mountPath] = [textOf(mount.name), textOf(mount.mountPath)];
  const [subPath, subPathExpr] = [textOf(mount.subPath), textOf(mount.subPathExpr)];
  const errors: FieldError[] = [];
  if (name === '') errors.push(required(`${at}.name`));
  if (!volumes.has(name)) errors.push(absent(`${at}.name`, name));
  if (mountPath === '') errors.push(required(`${at}.mountPath`));
  if (devices.some((device) => textOf(device.name) === name)) {
    errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeDevices'));
  }
  if (devices.some((device) => textOf(device.devicePath) === mountPath)) {
    errors.push(invalid(`${at}.mountPath`, mountPath, 'must not already exist as a path in volumeDevices'));
  }
  if (subPath !== '') append(errors, checkDescending(subPath, `${path}.subPath`));
  if (subPathExpr !== '') {
    if (subPath !== '') {
      errors.push(invalid(`${at}.subPathExpr`, subPathExpr, 'subPathExpr and subPath are mutually exclusive'));
    }
    append(errors, checkDescending(subPathExpr, `${path}.subPathExpr`));
  }
  append(errors, checkPropagation(mount, privileged, `${path}.mountPropagation`));
  append(errors, checkRecursive(mount, `${path}.recursiveReadOnly`));
  return errors;
}

function checkPropagation({ mountPropagation: mode }: JsonObject, privileged: boolean, path: string): FieldError[] {
  const errors = checkEnum(mode, ['Bidirectional', 'HostToContainer', 'None'], path);
  if (mode !== 'Bidirectional' || privileged) return errors;
  return [forbidden(path, 'Bidirectional mount propagation is available only to privileged containers')];
}

function checkRecursive(
  { recursiveReadOnly: mode, readOnly, mountPropagation }: JsonObject,
  path: string,
): FieldError[] {
  if (mode === undefined || mode === 'Disabled') return [];
  if (mode !== 'Enabled' && mode !== 'IfPossible') return checkEnum(mode, ['Disabled', 'Enabled', 'IfPossible'], path);
  const errors: FieldError[] = [];
  if (readOnly !== true) errors.push(forbidden(path, 'may only be specified when readOnly is true'));
  if (mountPropagation !== undefined && mountPropagation !== 'None') {
    errors.push(forbidden(path, 'may only be specified when mountPropagation is None or not specified'));
  }
  return errors;
}

function checkDevices(
  devices: readonly JsonObject[],
  mounts: readonly JsonObject[],
  volumes: Volumes,
  path: string,
): FieldError[] {
  const [names, paths] = [new Set<string>(), new Set<string>()];
  return devices.flatMap((device, index) => {
    const at = `${path}[${index}]`;
    const [name, devicePath] = [textOf(device.name), textOf(device.devicePath)];
    const volume = volumes.get(name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    if (names.has(name)) errors.push(invalid(`${at}.name`, name, 'must be unique'));
    if (volume === undefined) errors.push(absent(`${at}.name`, name));
    else if (volume.persistentVolumeClaim === undefined && volume.ephemeral === undefined) {
      const detail = 'can only use volume source type of PersistentVolumeClaim or Ephemeral for block mode';
      errors.push(invalid(`${at}.name`, name, detail));
    }
    if (devicePath === '') errors.push(required(`${at}.devicePath`));
    if (paths.has(devicePath)) errors.push(invalid(`${at}.devicePath`, devicePath, 'must be unique'));
    if (checkNoBacksteps(devicePath, path).length > 0) {
      errors.push(invalid(`${at}.devicePath`, devicePath, "can not contain backsteps ('..')"));
    } else paths.add(devicePath);
    if (mounts.some((mount) => textOf(mount.name) === name)) {
      errors.push(invalid(`${at}.name`, name, 'must not already exist in volumeMounts'));
    }
    if (mounts.some((mount) => textOf(mount.mountPath) === devicePath)) {
      errors.push(invalid(`${at}.devicePath`, devicePath, 'must not already exist as a path in volumeMounts'));
    }
    if (name !== '') names.add(name);
    return errors;
  });
}
