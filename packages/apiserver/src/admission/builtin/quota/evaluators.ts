import { Quantity } from 'riata/object';
import { claimQuota } from './claim-quota.js';
import { podQuota } from './pod-quota.js';
import type { QuotaEvaluator } from './quota-evaluator.js';
import { serviceQuota } from './service-quota.js';

const one = Quantity.of(1);

/** Evaluators that do more than count objects, by `group/plural`. */
const special: ReadonlyMap<string, QuotaEvaluator> = new Map([
  ['/pods', podQuota],
  ['/services', serviceQuota],
  ['/persistentvolumeclaims', claimQuota],
]);
/** Core resources that quotas name without `count/`, too. */
const plainNames: ReadonlySet<string> = new Set(['configmaps', 'secrets', 'replicationcontrollers', 'resourcequotas']);
/** Resources that quotas ignore: Events, and those that are never stored. */
const ignored: ReadonlySet<string> = new Set([
  ...['/bindings', '/componentstatuses', '/events', 'events.k8s.io/events'],
  ...['tokenreviews', 'selfsubjectreviews'].map((plural) => `authentication.k8s.io/${plural}`),
  ...['', 'self', 'local'].map((prefix) => `authorization.k8s.io/${prefix}subjectaccessreviews`),
  'authorization.k8s.io/selfsubjectrulesreviews',
]);

/** The evaluator of a resource; undefined if quotas ignore it. */
export function evaluatorFor(group: string, plural: string): QuotaEvaluator | undefined {
  const id = `${group}/${plural}`;
  return ignored.has(id) ? undefined : (special.get(id) ?? objectCount(group, plural));
}

/**
 * The resource, as `group/plural`, whose objects a name in `spec.hard` counts; undefined for a name that counts none.
 */
export function countedResource(name: string): string | undefined {
  for (const [id, evaluator] of special) if (evaluator.covers(name)) return id;
  if (plainNames.has(name)) return `/${name}`;
  if (!name.startsWith('count/')) return undefined;
  const [plural = '', ...group] = name.slice('count/'.length).split('.');
  const id = `${group.join('.')}/${plural}`;
  return ignored.has(id) ? undefined : id;
}

function objectCount(group: string, plural: string): QuotaEvaluator {
  const names = [`count/${plural}${group === '' ? '' : `.${group}`}`];
  if (group === '' && plainNames.has(plural)) names.push(plural);
  const usage = new Map(names.map((name) => [name, one]));
  return {
    covers: (name) => names.includes(name),
    handles: ({ operation, subresource }) => operation === 'CREATE' && subresource === '',
    isInScope: () => false,
    usage: () => usage,
  };
}
