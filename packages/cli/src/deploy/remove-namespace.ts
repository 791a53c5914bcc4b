import type { ConnectedClient } from 'riata/client';
import {
  ConfigMap,
  CronJob,
  DaemonSet,
  Deployment,
  Ingress,
  Job,
  Lease,
  Namespace,
  PersistentVolumeClaim,
  Pod,
  Role,
  RoleBinding,
  Secret,
  Service,
  ServiceAccount,
  StatefulSet,
} from 'riata/kinds';
import type { KindRef } from 'riata/object';
import { isNotFound } from 'riata/rest';
import type { CrdKind } from '../config/operator.js';

const kinds: readonly KindRef[] = [
  ...[Pod, Deployment, StatefulSet, DaemonSet, Job, CronJob, Service, Ingress, PersistentVolumeClaim],
  ...[ConfigMap, Secret, ServiceAccount, Role, RoleBinding, Lease],
];

/**
 * Deletes the namespace of an operator that was removed, unless something else is in it. Resolves to what that is; to
 * nothing if the namespace is being deleted.
 */
export async function removeNamespace(
  client: ConnectedClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  ownKinds: readonly CrdKind[],
  signal: AbortSignal,
): Promise<string[]> {
  const left: string[] = [];
  for (const kind of [...kinds, ...ownKinds.filter(({ scope }) => scope === 'Namespaced')]) {
    const found = await client.list(kind, { namespace, signal }).catch((error: unknown) => {
      if (isNotFound(error)) return { items: [] }; // its definition is gone
      throw error;
    });
    for (const { metadata } of found.items) {
      if (metadata.deletionTimestamp === undefined && !isOwn(kind.kind, metadata.name, name))
        left.push(`${kind.kind} ${metadata.name}`);
    }
  }
  // Pods of the operator that still stop go with the namespace.
  if (left.length === 0) {
    await client.delete(Namespace, { name: namespace }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  return left;
}

/** What every namespace has, and what the operator made for itself: its leases and the certificate of its webhooks. */
function isOwn(kind: string, object: string, operator: string): boolean {
  if (kind === 'ConfigMap' && object === 'kube-root-ca.crt') return true;
  if (kind === 'ServiceAccount' && object === 'default') return true;
  const isNamedAfter = object === operator || object.startsWith(`${operator}-`);
  return isNamedAfter && (kind === 'Pod' || kind === 'Lease' || (kind === 'Secret' && object.endsWith('-tls')));
}
