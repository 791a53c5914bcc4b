import type { Client, Key } from '../../client/interfaces.js';
import { type CallOptions, callOptionNames } from '../../client/options.js';
import { mergeFrom, type Patch } from '../../client/patch.js';
import { formatKey, type ObjectKey } from '../../object/key.js';
import type { KindRef, Scope } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import { type Owner, setControllerReference } from '../../object/owner-references.js';
import { edit } from '../../object/value/edit.js';
import type { Mutable } from '../../object/value/mutable.js';
import { refuseUnknownOptions } from '../../runtime/option-names.js';

/**
 * The result (`controllerutil.OperationResult`). `updatedStatus`: the status and the rest; `updatedStatusOnly`: the
 * status alone.
 */
export type OperationResult = 'unchanged' | 'created' | 'updated' | 'updatedStatus' | 'updatedStatusOnly';

/** An object that may be new: nothing but its name is sure to be there. */
export type Draft<R extends KubeObject> = Pick<R, 'apiVersion' | 'kind'> & {
  metadata: Mutable<R['metadata']>;
} & { -readonly [K in keyof R as Exclude<K, 'apiVersion' | 'kind' | 'metadata'>]?: Mutable<R[K]> };

/** Brings the draft to the desired state. Called once, and not async; must not change its kind, name or namespace. */
export type MutateFn<R extends KubeObject> = (draft: Draft<R>) => void;

/** The object as it is stored now, and what was done for that. */
export interface OperationOutcome<R extends KubeObject> {
  readonly result: OperationResult;
  readonly object: R;
}

/** Options of {@link createOrUpdate} and {@link createOrPatch}. */
export interface CreateOrOptions extends CallOptions {
  /** The field manager. @default the client's */
  readonly fieldManager?: string;
  /**
   * Makes this object its controller (`SetControllerReference`). Rejects with an `AlreadyOwnedError` if another one is.
   * @default none: owners are what the mutate function makes of them
   */
  readonly ownedBy?: Owner;
}

export const createOrOptionNames = callOptionNames.and<CreateOrOptions>({ fieldManager: true, ownedBy: true });

type ReadWrite = Pick<Client, 'find' | 'create' | 'update' | 'patch' | 'status'>;

/**
 * Creates an object as `mutate` makes it, or replaces it if that changes anything (`controllerutil.CreateOrUpdate`). The
 * status is left alone where it is a subresource. Rejects if another writer was faster, with a conflict or, for a new
 * object, with AlreadyExists: a reconciler is retried then, others use `retryOnConflict` and check `isAlreadyExists`. Empty
 * labels, annotations, finalizers and owners count as missing. Prefer server-side apply (`client.apply`): it takes one
 * request without a read, and has no conflicts.
 *
 * @example
 * const change = (draft: Draft<ConfigMap>) => {
 *   draft.data = { ...draft.data, size: '3' };
 * };
 * const { object, result } = await createOrUpdate(client, ConfigMap, key, change, { ownedBy: site });
 */
export async function createOrUpdate<R extends KubeObject, S extends Scope>(
  client: ReadWrite,
  kind: KindRef<R, S>,
  key: Key<S>,
  mutate: MutateFn<R>,
  given: CreateOrOptions = {},
): Promise<OperationOutcome<R>> {
  refuseUnknownOptions('createOrUpdate', given, createOrOptionNames);
  const { ownedBy, ...options } = given;
  const current = await client.find(kind, key, { signal: options.signal });
  const next = mutated(kind, key, current, mutate, ownedBy);
  if (current === undefined) {
    return { result: 'created', object: (await client.create(next as never, options)) as R };
  }
  if (next === current) return { result: 'unchanged', object: current };
  return { result: 'updated', object: await client.update(next, options) };
}

/**
 * As {@link createOrUpdate}, and sends the changes as merge patches, a separate one for the status
 * (`controllerutil.CreateOrPatch`). Changes of others to other fields stay, and there are no conflicts; lists are
 * replaced whole.
 */
export async function createOrPatch<R extends KubeObject, S extends Scope>(
  client: ReadWrite,
  kind: KindRef<R, S>,
  key: Key<S>,
  mutate: MutateFn<R>,
  given: CreateOrOptions = {},
): Promise<OperationOutcome<R>> {
  refuseUnknownOptions('createOrPatch', given, createOrOptionNames);
  const { ownedBy, ...options } = given;
  const current = await client.find(kind, key, { signal: options.signal });
  const next = mutated(kind, key, current, mutate, ownedBy);
  const hasStatus = kind.subresources.includes('status');
  const patchStatus = (status: unknown) =>
    client.status.patch(kind, key, { type: 'merge', body: { status } } as unknown as Patch<R>, options);
  if (current === undefined) {
    const object = (await client.create(next as never, options)) as R;
    const { status } = next as { readonly status?: unknown };
    // A server drops it from a new object.
    if (!hasStatus || status === undefined) return { result: 'created', object };
    return { result: 'created', object: await patchStatus(status) };
  }
  if (next === current) return { result: 'unchanged', object: current };
  const patch = mergeFrom(current, next);
  if (!hasStatus) return { result: 'updated', object: await client.patch(kind, key, patch, options) };
  const { status, ...rest } = patch.body as { readonly status?: unknown };
  const hasRest = Object.keys(rest).length > 0;
  const object = hasRest ? await client.patch(kind, key, { type: 'merge', body: rest } as Patch<R>, options) : current;
  if (status === undefined) return { result: 'updated', object };
  return { result: hasRest ? 'updatedStatus' : 'updatedStatusOnly', object: await patchStatus(status) };
}

function mutated<R extends KubeObject>(
  kind: KindRef<R>,
  key: ObjectKey,
  current: R | undefined,
  mutate: MutateFn<R>,
  owner: Owner | undefined,
): R {
  const { apiVersion, kind: name } = kind;
  const metadata = { name: key.name, ...(key.namespace && { namespace: key.namespace }) };
  const before = current ?? ({ apiVersion, kind: name, metadata } as unknown as R);
  const edited = edit(before, (draft) => {
    // `edit` refuses a value that is returned by mistake.
    const answer = mutate(draft as unknown as Draft<R>);
    dropEmpty(draft.metadata as unknown as Record<string, unknown> | undefined, before.metadata);
    return answer;
  });
  const next = owner === undefined ? edited : setControllerReference(owner, edited);
  const made = next as { readonly metadata?: { readonly name?: string; readonly namespace?: string } };
  const isSame =
    made.metadata?.name === before.metadata.name &&
    made.metadata?.namespace === before.metadata.namespace &&
    next.apiVersion === before.apiVersion &&
    next.kind === before.kind;
  if (!isSame) {
    const now = `${next.apiVersion} ${next.kind} ${formatKey({ name: '', ...made.metadata })}`;
    throw new TypeError(
      `${name} ${formatKey(key)}: the mutate function has changed its name or namespace, or its kind, to ${now}; ` +
        'leave them as they are, and create another object for another name',
    );
  }
  return next;
}

const maps = ['labels', 'annotations', 'finalizers', 'ownerReferences'] as const;

/** Servers store none of them empty: one that is would be written again and again, and never change anything. */
function dropEmpty(metadata: Record<string, unknown> | undefined, before: KubeObject['metadata']): void {
  for (const field of maps) {
    const value = metadata?.[field];
    if (before[field] !== undefined || typeof value !== 'object' || value === null) continue;
    if (Object.keys(value).length === 0) delete metadata?.[field];
  }
}
