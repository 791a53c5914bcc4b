import type { JsonObject } from 'riata/object';
import { metaOf, recordOf, recordsOf, textOf } from '../../../resource/metadata.js';
import type { FieldError } from '../../../status/field-error.js';
import { formatFieldError } from '../../../status/field-error.js';
import { invalidObject } from '../../../status/refusal.js';
import type { Storage } from '../../../storage/storage.js';
import type { AdmissionAttributes, AdmissionPlugin } from '../../admission.js';
import { findObject, forbiddenRequest, objectsOf, synchronousPlugin } from '../synchronous-plugin.js';
import { checkPodSecurity, printDetails, printReasons } from './check-pod-security.js';
import type { CheckedPod } from './security-check.js';
import {
  compareLevels,
  hasPolicy,
  isSameLevel,
  type LevelVersion,
  policyOf,
  printLevel,
  type SecurityPolicy,
} from './security-policy.js';

const prefix = 'pod-security.kubernetes.io/';
const ignoredSubresources: ReadonlySet<string> = new Set([
  ...['exec', 'attach', 'binding', 'eviction', 'log', 'portforward', 'proxy', 'status'],
]);
/** Paths of Pod templates, by table. */
const templates: Readonly<Record<string, readonly string[]>> = {
  '/podtemplates': ['template'],
  '/replicationcontrollers': ['spec', 'template'],
  'apps/replicasets': ['spec', 'template'],
  'apps/deployments': ['spec', 'template'],
  'apps/statefulsets': ['spec', 'template'],
  'apps/daemonsets': ['spec', 'template'],
  'batch/jobs': ['spec', 'template'],
  'batch/cronjobs': ['spec', 'jobTemplate', 'spec', 'template'],
};
/** Maximum number of Pods to check when the labels of their namespace change. */
const maxPods = 3000;

/** Holds Pods to the level of the Pod Security Standards that the labels of their namespace name (`PodSecurity`). */
export function podSecurity({ storage }: { readonly storage: Storage }): AdmissionPlugin {
  const labelsOf = (namespace: string) => recordOf(metaOf(findObject(storage, '/namespaces', namespace) ?? {}).labels);
  return synchronousPlugin({
    name: 'PodSecurity',
    handles({ operation, resource: { table }, subresource, namespace }) {
      if (operation !== 'CREATE' && operation !== 'UPDATE') return false;
      if (table === '/namespaces') return subresource === '';
      const isChecked =
        table === '/pods'
          ? !ignoredSubresources.has(subresource)
          : subresource === '' && Object.hasOwn(templates, table);
      return isChecked && hasPolicy(labelsOf(namespace));
    },
    check(object, attributes) {
      const { table } = attributes.resource;
      if (table === '/namespaces') {
        checkNamespace(object, attributes, storage);
        return;
      }
      const { oldObject, operation, namespace } = attributes;
      if (table === '/pods' && operation === 'UPDATE' && !isSignificant(object, oldObject ?? {})) return;
      const { policy, errors } = policyOf(labelsOf(namespace));
      const pod = table === '/pods' ? checkedPod(object) : templateOf(object, table);
      if (pod !== undefined) evaluate(pod, policy, errors, attributes, table === '/pods');
    },
  });
}

function checkedPod(pod: JsonObject): CheckedPod {
  return { annotations: recordOf(metaOf(pod).annotations), spec: recordOf(pod.spec) };
}

function templateOf(object: JsonObject, table: string): CheckedPod | undefined {
  let found: JsonObject = object;
  for (const field of templates[table] ?? []) {
    if (found[field] === undefined) return undefined;
    found = recordOf(found[field]);
  }
  return checkedPod(found);
}

function evaluate(
  pod: CheckedPod,
  { enforce, audit, warn }: SecurityPolicy,
  errors: readonly FieldError[],
  attributes: AdmissionAttributes,
  enforced: boolean,
): void {
  if (errors.length > 0) {
    const texts = errors.map(formatFieldError);
    const text = texts.length === 1 ? texts[0] : `[${texts.join(', ')}]`;
    attributes.annotate(`${prefix}error`, `Failed to parse policy: ${text}`);
  }
  const violates = (level: LevelVersion) => {
    const details = printDetails(checkPodSecurity(level, pod));
    return details === '' ? undefined : `violate PodSecurity "${printLevel(level)}": ${details}`;
  };
  if (enforced) attributes.annotate(`${prefix}enforce-policy`, printLevel(enforce));
  const audited = violates(audit);
  if (audited !== undefined) attributes.annotate(`${prefix}audit-violations`, `would ${audited}`);
  const denied = enforced ? violates(enforce) : undefined;
  if (denied !== undefined) throw forbiddenRequest(attributes, denied.replace('violate', 'violates'));
  const warned = violates(warn);
  if (warned !== undefined) attributes.warn(`would ${warned}`);
}

/** Refuses invalid labels; existing Pods only lead to warnings. */
function checkNamespace(namespace: JsonObject, attributes: AdmissionAttributes, storage: Storage): void {
  const { operation, oldObject = {}, resource } = attributes;
  const name = textOf(metaOf(namespace).name);
  const { policy, errors } = policyOf(recordOf(metaOf(namespace).labels));
  const old = policyOf(recordOf(metaOf(oldObject).labels));
  const isKnown =
    operation === 'UPDATE' && errors.map(formatFieldError).join() === old.errors.map(formatFieldError).join();
  if (errors.length > 0 && !isKnown) throw invalidObject(resource, name, errors);
  if (operation !== 'UPDATE') return;
  const [now, then] = [policy.enforce, old.policy.enforce];
  if (isSameLevel(now, then) || now.level === 'privileged') return;
  if (now.minor === then.minor && compareLevels(now, then) <= 0) return;
  for (const warning of podWarnings(name, now, storage)) attributes.warn(warning);
}

/** Warnings about existing Pods that the new level would refuse, one for each distinct set of problems. */
function podWarnings(namespace: string, level: LevelVersion, storage: Storage): string[] {
  const pods = prioritized(objectsOf(storage, '/pods', namespace).map((pod) => pod as unknown as JsonObject));
  const checked = pods.slice(0, maxPods);
  const byReason = new Map<string, string[]>();
  for (const pod of checked) {
    const reason = printReasons(checkPodSecurity(level, checkedPod(pod)));
    if (reason === '') continue;
    byReason.set(reason, [...(byReason.get(reason) ?? []), textOf(metaOf(pod).name)]);
  }
  const warnings = [...byReason].map(([reason, names]) => {
    const [first = ''] = [...names].sort();
    const others = names.length - 1;
    if (others === 0) return `${first}: ${reason}`;
    return `${first} (and ${others} other ${others === 1 ? 'pod' : 'pods'}): ${reason}`;
  });
  const only = `new PodSecurity enforce level only checked against the first ${checked.length} of ${pods.length} existing pods`;
  const head = `existing pods in namespace "${namespace}" violate the new PodSecurity enforce level "${printLevel(level)}"`;
  return [...(checked.length < pods.length ? [only] : []), ...(warnings.length > 0 ? [head, ...warnings.sort()] : [])];
}

/** One Pod of each controller first. */
function prioritized(pods: readonly JsonObject[]): JsonObject[] {
  const known = new Set<string>();
  const [first, repeated]: [JsonObject[], JsonObject[]] = [[], []];
  for (const pod of pods) {
    const owner = recordsOf(metaOf(pod).ownerReferences).find(({ controller }) => controller === true);
    const uid = owner === undefined ? undefined : textOf(owner.uid);
    if (uid !== undefined && known.has(uid)) repeated.push(pod);
    else first.push(pod);
    if (uid !== undefined) known.add(uid);
  }
  return [...first, ...repeated];
}

/** Whether an update of a Pod may affect its security, by new containers or images. */
function isSignificant(pod: JsonObject, before: JsonObject): boolean {
  const [now, then] = [recordOf(pod.spec), recordOf(before.spec)];
  const images = (spec: JsonObject, list: string) => recordsOf(spec[list]).map(({ image }) => textOf(image));
  const isChanged = ['containers', 'initContainers'].some((list) => {
    const [here, there] = [images(now, list), images(then, list)];
    return here.length !== there.length || here.some((image, index) => image !== there[index]);
  });
  const known = new Map(recordsOf(then.ephemeralContainers).map(({ name, image }) => [textOf(name), textOf(image)]));
  return (
    isChanged || recordsOf(now.ephemeralContainers).some((one) => known.get(textOf(one.name)) !== textOf(one.image))
  );
}
