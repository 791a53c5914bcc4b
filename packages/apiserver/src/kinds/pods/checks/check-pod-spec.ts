import type { Json, JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsLabel, dnsSubdomain, qualifiedName } from '../../../schema/name-rules.js';
import { checkLabels } from '../../../schema/object-meta.js';
import { append } from '../../../status/append.js';
import {
  absent,
  duplicate,
  type FieldError,
  forbidden,
  invalid,
  notSupported,
  required,
  tooLong,
} from '../../../status/field-error.js';
import { checkRange, checkText } from '../../checks/basic-checks.js';
import type { TextRule } from '../../checks/text-rules.js';
import { containerTotals } from '../pod-totals.js';
import { checkAffinity, checkSpread } from './affinity-checks.js';
import { checkVolumes } from './check-volumes.js';
import { checkContainers } from './container-checks.js';
import { checkContainerResources, checkPodResources } from './resource-checks.js';
import { checkDnsConfig, checkHostAliases, checkSchedulingGates, checkTolerations } from './scheduling-checks.js';
import { checkPodSecurity } from './security-checks.js';
import { checkHostProcess } from './windows-checks.js';

const noClaims: ReadonlySet<string> = new Set();

/** Whose spec it is: that of a Pod, with its name, or that of a template. */
export type SpecOwner = { readonly pod: string } | 'template';

/** The problems of the spec of a Pod (`ValidatePodSpec`). */
export function checkPodSpec(spec: JsonObject, owner: SpecOwner, path: string): FieldError[] {
  const volumes = checkVolumes(spec.volumes, owner === 'template' ? '' : owner.pod, `${path}.volumes`);
  const claims = new Set(recordsOf(spec.resourceClaims).flatMap(({ name }) => textOf(name) || []));
  return [
    ...volumes.errors,
    ...checkResourceClaims(spec.resourceClaims, `${path}.resourceClaims`),
    ...checkContainers({ spec, volumes: volumes.fine, claims }, path),
    ...checkPodResources(spec, claims, `${path}.resources`),
    ...checkPodTotals(spec, `${path}.resources`),
    ...checkHostNetwork(spec, owner, `${path}.containers`),
    ...oneOf(spec.restartPolicy, ['Always', 'OnFailure', 'Never'], `${path}.restartPolicy`),
    ...oneOf(spec.dnsPolicy, ['ClusterFirstWithHostNet', 'ClusterFirst', 'Default', 'None'], `${path}.dnsPolicy`),
    ...checkLabels(recordOf(spec.nodeSelector), `${path}.nodeSelector`),
    ...checkPodSecurity(spec, `${path}.securityContext`),
    ...checkAffinity(spec.affinity, `${path}.affinity`),
    ...checkDnsConfig(spec, `${path}.dnsConfig`),
    ...recordsOf(spec.readinessGates).flatMap(({ conditionType }, i) =>
      checkText(qualifiedName, textOf(conditionType), `${path}.readinessGates[${i}].conditionType`),
    ),
    ...checkSchedulingGates(spec.schedulingGates, `${path}.schedulingGates`),
    ...checkSpread(spec.topologySpreadConstraints, `${path}.topologySpreadConstraints`),
    ...checkHostProcess(spec, everyContainer(spec, path), path),
    ...checkHostUsers(spec, path),
    ...checkNames(spec, path),
    ...checkRange(spec.activeDeadlineSeconds, 1, 2 ** 31 - 1, `${path}.activeDeadlineSeconds`),
    ...checkTolerations(spec.tolerations, `${path}.tolerations`),
    ...checkHostAliases(spec.hostAliases, `${path}.hostAliases`),
    ...(spec.preemptionPolicy === undefined
      ? []
      : oneOf(spec.preemptionPolicy, ['PreemptLowerPriority', 'Never'], `${path}.preemptionPolicy`)),
    ...(spec.overhead === undefined
      ? []
      : checkContainerResources({ limits: spec.overhead }, noClaims, `${path}.overhead`)),
    ...checkOs(spec, path),
    ...checkFileKeys(spec, path),
  ];
}

/** The value must be one of these, listed in this order. */
function oneOf(value: Json | undefined, allowed: readonly string[], path: string): FieldError[] {
  if (textOf(value) === '') return [required(path)];
  return allowed.includes(textOf(value)) ? [] : [notSupported(path, value, allowed)];
}

const nameRules: Readonly<Record<string, TextRule>> = {
  serviceAccountName: dnsSubdomain,
  nodeName: dnsSubdomain,
  hostname: dnsLabel,
  subdomain: dnsLabel,
  priorityClassName: dnsSubdomain,
  runtimeClassName: dnsSubdomain,
};

function checkNames(spec: JsonObject, path: string): FieldError[] {
  const errors = Object.entries(nameRules).flatMap(([field, rule]) =>
    textOf(spec[field]) === '' && field !== 'runtimeClassName' ? [] : checkName(rule, spec[field], `${path}.${field}`),
  );
  const { hostnameOverride } = spec;
  if (hostnameOverride === undefined) return errors;
  const at = `${path}.hostnameOverride`;
  if (spec.setHostnameAsFQDN === true) {
    errors.push(forbidden(at, 'may not be specified when setHostnameAsFQDN is true'));
  }
  if (spec.hostNetwork === true) errors.push(forbidden(at, 'may not be specified when hostNetwork is true'));
  if (textOf(hostnameOverride).length > 64) errors.push(tooLong(at, 64));
  return [...errors, ...checkText(dnsSubdomain, textOf(hostnameOverride), at)];
}

function checkName(rule: TextRule, value: Json | undefined, path: string): FieldError[] {
  return value === undefined ? [] : checkText(rule, textOf(value), path);
}

/** A Pod as a whole asks for what its containers ask for together, at least. */
function checkPodTotals(spec: JsonObject, path: string): FieldError[] {
  if (spec.resources === undefined) return [];
  const requests = recordOf(recordOf(spec.resources).requests);
  return [...containerTotals(spec, 'requests')].flatMap(([name, total]) => {
    const asked = requests[name];
    if (asked === undefined || total.compare(String(asked)) <= 0) return [];
    const detail = `must be greater than or equal to aggregate container requests of ${total}`;
    return [invalid(`${path}.requests[${name}]`, asked, detail)];
  });
}

function checkHostNetwork(spec: JsonObject, owner: SpecOwner, path: string): FieldError[] {
  if (spec.hostNetwork !== true) return [];
  return recordsOf(spec.containers).flatMap((container, index) =>
    recordsOf(container.ports).flatMap((port, i) => {
      const [own, ofHost] = [numberOf(port.containerPort), numberOf(port.hostPort)];
      if (own === ofHost || (owner === 'template' && ofHost === 0)) return [];
      const detail = 'must match `containerPort` when `hostNetwork` is true';
      return [invalid(`${path}[${index}].ports[${i}].hostPort`, ofHost, detail)];
    }),
  );
}

function checkHostUsers(spec: JsonObject, path: string): FieldError[] {
  if (spec.hostUsers !== false) return [];
  const shown = { hostNetwork: 'hostNetwork', hostPID: 'HostPID', hostIPC: 'HostIPC' };
  const detail = 'when `hostUsers` is false';
  return [
    ...Object.entries(shown).flatMap(([field, name]) =>
      spec[field] === true ? [forbidden(`${path}.${name}`, detail)] : [],
    ),
    ...everyContainer(spec, path).flatMap(([container, at]) =>
      recordsOf(container.volumeDevices).length > 0 ? [forbidden(`${at}.volumeDevices`, detail)] : [],
    ),
  ];
}

function everyContainer(spec: JsonObject, path: string): readonly (readonly [JsonObject, string])[] {
  return ['initContainers', 'containers', 'ephemeralContainers'].flatMap((list) =>
    recordsOf(spec[list]).map((container, i) => [container, `${path}.${list}[${i}]`] as const),
  );
}

function checkOs(spec: JsonObject, path: string): FieldError[] {
  if (spec.os === undefined) return [];
  const name = textOf(recordOf(spec.os).name);
  if (name === '') return [required(`${path}.os.name`)];
  if (name !== 'linux' && name !== 'windows') return [notSupported(`${path}.os`, name, ['linux', 'windows'])];
  const contexts = [
    [recordOf(spec.securityContext), `${path}.securityContext`] as const,
    ...everyContainer(spec, path).map(([one, at]) => [recordOf(one.securityContext), `${at}.securityContext`] as const),
  ];
  if (name === 'windows') {
    const ofPod = ['hostUsers', 'hostPID', 'hostIPC', 'shareProcessNamespace'].filter((f) => spec[f] !== undefined);
    return [...ofPod.map((field) => [field, path] as const), ...contexts.flatMap(([c, at]) => linuxOnly(c, at))].map(
      ([field, at]) => forbidden(`${at}.${field}`, 'cannot be set for a windows pod'),
    );
  }
  return contexts.flatMap(([context, at]) =>
    context.windowsOptions === undefined
      ? []
      : [forbidden(`${at}.windowsOptions`, 'windows options cannot be set for a linux pod')],
  );
}

function linuxOnly(context: JsonObject, path: string): (readonly [string, string])[] {
  return Object.keys(context)
    .filter((field) => field !== 'windowsOptions' && field !== 'runAsNonRoot')
    .map((field) => [field, path] as const);
}

function checkFileKeys(spec: JsonObject, path: string): FieldError[] {
  return everyContainer(spec, path).flatMap(([container, at]) =>
    recordsOf(container.env).flatMap(({ valueFrom }, i) => {
      const { fileKeyRef } = recordOf(valueFrom);
      if (fileKeyRef === undefined) return [];
      const name = textOf(recordOf(fileKeyRef).volumeName);
      const where = `${at}.env[${i}].valueFrom.fileKeyRef.volumeName`;
      const volume = recordsOf(spec.volumes).find((one) => textOf(one.name) === name);
      if (volume === undefined) return [absent(where, name)];
      return volume.emptyDir === undefined ? [invalid(where, name, 'referenced volume must be of type emptyDir')] : [];
    }),
  );
}

function checkResourceClaims(given: Json | undefined, path: string): FieldError[] {
  const names = new Set<string>();
  return recordsOf(given).flatMap((claim, index) => {
    const at = `${path}[${index}]`;
    const name = textOf(claim.name);
    const errors: FieldError[] = [];
    if (name === '') errors.push(required(`${at}.name`));
    else if (names.has(name)) errors.push(duplicate(`${at}.name`, name));
    else append(errors, checkText(dnsLabel, name, `${at}.name`));
    names.add(name);
    const { resourceClaimName: own = null, resourceClaimTemplateName: ofTemplate = null } = claim;
    const shown = { Name: name, ResourceClaimName: own, ResourceClaimTemplateName: ofTemplate };
    if (own !== null && ofTemplate !== null) {
      const detail = 'at most one of `resourceClaimName` or `resourceClaimTemplateName` may be specified';
      errors.push(invalid(at, shown, detail));
    }
    if (own === null && ofTemplate === null) {
      errors.push(invalid(at, shown, 'must specify one of: `resourceClaimName`, `resourceClaimTemplateName`'));
    }
    return [
      ...errors,
      ...(own === null ? [] : checkText(dnsSubdomain, textOf(own), `${at}.resourceClaimName`)),
      ...(ofTemplate === null ? [] : checkText(dnsSubdomain, textOf(ofTemplate), `${at}.resourceClaimTemplateName`)),
    ];
  });
}
