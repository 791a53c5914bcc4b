import type { Json, JsonObject } from 'riata/object';
import { recordOf, recordsOf, stringsOf, textOf } from '../../../resource/metadata.js';
import { append } from '../../../status/append.js';
import { duplicate, type FieldError, invalid, notSupported, required } from '../../../status/field-error.js';
import { checkEnum, checkRange } from '../../checks/basic-checks.js';
import { checkDescending } from './path-checks.js';
import { checkWindowsOptions } from './windows-checks.js';

const maxId = 2 ** 31 - 1;

/** The problems of the security context of a container (`ValidateSecurityContext`). */
export function checkContainerSecurity(given: Json | undefined, hostUsers: boolean, path: string): FieldError[] {
  if (given === undefined) return [];
  const context = recordOf(given);
  const { procMount, privileged, allowPrivilegeEscalation: escalates } = context;
  const errors = [
    ...checkRange(context.runAsUser, 0, maxId, `${path}.runAsUser`),
    ...checkRange(context.runAsGroup, 0, maxId, `${path}.runAsGroup`),
    ...checkProfile(context.seccompProfile, 'seccomp', `${path}.seccompProfile`),
    ...checkProfile(context.appArmorProfile, 'AppArmor', `${path}.appArmorProfile`),
    ...checkWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
  ];
  if (procMount !== undefined) {
    append(errors, checkEnum(procMount, ['Default', 'Unmasked'], `${path}.procMount`));
    if (hostUsers && procMount === 'Unmasked') {
      errors.push(invalid(`${path}.procMount`, procMount, '`hostUsers` must be false to use `Unmasked`'));
    }
  }
  if (escalates !== false) return errors;
  const cannot = (what: string) =>
    invalid(path, internalContext(context), `cannot set \`allowPrivilegeEscalation\` to false and ${what}`);
  if (privileged === true) errors.push(cannot('`privileged` to true'));
  if (stringsOf(recordOf(context.capabilities).add).includes('CAP_SYS_ADMIN')) {
    errors.push(cannot('`capabilities.Add` CAP_SYS_ADMIN'));
  }
  return errors;
}

/** As the real server shows it: by the names that its own form of the object has. */
function internalContext(context: JsonObject): JsonObject {
  const names = [
    ...['capabilities', 'privileged', 'seLinuxOptions', 'windowsOptions', 'runAsUser', 'runAsGroup', 'runAsNonRoot'],
    ...['readOnlyRootFilesystem', 'allowPrivilegeEscalation', 'procMount', 'seccompProfile', 'appArmorProfile'],
  ];
  const shown: Record<string, string> = { seLinuxOptions: 'SELinuxOptions' };
  const { add = null, drop = null } = recordOf(context.capabilities);
  const members = {
    ...context,
    ...(context.capabilities === undefined ? {} : { capabilities: { Add: add, Drop: drop } }),
  };
  return Object.fromEntries(
    names.map((name) => [
      shown[name] ?? `${name[0]?.toUpperCase()}${name.slice(1)}`,
      (members as JsonObject)[name] ?? null,
    ]),
  );
}

/** The problems of the security context of a Pod. */
export function checkPodSecurity(spec: JsonObject, path: string): FieldError[] {
  const context = recordOf(spec.securityContext);
  if (Object.keys(context).length === 0 && spec.shareProcessNamespace !== true) return [];
  const errors: FieldError[] = [];
  for (const field of ['fsGroup', 'runAsUser', 'runAsGroup']) {
    append(errors, checkRange(context[field], 0, maxId, `${path}.${field}`));
  }
  const groups = Array.isArray(context.supplementalGroups) ? context.supplementalGroups : [];
  append(
    errors,
    groups.flatMap((group, i) => checkRange(group, 0, maxId, `${path}.supplementalGroups[${i}]`)),
  );
  if (spec.shareProcessNamespace === true && spec.hostPID === true) {
    const detail = 'ShareProcessNamespace and HostPID cannot both be enabled';
    errors.push(invalid(`${path}.shareProcessNamespace`, true, detail));
  }
  return [
    ...errors,
    ...checkSysctls(spec, recordsOf(context.sysctls), `${path}.sysctls`),
    ...checkEnum(context.fsGroupChangePolicy, ['Always', 'OnRootMismatch'], `${path}.fsGroupChangePolicy`),
    ...checkProfile(context.seccompProfile, 'seccomp', `${path}.seccompProfile`),
    ...checkProfile(context.appArmorProfile, 'AppArmor', `${path}.appArmorProfile`),
    ...checkWindowsOptions(context.windowsOptions, `${path}.windowsOptions`),
    ...checkEnum(context.supplementalGroupsPolicy, ['Merge', 'Strict'], `${path}.supplementalGroupsPolicy`),
    ...checkEnum(context.seLinuxChangePolicy, ['Recursive'], `${path}.seLinuxChangePolicy`),
  ];
}

const profileTypes = ['Localhost', 'RuntimeDefault', 'Unconfined'];

function checkProfile(given: Json | undefined, kind: 'seccomp' | 'AppArmor', path: string): FieldError[] {
  if (given === undefined) return [];
  const { type, localhostProfile: file } = recordOf(given);
  const errors: FieldError[] = [];
  if (textOf(type) === '') {
    const field = kind === 'seccomp' ? 'seccompProfile' : 'appArmorProfile';
    errors.push(required(`${path}.type`, `type is required when ${field} is set`));
  } else if (!profileTypes.includes(textOf(type))) errors.push(notSupported(`${path}.type`, type, profileTypes));
  const at = `${path}.localhostProfile`;
  if (type === 'Localhost') {
    if (file === undefined) errors.push(required(at, `must be set when ${kind} type is Localhost`));
    else if (kind === 'seccomp') append(errors, checkDescending(textOf(file), at));
    else append(errors, checkProfileName(textOf(file), at));
  } else if (file !== undefined && (kind === 'seccomp' || profileTypes.includes(textOf(type)))) {
    const shown = kind === 'seccomp' ? { Type: textOf(type), LocalhostProfile: file } : file;
    errors.push(invalid(at, shown, `can only be set when ${kind} type is Localhost`));
  }
  return errors;
}

function checkProfileName(name: string, path: string): FieldError[] {
  if (name.trim() !== name) return [invalid(path, name, 'must not be padded with whitespace')];
  return name === '' ? [required(path, 'must be set when AppArmor type is Localhost')] : [];
}

const sysctl = '([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?';
const sysctlRegex = new RegExp(`^${sysctl}$`);

function checkSysctls(spec: JsonObject, sysctls: readonly JsonObject[], path: string): FieldError[] {
  const seen = new Set<string>();
  return sysctls.flatMap((one, index) => {
    const at = `${path}[${index}].name`;
    const name = textOf(one.name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(at));
    else if (name.length > 253 || !sysctlRegex.test(name)) {
      errors.push(invalid(at, name, `must have at most 253 characters and match regex ^${sysctl}$`));
    } else if (seen.has(name)) errors.push(duplicate(at, name));
    seen.add(name);
    const dotted = name.replaceAll('/', '.');
    if (spec.hostNetwork === true && dotted.startsWith('net.')) {
      errors.push(invalid(at, name, "may not be specified when 'hostNetwork' is true"));
    } else if (spec.hostIPC === true && /^(kernel\.(shm|msg|sem)|fs\.mqueue\.)/.test(dotted)) {
      errors.push(invalid(at, name, "may not be specified when 'hostIPC' is true"));
    }
    return errors;
  });
}
