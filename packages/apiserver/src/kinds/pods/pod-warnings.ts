import { equal, type JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf, valueAt } from '../../resource/metadata.js';
import { dnsLabel } from '../../schema/name-rules.js';
import { append } from '../../status/append.js';
import { goQuote } from '../../status/go-quote.js';
import { ipWarnings } from '../checks/ip-checks.js';
import { appArmorWarnings } from './app-armor.js';
import { isFractional } from './checks/resource-checks.js';
import { seccompContainer, seccompPod } from './pod-annotations.js';

/** Warnings about names that are no DNS labels, since Pods are named after them. */
export function nameWarnings(
  object: JsonObject,
  before: JsonObject | undefined,
  of = 'Pod names and hostnames',
): string[] {
  const problems = before === undefined ? dnsLabel(String(recordOf(object.metadata).name ?? '')) : [];
  if (problems.length === 0) return [];
  const words = 'which can result in surprising behavior; a DNS label is recommended';
  return [`metadata.name: this is used in ${of}, ${words}: [${problems.join(' ')}]`];
}

/** Warnings for the writer of a template; on an update, only if the spec changes. */
export function templateWarnings(object: JsonObject, before: JsonObject | undefined, path: string): string[] {
  if (before !== undefined && equal(object.spec ?? {}, before.spec ?? {})) return [];
  const template = recordOf(valueAt(object, path));
  return [...podWarnings(template, `${path}.`), ...appArmorWarnings(template, `${path}.`)];
}

const oldVolumes: Readonly<Record<string, string>> = {
  photonPersistentDisk: 'deprecated in v1.11, non-functional in v1.16+',
  gitRepo: 'deprecated in v1.11, and disabled by default in v1.33+',
  scaleIO: 'deprecated in v1.16, non-functional in v1.22+',
  flocker: 'deprecated in v1.22, non-functional in v1.25+',
  storageos: 'deprecated in v1.22, non-functional in v1.25+',
  quobyte: 'deprecated in v1.22, non-functional in v1.25+',
  glusterfs: 'deprecated in v1.25, non-functional in v1.26+',
  cephfs: 'deprecated in v1.28, non-functional in v1.31+',
  rbd: 'deprecated in v1.28, non-functional in v1.31+',
};

/** Warnings for the writer of a Pod (`warningsForPodSpecAndMeta`). `at` is the path of the Pod. */
export function podWarnings(pod: JsonObject, at = ''): string[] {
  const spec = recordOf(pod.spec);
  const containers = ['initContainers', 'containers'].flatMap((list) =>
    recordsOf(spec[list]).map((one, i) => [one, `${at}spec.${list}[${i}]`] as const),
  );
  const warnings = [...nodeLabelWarnings(spec, at), ...annotationWarnings(pod, at), ...seccompWarnings(pod, at)];
  for (const [i, volume] of recordsOf(spec.volumes).entries()) {
    const old = Object.keys(volume).filter((name) => oldVolumes[name] !== undefined);
    const shown = (name: string) => (name === 'storageos' ? 'storageOS' : name);
    append(
      warnings,
      old.map((name) => `${at}spec.volumes[${i}].${shown(name)}: ${oldVolumes[name]}`),
    );
  }
  append(warnings, repeated(spec, 'hostAliases', 'ip', at));
  append(warnings, repeated(spec, 'imagePullSecrets', 'name', at));
  for (const [i, { name }] of recordsOf(spec.imagePullSecrets).entries()) {
    if (textOf(name) === '') warnings.push(`${at}spec.imagePullSecrets[${i}].name: invalid empty name ""`);
  }
  for (const [container, path] of containers) append(warnings, containerWarnings(container, path));
  append(warnings, portWarnings(containers));
  if (Number(spec.terminationGracePeriodSeconds) < 0) {
    const why = 'must be >= 0; negative values are invalid and will be treated as 1';
    warnings.push(`${at}spec.terminationGracePeriodSeconds: ${why}`);
  }
  return [...warnings, ...affinityWarnings(spec, at), ...addressWarnings(spec, at)];
}

function repeated(spec: JsonObject, list: string, field: string, at: string): string[] {
  const seen = new Set<string>();
  return recordsOf(spec[list]).flatMap((item, i) => {
    const value = textOf(item[field]);
    const again = seen.has(value);
    seen.add(value);
    return again ? [`${at}spec.${list}[${i}].${field}: duplicate ${field} ${goQuote(value)}`] : [];
  });
}

const oldLabels: Readonly<Record<string, string>> = {
  'beta.kubernetes.io/arch': 'deprecated since v1.14; use "kubernetes.io/arch" instead',
  'beta.kubernetes.io/os': 'deprecated since v1.14; use "kubernetes.io/os" instead',
  'failure-domain.beta.kubernetes.io/region': 'deprecated since v1.17; use "topology.kubernetes.io/region" instead',
  'failure-domain.beta.kubernetes.io/zone': 'deprecated since v1.17; use "topology.kubernetes.io/zone" instead',
  'beta.kubernetes.io/instance-type': 'deprecated since v1.17; use "node.kubernetes.io/instance-type" instead',
};

function nodeLabelWarnings(spec: JsonObject, at: string): string[] {
  const selected = Object.keys(recordOf(spec.nodeSelector)).filter((key) => oldLabels[key] !== undefined);
  return [
    ...selected.map((key) => `${at}spec.nodeSelector[${key}]: ${oldLabels[key]}`),
    ...recordsOf(spec.topologySpreadConstraints).flatMap(({ topologyKey }, i) => {
      const why = oldLabels[textOf(topologyKey)];
      return why === undefined
        ? []
        : [`${at}spec.topologySpreadConstraints[${i}].topologyKey: ${textOf(topologyKey)} is ${why}`];
    }),
  ];
}

const oldAnnotations: Readonly<Record<string, string>> = {
  'scheduler.alpha.kubernetes.io/critical-pod': 'non-functional in v1.16+; use the "priorityClassName" field instead',
  'security.alpha.kubernetes.io/sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
  'security.alpha.kubernetes.io/unsafe-sysctls': 'non-functional in v1.11+; use the "sysctls" field instead',
};

function annotationWarnings(pod: JsonObject, at: string): string[] {
  const annotations = recordOf(metaOf(pod).annotations);
  return Object.keys(oldAnnotations)
    .filter((key) => annotations[key] !== undefined)
    .map((key) => `${at}metadata.annotations[${key}]: ${oldAnnotations[key]}`);
}

/** Profiles in annotations without a field are ignored. */
function seccompWarnings(pod: JsonObject, at: string): string[] {
  const spec = recordOf(pod.spec);
  const annotations = recordOf(metaOf(pod).annotations);
  const places = [
    [seccompPod, spec.securityContext] as const,
    ...['initContainers', 'containers'].flatMap((list) =>
      recordsOf(spec[list]).map((one) => [seccompContainer + textOf(one.name), one.securityContext] as const),
    ),
  ];
  return places
    .filter(([key, context]) => annotations[key] !== undefined && recordOf(context).seccompProfile === undefined)
    .map(([key]) => `${at}metadata.annotations[${key}]: ${useSeccompField}`);
}

const useSeccompField = 'non-functional in v1.27+; use the "seccompProfile" field instead';

function containerWarnings(container: JsonObject, path: string): string[] {
  const warnings: string[] = [];
  for (const name of ['memory', 'ephemeral-storage']) {
    for (const list of ['limits', 'requests']) {
      const amount = recordOf(recordOf(container.resources)[list])[name];
      if (amount === undefined || !isFractional(String(amount))) continue;
      const why = `fractional byte value ${JSON.stringify(amount)} is invalid, must be an integer`;
      warnings.push(`${path}.resources.${list}[${name}]: ${why}`);
    }
  }
  const seen = new Set<string>();
  for (const [i, variable] of recordsOf(container.env).entries()) {
    const name = textOf(variable.name);
    const ref = `$(${name})`;
    const value = textOf(variable.value);
    const hides = variable.valueFrom !== undefined || value === ref || !value.includes(ref);
    if (seen.has(name) && hides) {
      const why = `hides previous definition of ${goQuote(name)}, which may be dropped when using apply`;
      warnings.push(`${path}.env[${i}]: ${why}`);
    }
    seen.add(name);
  }
  return warnings;
}

interface PlacedPort {
  readonly port: JsonObject;
  readonly path: string;
}

function portWarnings(containers: readonly (readonly [JsonObject, string])[]): string[] {
  const ports: PlacedPort[] = containers.flatMap(([container, at]) =>
    recordsOf(container.ports).map((port, i) => ({ port, path: `${at}.ports[${i}]` })),
  );
  return [
    ...ports.flatMap((one, index) => ports.slice(0, index).flatMap((other) => conflict(one, other))),
    ...ports.flatMap(({ port, path }, index) => {
      const name = textOf(port.name);
      const first = ports.findIndex((other) => textOf(other.port.name) === name);
      if (name === '' || first === index) return [];
      const other = ports[first]?.path;
      const why = `services and probes that select ports by name will use ${other}`;
      return [`${path}: duplicate port name ${goQuote(name)} with ${other}, ${why}`];
    }),
  ];
}

function conflict({ port, path }: PlacedPort, { port: other, path: at }: PlacedPort): string[] {
  if (port.containerPort !== other.containerPort || port.protocol !== other.protocol) return [];
  const [mine, theirs] = [Number(port.hostPort ?? 0), Number(other.hostPort ?? 0)];
  const [ip, otherIp] = [textOf(port.hostIP), textOf(other.hostIP)];
  if (ip === otherIp && mine === theirs) return [`${path}: duplicate port definition with ${at}`];
  if (mine === 0 || theirs === 0) return [`${path}: overlapping port definition with ${at}`];
  const unclear = mine === theirs && (ip === '') !== (otherIp === '');
  return unclear ? [`${path}: dangerously ambiguous port definition with ${at}`] : [];
}

function affinityWarnings(spec: JsonObject, at: string): string[] {
  const affinity = recordOf(spec.affinity);
  return ['podAffinity', 'podAntiAffinity'].flatMap((kind) => {
    const path = `${at}spec.affinity.${kind}`;
    const terms = recordOf(affinity[kind]);
    const must = recordsOf(terms.requiredDuringSchedulingIgnoredDuringExecution).map((term, i) => ({
      term,
      where: `${path}.requiredDuringSchedulingIgnoredDuringExecution[${i}].labelSelector`,
    }));
    const may = recordsOf(terms.preferredDuringSchedulingIgnoredDuringExecution).map((term, i) => ({
      term: recordOf(term.podAffinityTerm),
      where: `${path}.preferredDuringSchedulingIgnoredDuringExecution[${i}].podAffinityTerm.labelSelector`,
    }));
    return [...must, ...may]
      .filter(({ term }) => term.labelSelector === undefined)
      .map(({ where }) => `${where}: a null labelSelector results in matching no pod`);
  });
}

function addressWarnings(spec: JsonObject, at: string): string[] {
  const { nameservers } = recordOf(spec.dnsConfig);
  const servers = Array.isArray(nameservers) ? nameservers.map(textOf) : [];
  return [
    ...servers.flatMap((ip, i) => ipWarnings(ip, `${at}spec.dnsConfig.nameservers[${i}]`)),
    ...recordsOf(spec.hostAliases).flatMap(({ ip }, i) => ipWarnings(textOf(ip), `${at}spec.hostAliases[${i}].ip`)),
  ];
}
