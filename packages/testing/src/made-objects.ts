import type { Storage } from '@riata/apiserver';
import type { Client, ConnectedClient } from 'riata';
import type { Write } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { formatKey, type KindRef, type KubeObject } from 'riata/object';
import { ignoreNotFound, isConflict, isNotFound } from 'riata/rest';
import { describeError, type Scheduler } from 'riata/runtime';

interface Made {
  readonly apiVersion: string;
  readonly kind: string;
  readonly namespace?: string;
  readonly name: string;
}

/** Objects that a test and its controllers have made, so that they can be removed again. */
export class MadeObjects {
  readonly #made = new Map<string, Made>();

  add(made: Made): void {
    this.#made.set(idOf(made), made);
  }

  addObject(object: KubeObject): void {
    this.add(madeOf(object));
  }

  forget(made: Made): void {
    this.#made.delete(idOf(made));
  }

  forgetAll(): void {
    this.#made.clear();
  }

  /** Records every creation and deletion on an embedded server, by any client. */
  observe(storage: Storage): Disposable {
    return storage.observe((_, { before, after }) => {
      // A migration stores an object in another version, which may be the only one left when it is removed.
      const isSame = before?.object.apiVersion === after?.object.apiVersion;
      if (before !== undefined && !isSame) this.forget(madeOf(before.object));
      if (after !== undefined && !isSame) this.addObject(after.object);
    });
  }

  /**
   * Removes all of them, with or without finalizers, and retries failures. Rejects, naming them, if some are left after
   * a few rounds.
   */
  async remove(client: ConnectedClient, server: RemovalServer): Promise<void> {
    const { hasGone, emptiesNamespaces } = server;
    const remover = { client, finalizesNamespaces: hasGone && !emptiesNamespaces };
    let failure: unknown;
    for (let round = 0; round < mostRounds && this.#made.size > 0; round += 1) {
      if (failure !== undefined) await server.clock.sleep(round * patienceMs);
      failure = undefined;
      const inOrder = [...this.#made.values()].sort((a, b) => rankOf(a) - rankOf(b));
      // Objects in a deleted namespace are removed with it, unless a finalizer is in the way.
      const goesAlong = ({ namespace: place }: Made) =>
        emptiesNamespaces && place !== undefined && this.#made.has(idOf({ ...namespace, name: place }));
      const removeSome = async (made: Made) => {
        try {
          await (goesAlong(made) ? free(remover, made) : removeOne(remover, made));
          if (!hasGone) this.forget(made);
        } catch (error) {
          failure = error;
        }
      };
      for (const some of batches(inOrder)) await Promise.all(some.map(removeSome));
      await server.idle();
    }
    if (this.#made.size === 0) return;
    const left = [...this.#made.values()].map((made) => `${made.kind} ${formatKey(made)}`).join(', ');
    const why = failure === undefined ? '' : `: ${describeError(failure)}`;
    throw new Error(`reset: these objects could not be removed: ${left}${why}`, { cause: failure });
  }
}

/** What is known of a server that objects are removed from. */
export interface RemovalServer {
  /** Deletions are known from elsewhere. */
  readonly hasGone: boolean;
  /** It has controllers that empty namespaces which are deleted, and so let them go. */
  readonly emptiesNamespaces: boolean;
  readonly clock: Scheduler;
  /** Resolves when the server has done what follows. */
  idle(): Promise<void>;
}

/**
 * Whether a write has created its object, on a server that only shows its answers: a creation, an update or apply that
 * is among `created`, from which it is removed, or an apply to an object that no other client has touched since
 * `startedAt`.
 */
export function isCreation(
  write: Write,
  startedAt: number,
  created: Set<string>,
): write is Write & { readonly answer: KubeObject } {
  const { operation } = write;
  if (!('answer' in write) || operation.subresource !== undefined) return false;
  const { metadata } = write.answer as Partial<KubeObject>;
  if (metadata?.name === undefined) return false;
  const { kind, plural } = operation.kind;
  const isCreated = [kind, plural].some((word) => created.delete(`${word} ${formatKey(metadata)}`));
  if (isCreated || operation.verb === 'create') return true;
  if (operation.verb !== 'patch' && operation.verb !== 'update') return false;
  const { creationTimestamp, managedFields = [] } = metadata;
  const isNew = Date.parse(creationTimestamp ?? '') >= Math.floor(startedAt / 1000) * 1000;
  return isNew && managedFields.length === 1;
}

const namespace = { apiVersion: 'v1', kind: 'Namespace' };
/** Requests in flight at once. */
const atATime = 16;
const mostRounds = 5;
/** How much longer to wait before each further round, where something has failed. */
const patienceMs = 500;

/** Objects that others depend on are removed last. */
function rankOf({ kind }: Made): number {
  if (kind === Namespace.kind) return 1;
  return kind === CustomResourceDefinition.kind ? 2 : 0;
}

/** At most this many at a time, and never of different ranks. */
function* batches(inOrder: readonly Made[]): Generator<readonly Made[]> {
  for (let from = 0; from < inOrder.length; ) {
    const rank = rankOf(inOrder[from]!);
    const some = inOrder.slice(from, from + atATime).filter((made) => rankOf(made) === rank);
    yield some;
    from += some.length;
  }
}

interface Remover {
  readonly client: ConnectedClient;
  /** No controller does it. */
  readonly finalizesNamespaces: boolean;
}

async function removeOne(remover: Remover, made: Made): Promise<void> {
  const { client, finalizesNamespaces } = remover;
  const kind = await kindOf(client, made);
  if (kind === undefined) return;
  const isNamespace = made.kind === Namespace.kind;
  const answer = await client.delete(kind, keyIn(made), { gracePeriodSeconds: 0 }).catch((error: unknown) => {
    if (isNotFound(error)) return undefined;
    // A namespace that is already being deleted is not deleted again.
    if (isNamespace && isConflict(error)) return {};
    throw error;
  });
  if (answer === undefined) return;
  const { metadata } = answer as Partial<KubeObject>;
  if (metadata?.finalizers?.length && made.kind !== CustomResourceDefinition.kind) await unhold(client, kind, made);
  if (isNamespace && finalizesNamespaces) await finalize(client, made);
}

/** Lets a namespace go, as its controller does. */
async function finalize(client: ConnectedClient, { name }: Made): Promise<void> {
  const body = { ...namespace, metadata: { name }, spec: { finalizers: [] } };
  await client.rest.put().absPath(`/api/v1/namespaces/${name}/finalize`).body(body).do().catch(ignoreNotFound);
}

/** Removes its finalizers, where another controller deletes it. */
async function free({ client }: Remover, made: Made): Promise<void> {
  const kind = await kindOf(client, made);
  if (kind === undefined) return;
  const stored = (await client.find(kind, keyIn(made)).catch(ignoreNotFound)) as KubeObject | null | undefined;
  if (stored?.metadata.finalizers?.length) await unhold(client, kind, made);
}

async function unhold(client: Client, kind: KindRef, made: Made): Promise<void> {
  const body = { metadata: { finalizers: null } };
  await client.patch(kind, keyIn(made), { type: 'merge', body } as never).catch(ignoreNotFound);
}

function keyIn({ namespace: place, name }: Made) {
  return { namespace: place, name } as never;
}

/** Undefined for one that is no longer served, or has another scope by now: it has no such object any more. */
async function kindOf(client: Client, made: Made): Promise<KindRef | undefined> {
  const kind = client.scheme.kindOf(made) ?? (await client.mapper.kindFor(made).catch(() => undefined));
  const scope = made.namespace === undefined ? 'Cluster' : 'Namespaced';
  return kind?.scope === scope ? kind : undefined;
}

function madeOf({ apiVersion, kind, metadata }: KubeObject): Made {
  const { namespace: place, name } = metadata;
  return { apiVersion, kind, name, ...(place && { namespace: place }) };
}

function idOf({ apiVersion, kind, namespace: place, name }: Made): string {
  return JSON.stringify([apiVersion, kind, place ?? '', name]);
}
