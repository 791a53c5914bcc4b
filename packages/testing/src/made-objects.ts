import type { Storage } from '@riata/apiserver';
import type { Client } from 'riata';
import type { Write } from 'riata/client';
import { CustomResourceDefinition, Namespace } from 'riata/kinds';
import { formatKey, type KindRef, type KubeObject } from 'riata/object';
import { ignoreNotFound } from 'riata/rest';

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

  /** Hears of all that is made and goes on an embedded server, whoever does it. */
  observe(storage: Storage): Disposable {
    return storage.observe((_, { before, after }) => {
      if (before === undefined && after !== undefined) this.addObject(after.object);
      if (before !== undefined && after === undefined) this.forget(madeOf(before.object));
    });
  }

  /**
   * Removes all of them, finalizers or not. `settle` waits until the server has done what follows from it. Rejects,
   * naming them, if some are still there after a few rounds. With `hasGone`, it is known from elsewhere what is gone.
   */
  async remove(client: Client, settle: () => Promise<void>, { hasGone = false } = {}): Promise<void> {
    for (let round = 0; round < 5 && this.#made.size > 0; round += 1) {
      const inOrder = [...this.#made.values()].sort((a, b) => rankOf(a) - rankOf(b));
      for (const made of inOrder) {
        // What lives in a namespace that goes is removed with it, unless a finalizer is in the way.
        const place = made.namespace;
        const goesAlong = hasGone && place !== undefined && this.#made.has(idOf({ ...namespace, name: place }));
        await removeOne(client, made, goesAlong);
        if (!hasGone) this.forget(made);
      }
      await settle();
    }
    if (this.#made.size === 0) return;
    const left = [...this.#made.values()].map((made) => `${made.kind} ${formatKey(made)}`).join(', ');
    throw new Error(`reset: these objects could not be removed: ${left}`);
  }
}

/**
 * Whether a write has made its object, on a server that only its answers tell of: a creation, an update or apply that is
 * among `created`, which it leaves then, or an apply to what nobody else has touched since `startedAt`.
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

/** What others depend on goes last. */
function rankOf({ kind }: Made): number {
  if (kind === Namespace.kind) return 1;
  return kind === CustomResourceDefinition.kind ? 2 : 0;
}

async function removeOne(client: Client, made: Made, goesAlong: boolean): Promise<void> {
  // A kind that is no longer served has no objects any more.
  const kind: KindRef | undefined = await kindOf(client, made);
  if (kind === undefined) return;
  const key = { namespace: made.namespace, name: made.name } as never;
  const stored = await client.find(kind, key).catch(ignoreNotFound);
  if (stored === undefined || stored === null) return;
  const { finalizers = [], deletionTimestamp } = (stored as KubeObject).metadata;
  if (finalizers.length > 0 && made.kind !== CustomResourceDefinition.kind) {
    await client
      .patch(kind, key, { type: 'merge', body: { metadata: { finalizers: null } } } as never)
      .catch(ignoreNotFound);
  }
  if (goesAlong || deletionTimestamp !== undefined) return;
  await client.delete(kind, key, { gracePeriodSeconds: 0 }).catch(ignoreNotFound);
}

async function kindOf(client: Client, made: Made): Promise<KindRef | undefined> {
  const known = client.scheme.kindOf(made);
  if (known !== undefined) return known;
  try {
    return await client.mapper.kindFor(made);
  } catch {
    return undefined;
  }
}

function madeOf({ apiVersion, kind, metadata }: KubeObject): Made {
  const { namespace: place, name } = metadata;
  return { apiVersion, kind, name, ...(place && { namespace: place }) };
}

function idOf({ apiVersion, kind, namespace: place, name }: Made): string {
  return JSON.stringify([apiVersion, kind, place ?? '', name]);
}
