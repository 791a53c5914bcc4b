import { control, type ReconcileContext } from 'riata';
import type { Reader } from 'riata/client';
import { allOf, changed, intervalSource } from 'riata/controller';
import { PersistentVolumeClaim, Pod, ResourceQuota, Service } from 'riata/kinds';
import { type KubeObject, Quantity } from 'riata/object';
import { type Amounts, add } from '../node/pod-resources.js';
import { CountedKinds } from './counted-kinds.js';
import {
  claimUsage,
  countedResource,
  isClaimInScope,
  isPodInScope,
  podUsage,
  scopesOf,
  serviceUsage,
} from './quota-usage.js';

/** Keeps the status of ResourceQuotas: how much of what they limit is used. Nothing is refused here. */
export const resourceQuotas = () => {
  const counted = new CountedKinds((object, { reader }) => quotasBeside(object, reader));
  return control(ResourceQuota)
    .watches(Pod, quotasBeside, {
      predicates: [changed(({ metadata, spec, status }) => [metadata.deletionTimestamp, spec, status.phase])],
    })
    .watches(Service, quotasBeside)
    .watches(PersistentVolumeClaim, quotasBeside)
    .source((parts) => counted.source(parts))
    .source(({ reader }) => intervalSource('5m', allOf(reader, ResourceQuota)))
    .reconcile(async (context) => {
      const { object: quota, status } = context;
      if (quota.metadata.deletionTimestamp !== undefined) return;
      const hard = quota.spec?.hard ?? {};
      const names = Object.keys(hard);
      const usage = await usageOf(context, names, counted);
      const used = names.flatMap((name) => {
        // A resource that can no longer be evaluated keeps its last value.
        const amount = usage.get(name)?.toString() ?? quota.status?.used?.[name];
        return amount === undefined ? [] : [[name, amount] as const];
      });
      await status({ hard, used: Object.fromEntries(used) });
    });
};

async function quotasBeside({ metadata }: KubeObject, reader: Reader) {
  const { items } = await reader.list(ResourceQuota, { namespace: metadata.namespace });
  return items.map((quota) => quota.metadata);
}

/** How much is used of each of these names. */
async function usageOf(context: ReconcileContext<ResourceQuota>, names: readonly string[], counted: CountedKinds) {
  const { object: quota, client, clock } = context;
  const { namespace } = quota.metadata;
  const scopes = scopesOf(quota);
  const usage = new Map<string, Quantity>();
  const sum = async <T>(objects: Promise<{ readonly items: readonly T[] }>, of: (object: T) => Amounts) => {
    for (const object of (await objects).items) add(usage, of(object));
  };
  for (const name of names) if (countedResource(name) !== undefined) usage.set(name, Quantity.of(0));
  for (const resource of new Set(names.map(countedResource))) {
    if (resource === undefined) continue;
    if (resource === 'pods') {
      const isIn = (pod: Pod) => scopes.every((scope) => isPodInScope(pod, scope));
      await sum(client.list(Pod, { namespace }), (pod) => (isIn(pod) ? podUsage(pod, clock) : new Map()));
    } else if (resource === 'persistentvolumeclaims') {
      const isIn = (claim: PersistentVolumeClaim) => scopes.every((scope) => isClaimInScope(claim, scope));
      const claims = client.list(PersistentVolumeClaim, { namespace });
      await sum(claims, (claim) => (isIn(claim) ? claimUsage(claim) : new Map()));
    } else if (resource === 'services') {
      await sum(client.list(Service, { namespace }), (service) =>
        scopes.length === 0 ? serviceUsage(service) : new Map(),
      );
    } else {
      const count = await counted.count(resource, namespace, client);
      for (const name of [resource, `count/${resource}`]) {
        if (count === undefined) usage.delete(name);
        else usage.set(name, Quantity.of(scopes.length === 0 ? count : 0));
      }
    }
  }
  return usage;
}
