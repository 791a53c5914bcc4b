import type { ConnectedClient } from 'riata/client';
import { Namespace } from 'riata/kinds';
import { type KindRef, type MetadataOnly, makeKind, metadataOnly } from 'riata/object';
import { isForbidden, isMethodNotSupported, isNotFound } from 'riata/rest';
import { describeError } from 'riata/runtime';

/** Requests in flight. */
const atOnce = 8;
/** Made by the control plane for what is in the namespace, and gone with it. */
const byproducts: ReadonlySet<string> = new Set(['Event', 'Endpoints']);

/**
 * Deletes the namespace of an operator that was removed, unless something else is in it, of whichever kind, or may be.
 * Resolves to why it stays, as lines; to none if the namespace is being deleted.
 */
export async function removeNamespace(
  client: ConnectedClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<string[]> {
  const left = await contentsOf(client, { namespace, name }, signal);
  // Pods of the operator that still stop go with the namespace.
  if (left.length === 0) {
    await client.delete(Namespace, { name: namespace }, { signal }).catch((error: unknown) => {
      if (!isNotFound(error)) throw error;
    });
  }
  return left;
}

async function contentsOf(
  client: ConnectedClient,
  { namespace, name }: { readonly namespace: string; readonly name: string },
  signal: AbortSignal,
): Promise<string[]> {
  // The definitions may have changed since they were read.
  client.mapper.reset();
  const { groups, failures } = await client.mapper.resources();
  const kinds = namespacedKinds(groups.flatMap(({ versions }) => versions.flatMap(({ resources }) => resources)));
  const known = new Set(kinds.map(({ group, kind }) => `${kind}.${group}`));
  const isDependent = ({ metadata: { ownerReferences = [] } }: MetadataOnly) =>
    ownerReferences.some(({ apiVersion, kind }) => known.has(`${kind}.${groupOf(apiVersion)}`));
  const found = new Map<string, string>();
  /** By the reason. */
  const unlisted = new Map<string, string[]>();
  const miss = (what: string, reason: string) => void unlisted.set(reason, [...(unlisted.get(reason) ?? []), what]);
  for (const [group, error] of failures) miss(`objects of ${group}`, `discovery failed: ${describeError(error)}`);
  const waiting = [...kinds];
  const look = async (): Promise<void> => {
    for (let kind = waiting.shift(); kind !== undefined; kind = waiting.shift()) {
      const plural = kind.group === '' ? kind.plural : `${kind.plural}.${kind.group}`;
      try {
        for await (const object of client.each(metadataOnly(kind), { namespace, signal, cutManagedFields: true })) {
          const { metadata } = object;
          // What belongs to another object of the namespace stays or goes with that one.
          if (metadata.deletionTimestamp !== undefined || isDependent(object)) continue;
          if (!isOwn(kind.kind, metadata.name, name)) found.set(metadata.uid, `${kind.kind} ${metadata.name}`);
        }
      } catch (error) {
        signal.throwIfAborted();
        // Its definition is gone.
        if (isNotFound(error) || isMethodNotSupported(error)) continue;
        miss(plural, unlistedReason(error));
      }
    }
  };
  await Promise.all(Array.from({ length: atOnce }, look));
  return [
    ...(found.size === 0 ? [] : [`it still holds ${listed([...found.values()])}`]),
    ...[...unlisted].map(([reason, what]) => `it may hold ${listed(what)}: ${reason}`),
  ];
}

/** Why a kind cannot be listed. */
export function unlistedReason(error: unknown): string {
  return isForbidden(error) ? 'you may not list them' : describeError(error);
}

/** `a, b, c and 2 more`. */
export function listed(names: readonly string[], most = 5): string {
  const shown = [...names].sort().slice(0, most).join(', ');
  return names.length > most ? `${shown} and ${names.length - most} more` : shown;
}

/** One version of each kind that has objects in namespaces. */
function namespacedKinds(
  resources: readonly (Parameters<typeof makeKind>[0] & { readonly verbs: readonly string[] })[],
): KindRef[] {
  const found = new Map<string, KindRef>();
  for (const resource of resources) {
    const kind: KindRef = makeKind(resource);
    // What cannot be created, such as PodMetrics, is computed from other objects.
    const isStored = ['list', 'delete', 'create'].every((verb) => resource.verbs.includes(verb));
    const id = `${kind.kind}.${kind.group}`;
    if (isStored && kind.scope === 'Namespaced' && !byproducts.has(kind.kind) && !found.has(id)) found.set(id, kind);
  }
  return [...found.values()];
}

function groupOf(apiVersion: string): string {
  return apiVersion.includes('/') ? (apiVersion.split('/')[0] as string) : '';
}

/** What every namespace has, and what the operator made for itself: its leases and the certificate of its webhooks. */
function isOwn(kind: string, object: string, operator: string): boolean {
  if (kind === 'ConfigMap' && object === 'kube-root-ca.crt') return true;
  if (kind === 'ServiceAccount' && object === 'default') return true;
  const isNamedAfter = object === operator || object.startsWith(`${operator}-`);
  return isNamedAfter && (kind === 'Pod' || kind === 'Lease' || (kind === 'Secret' && object.endsWith('-tls')));
}
