import { isJsonObject, type JsonObject, type KubeObject, type Status } from 'riata/object';
import { checkUid, expectRevision } from '../resource/expectations.js';
import { metaOf, textOf, valueAt, withMeta } from '../resource/metadata.js';
import { keyFor, type ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import { badRequest, conflict, Refusal, statusOf } from '../status/refusal.js';
import type { Steps } from '../steps.js';
import { ownWrite, validateNew } from './admit-new.js';
import { withValue } from './scale.js';
import { withCondition } from './with-condition.js';

/** Assigns a Pod to a node. */
export function* bindPod(
  store: ObjectStore,
  pods: Resource,
  namespace: string,
  name: string,
  binding: JsonObject,
  context: WriteContext,
): Steps<Status> {
  const meta = metaOf(binding);
  if (textOf(meta.name) !== name) throw badRequest('name in URL does not match name in Binding object');
  const node = targetOf(binding);
  const make = (live: JsonObject) => {
    const pod = live as unknown as KubeObject;
    if (textOf(meta.uid) !== '') checkUid(pods, keyFor(namespace, name), textOf(meta.uid), pod);
    expectRevision(pods, name, Number(pod.metadata.resourceVersion), textOf(meta.resourceVersion));
    return bound(pods, live, node, meta, context.now);
  };
  yield* validateNew(binding, context);
  store.update(pods, namespace, name, { subresource: 'binding', make, tracked: true }, ownWrite(context));
  return statusOf('Success', 201);
}

/** kube-apiserver reports an invalid target as an internal error. */
function targetOf(binding: JsonObject): string {
  const [kind, name] = ['target.kind', 'target.name'].map((path) => textOf(valueAt(binding, path)));
  const problems = [
    ...(kind === '' || kind === 'Node'
      ? []
      : [`target.kind: Unsupported value: ${JSON.stringify(kind)}: supported values: "Node", "<empty>"`]),
    ...(name === '' ? ['target.name: Required value'] : []),
  ];
  if (problems.length === 0) return name ?? '';
  throw new Refusal(500, '', problems.length === 1 ? (problems[0] as string) : `[${problems.join(', ')}]`);
}

function bound(pods: Resource, pod: JsonObject, node: string, binding: JsonObject, now: string): JsonObject {
  const { name, deletionTimestamp, labels, annotations } = metaOf(pod);
  const refuse = (why: string) =>
    conflict({ ...pods, plural: 'pods/binding' }, textOf(name), `pod ${textOf(name)} ${why}`);
  if (textOf(deletionTimestamp) !== '') throw refuse('is being deleted, cannot be assigned to a host');
  const before = textOf(valueAt(pod, 'spec.nodeName'));
  if (before !== '') throw refuse(`is already assigned to node "${before}"`);
  const gates = valueAt(pod, 'spec.schedulingGates');
  if (Array.isArray(gates) && gates.length > 0) throw refuse('has non-empty .spec.schedulingGates');
  const marked = withMeta(pod, {
    labels: joined(labels, binding.labels),
    annotations: joined(annotations, binding.annotations),
  });
  return withCondition(withValue(marked, 'spec.nodeName', node), { type: 'PodScheduled', status: 'True', now });
}

function joined(own: unknown, more: unknown): JsonObject | undefined {
  const all = { ...(isJsonObject(own) ? own : {}), ...(isJsonObject(more) ? more : {}) };
  return Object.keys(all).length === 0 ? undefined : all;
}
