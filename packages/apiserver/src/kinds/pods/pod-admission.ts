import { equal, type Json, type JsonObject, type KubeObject } from 'riata/object';
import { metaOf, numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { forbiddenWrite, type Refusal } from '../../status/refusal.js';
import type { PrepareContext } from '../kind-rules.js';
import { checkNewPod } from './checks/pod-checks.js';
import { limitProblem, limitsOf, withLimits } from './limit-ranger.js';

/** What upstream's admission plug-ins make of a new or changed Pod. */
export function admitPod(sent: JsonObject, before: JsonObject | undefined, context: PrepareContext): JsonObject {
  const pod = before === undefined ? limited(sent, context) : sent;
  const spec = withTolerations(recordOf(pod.spec));
  const admitted =
    before === undefined
      ? withRuntimeClass(pod, withPriority(pod, spec, context), context)
      : keepPriority(spec, recordOf(before.spec));
  return admitted === pod.spec ? pod : { ...pod, spec: admitted };
}

/** What the namespace gives to Pods and how much it lets them have. */
function limited(sent: JsonObject, { objects }: PrepareContext): JsonObject {
  const ranges = limitsOf(objects('/limitranges', textOf(metaOf(sent).namespace)));
  if (ranges.length === 0) return sent;
  const pod = withLimits(sent, ranges);
  const problem = limitProblem(pod, ranges);
  // What is wrong with the Pod in itself is told first.
  if (problem !== undefined && checkNewPod(pod).length === 0) throw refuse(pod, problem);
  return pod;
}

/** A Pod stays for a while on a node that is not ready or cannot be reached (`DefaultTolerationSeconds`). */
function withTolerations(spec: JsonObject): JsonObject {
  const tolerations = recordsOf(spec.tolerations);
  const missing = ['node.kubernetes.io/not-ready', 'node.kubernetes.io/unreachable'].filter(
    (taint) =>
      !tolerations.some(
        ({ key = '', effect = '' }) => (key === taint || key === '') && (effect === 'NoExecute' || effect === ''),
      ),
  );
  if (missing.length === 0) return spec;
  const added = missing.map((key) => ({ key, operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 }));
  return { ...spec, tolerations: [...tolerations, ...added] };
}

/** What a Pod's way of running needs beside the Pod itself (`RuntimeClass`). */
function withRuntimeClass(pod: JsonObject, spec: JsonObject, { objects }: PrepareContext): JsonObject {
  const name = textOf(spec.runtimeClassName);
  const named = spec.runtimeClassName !== undefined;
  const found = named
    ? objects('node.k8s.io/runtimeclasses').find(({ metadata }) => metadata.name === name)
    : undefined;
  if (named && found === undefined) {
    throw refuse(pod, `pod rejected: RuntimeClass ${JSON.stringify(name)} not found`);
  }
  const { overhead, scheduling } = (found ?? {}) as unknown as JsonObject;
  const { podFixed } = recordOf(overhead);
  if (overhead === undefined && spec.overhead !== undefined && checkNewPod(pod).length === 0) {
    throw refuse(pod, 'pod rejected: Pod Overhead set without corresponding RuntimeClass defined Overhead');
  }
  if (overhead !== undefined && spec.overhead !== undefined && !equal(podFixed ?? {}, spec.overhead)) {
    throw refuse(pod, "pod rejected: Pod's Overhead doesn't match RuntimeClass's defined Overhead");
  }
  const made = podFixed === undefined ? spec : { ...spec, overhead: podFixed };
  return scheduling === undefined ? made : withScheduling(pod, made, recordOf(scheduling));
}

function withScheduling(pod: JsonObject, spec: JsonObject, scheduling: JsonObject): JsonObject {
  const [own, more] = [recordOf(spec.nodeSelector), recordOf(scheduling.nodeSelector)];
  for (const [key, value] of Object.entries(more)) {
    if (own[key] === undefined || own[key] === value) continue;
    const where = `runtimeClass.scheduling.nodeSelector[${key}] = ${value}; pod.spec.nodeSelector[${key}] = ${own[key]}`;
    throw refuse(pod, `conflict: ${where}`);
  }
  const nodeSelector = { ...own, ...more };
  const tolerations = [...recordsOf(spec.tolerations), ...recordsOf(scheduling.tolerations)];
  return { ...spec, ...(Object.keys(nodeSelector).length === 0 ? {} : { nodeSelector }), tolerations };
}

/** What a Pod's class says about its priority (`Priority`). */
function withPriority(pod: JsonObject, spec: JsonObject, { objects }: PrepareContext): JsonObject {
  const asked = textOf(spec.priorityClassName);
  const classes = objects('scheduling.k8s.io/priorityclasses');
  const found = asked === '' ? globalDefault(classes) : classes.find(({ metadata }) => metadata.name === asked);
  if (asked !== '' && found === undefined) throw refuse(pod, `no PriorityClass with name ${asked} was found`);
  const { value, preemptionPolicy = 'PreemptLowerPriority' } = (found ?? {}) as unknown as JsonObject;
  const priority = numberOf(value);
  check(pod, spec.priority, priority, (given) => `the integer value of priority (${given})`);
  check(pod, spec.preemptionPolicy, preemptionPolicy, (given) => `the string value of PreemptionPolicy (${given})`);
  const named = found === undefined ? {} : { priorityClassName: found.metadata.name };
  return { ...spec, ...named, priority, preemptionPolicy };
}

function check(pod: JsonObject, given: Json | undefined, wanted: Json, what: (given: Json) => string): void {
  if (given === undefined || given === wanted) return;
  const words = 'must not be provided in pod spec; priority admission controller computed';
  throw refuse(pod, `${what(given)} ${words} ${wanted} from the given PriorityClass name`);
}

function globalDefault(classes: readonly KubeObject[]): KubeObject | undefined {
  const value = (one: KubeObject) => numberOf((one as unknown as JsonObject).value);
  return classes
    .filter((one) => (one as unknown as JsonObject).globalDefault === true)
    .sort((a, b) => value(a) - value(b))[0];
}

/** An update that says nothing leaves the priority as it is. */
function keepPriority(spec: JsonObject, before: JsonObject): JsonObject {
  const kept = ['priority', 'preemptionPolicy'].filter(
    (field) => spec[field] === undefined && before[field] !== undefined,
  );
  if (kept.length === 0) return spec;
  return { ...spec, ...Object.fromEntries(kept.map((field) => [field, before[field] as Json])) };
}

function refuse(pod: JsonObject, why: string): Refusal {
  return forbiddenWrite({ group: '', plural: 'pods', kind: 'Pod' }, textOf(metaOf(pod).name), why);
}
