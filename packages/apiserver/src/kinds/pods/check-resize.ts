import { equal, type Json, type JsonObject } from 'riata/object';
import { recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { type FieldError, forbidden, invalid } from '../../status/field-error.js';
import { isMirrored } from './pod-annotations.js';
import { qosClass } from './qos-class.js';

/**
 * The problems of a resize (`ValidatePodResize`), which may change CPU and memory of existing containers only. `ofPod`
 * are the problems of the Pod itself.
 */
export function checkResize(pod: JsonObject, before: JsonObject, ofPod: readonly FieldError[]): readonly FieldError[] {
  const [now, was] = [recordOf(pod.spec), recordOf(before.spec)];
  if (isMirrored(before)) return [forbidden('', 'static pods cannot be resized')];
  if (recordOf(was.os).name === 'windows') return [forbidden('', 'windows pods cannot be resized')];
  const errors = [...ofPod];
  const known = textOf(recordOf(before.status).qosClass) || qosClass(before);
  if (known !== qosClass(pod)) {
    const shown = textOf(recordOf(pod.status).qosClass);
    errors.push(invalid('spec', shown, 'Pod QOS Class may not change as a result of resizing'));
  }
  if (!isSupported(before)) errors.push(forbidden('spec', 'Pod running on node without support for resize'));
  const order = ['containers', 'initContainers'].flatMap((list) => checkOrder(now, was, list));
  if (order.length > 0) return [...errors, ...order];
  for (const list of ['initContainers', 'containers']) {
    for (const [i, old] of recordsOf(was[list]).entries()) {
      const one = recordsOf(now[list])[i] ?? {};
      errors.push(...checkRemoved(one, old, `spec.${list}[${i}].resources`), ...checkOthers(one, old, list, i));
    }
  }
  return errors;
}

/** A node that runs the Pod and reports no resources does not support resizing. */
function isSupported(pod: JsonObject): boolean {
  const running = recordsOf(recordOf(pod.status).containerStatuses).find(
    (s) => recordOf(s.state).running !== undefined,
  );
  return running === undefined || running.resources !== undefined;
}

function checkOrder(now: JsonObject, was: JsonObject, list: string): FieldError[] {
  const [containers, before] = [recordsOf(now[list]), recordsOf(was[list])];
  if (containers.length !== before.length) {
    return [forbidden(`spec.${list}`, `${list} may not be added or removed on resize`)];
  }
  return before.flatMap(({ name }, i) =>
    containers[i]?.name === name
      ? []
      : [forbidden(`spec.${list}[${i}].name`, `${list} may not be renamed or reordered on resize`)],
  );
}

function checkRemoved(now: JsonObject, was: JsonObject, path: string): FieldError[] {
  return ['requests', 'limits'].flatMap((list) => {
    const kept = recordOf(recordOf(now.resources)[list]);
    const lost = Object.keys(recordOf(recordOf(was.resources)[list])).some((name) => kept[name] === undefined);
    return lost ? [forbidden(`${path}.${list}`, `resource ${list} cannot be removed`)] : [];
  });
}

function checkOthers(now: JsonObject, was: JsonObject, list: string, index: number): FieldError[] {
  if (equal(withoutElastic(now), withoutElastic(was))) return [];
  if (list === 'containers') return [forbidden('spec', 'only cpu and memory resources are mutable')];
  const detail = 'only cpu and memory resources for init or sidecar containers are mutable';
  return [forbidden(`spec.initContainers[${index}]`, detail)];
}

function withoutElastic(container: JsonObject): JsonObject {
  const resources = recordOf(container.resources);
  const rest = (list: Json | undefined) => {
    const { cpu: _, memory: __, ...others } = recordOf(list);
    return others;
  };
  return { ...container, resources: { limits: rest(resources.limits), requests: rest(resources.requests) } };
}
