import type { JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import { dnsSubdomain, qualifiedName } from '../../../schema/name-rules.js';
import { checkImmutable } from '../../../schema/object-meta.js';
import { type FieldError, forbidden, invalid } from '../../../status/field-error.js';
import { checkText } from '../../checks/basic-checks.js';
import { parseIp } from '../../checks/ip-address.js';
import { checkIp } from '../../checks/ip-checks.js';
import { checkAnnotationChanges, checkPodAnnotations } from '../pod-annotations.js';

/** The problems of a Pod's status (`ValidatePodStatusUpdate`). */
export function checkPodStatus(pod: JsonObject, before: JsonObject): FieldError[] {
  const [now, was] = [recordOf(pod.status), recordOf(before.status)];
  const spec = recordOf(before.spec);
  const { annotations } = recordOf(pod.metadata);
  return [
    ...checkAnnotationChanges(pod, before),
    ...checkPodAnnotations(annotations, spec, 'metadata.annotations'),
    ...recordsOf(now.conditions).flatMap(checkCondition),
    ...checkNominated(now, was, spec),
    ...(numberOf(now.observedGeneration) < 0
      ? [invalid('status.observedGeneration', now.observedGeneration, 'must be a non-negative integer')]
      : []),
    ...checkImmutable(textOf(now.qosClass), textOf(was.qosClass), 'status.qosClass'),
    ...['containerStatuses', 'initContainerStatuses', 'ephemeralContainerStatuses'].flatMap((list) =>
      checkStates(recordsOf(now[list]), recordsOf(was[list]), spec, list),
    ),
    ...checkAddresses(now, was, 'podIPs'),
    ...checkHostAddress(now),
    ...checkAddresses(now, was, 'hostIPs'),
  ];
}

function checkCondition(condition: JsonObject, index: number): FieldError[] {
  const at = `status.conditions[${index}]`;
  const type = textOf(condition.type);
  const observed = numberOf(condition.observedGeneration);
  return [
    ...(observed < 0 ? [invalid(`${at}.observedGeneration`, observed, 'must be a non-negative integer')] : []),
    ...(['PodScheduled', 'Ready', 'Initialized'].includes(type) ? [] : checkText(qualifiedName, type, `${at}.Type`)),
  ];
}

function checkNominated(now: JsonObject, was: JsonObject, spec: JsonObject): FieldError[] {
  const name = textOf(now.nominatedNodeName);
  if (name === '' || name === textOf(was.nominatedNodeName)) return [];
  const at = 'status.nominatedNodeName';
  const bound = textOf(spec.nodeName) !== '';
  return [
    ...checkText(dnsSubdomain, name, at),
    ...(bound ? [forbidden(at, 'may not be set on pods that are already bound to a node')] : []),
  ];
}

/** A terminated container does not come back, unless its Pod restarts it. */
function checkStates(
  now: readonly JsonObject[],
  was: readonly JsonObject[],
  spec: JsonObject,
  list: string,
): FieldError[] {
  return was.flatMap((old, index) => {
    const { terminated } = recordOf(old.state);
    if (terminated === undefined) return [];
    const one = now.find(({ name }) => name === old.name);
    if (one === undefined || recordOf(one.state).terminated !== undefined) return [];
    if (list !== 'ephemeralContainerStatuses' && mayRestart(spec, list, old.name, recordOf(terminated))) return [];
    return [forbidden(`status.${list}[${index}].state`, 'may not be transitioned to non-terminated state')];
  });
}

function mayRestart(spec: JsonObject, list: string, name: JsonObject[string], { exitCode }: JsonObject): boolean {
  const containers = [...recordsOf(spec.containers), ...recordsOf(spec.initContainers)];
  const rules = (one: JsonObject) => recordsOf(one.restartPolicyRules);
  if (containers.some((one) => rules(one).some(({ action }) => action === 'RestartAllContainers'))) return true;
  const container = recordsOf(spec[list === 'containerStatuses' ? 'containers' : 'initContainers']).find(
    (one) => one.name === name,
  );
  if (container === undefined) return false;
  const code = numberOf(exitCode);
  const met = rules(container).some(({ exitCodes }) => {
    const { operator, values } = recordOf(exitCodes);
    return Array.isArray(values) && values.includes(code) === (operator === 'In');
  });
  if (met) return true;
  const policy = container.restartPolicy ?? spec.restartPolicy;
  return policy === 'Always' || (policy === 'OnFailure' && code !== 0);
}

function checkAddresses(now: JsonObject, was: JsonObject, list: string): FieldError[] {
  const at = `status.${list}`;
  const addresses = recordsOf(now[list]).map(({ ip }) => textOf(ip));
  const known = recordsOf(was[list]).map(({ ip }) => textOf(ip));
  const errors = addresses.flatMap((ip, index) => checkIp(ip, `${at}[${index}]`, known));
  if (addresses.length < 2) return errors;
  const families = new Set(addresses.map((ip) => parseIp(ip)?.family));
  if (addresses.length === 2 && families.size === 2) return errors;
  const shown = addresses.map((ip) => ({ IP: ip }));
  return [...errors, invalid(at, shown, 'may specify no more than one IP for each IP family')];
}

function checkHostAddress({ hostIP, hostIPs }: JsonObject): FieldError[] {
  const [first] = recordsOf(hostIPs);
  if (first === undefined || textOf(first.ip) === textOf(hostIP)) return [];
  return [invalid('status.hostIPs[0].ip', textOf(first.ip), 'must be equal to `hostIP`')];
}
