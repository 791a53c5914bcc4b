import type { Client } from '../../client/interfaces.js';
import type { Patch } from '../../client/patch.js';
import { waitForDeletion } from '../../controller/utilities/wait-for.js';
import { isDeleting } from '../../object/finalizers.js';
import type { KubeObject } from '../../object/meta.js';
import { findApiError } from '../../rest/errors/api-error.js';
import { ignoreNotFound, isConflict, isInvalid, isNotFound } from '../../rest/errors/error-guards.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { ApplySetOptions, ForKind, SetWriteContext } from './apply-options.js';
import { type DesiredMember, memberText, type SetAction, type SetMember } from './apply-result.js';
import { covers } from './covers.js';
import { type SetIdentity, setMarks, setText } from './set-identity.js';
import { isMarkedBy, isMarkedForOther, isMember, type OwnSet, ownSet } from './set-membership.js';

/** How one form of apply writes. */
export interface SetForm {
  /** Whether what is stored needs no write. */
  isSame(current: KubeObject, desired: DesiredMember): boolean;
  /** Writes it; resolves to what is stored then, to `current` itself if nothing had to be written. */
  write(desired: DesiredMember, current: KubeObject | undefined, context: WriteContext): Promise<KubeObject>;
}

export interface WriteContext extends SetWriteContext {
  readonly options: ApplySetOptions;
  /** Sends a patch, by the patcher of the kind if there is one. */
  send(desired: SetMember, patch: Patch, current: KubeObject | undefined): Promise<KubeObject>;
  readonly dryRun: boolean;
}

export interface Written {
  readonly action: SetAction;
  readonly object: KubeObject;
}

/** Refused changes that allow a replacement. */
const immutable: Readonly<Record<string, string>> = {
  'batch/Job': 'spec.template',
  'apps/Deployment': 'spec.selector',
  'apps/DaemonSet': 'spec.selector',
  'apps/StatefulSet': 'spec.selector',
  'apps/ReplicaSet': 'spec.selector',
  '/Secret': 'type',
};

/** Brings one object to its desired state: leaves it, writes it, or deletes and recreates it. */
export async function writeMember(
  form: SetForm,
  desired: DesiredMember,
  current: KubeObject | undefined,
  identity: SetIdentity,
  context: WriteContext & { readonly runtime: Pick<Runtime, 'clock'> },
): Promise<Written> {
  const { options, client, signal, fieldManager } = context;
  if (current !== undefined && isDeleting(current)) {
    await gone(desired, current, context);
    return { action: 'replaced', object: await form.write(desired, undefined, context) };
  }
  if (current !== undefined && form.isSame(current, desired)) return { action: 'unchanged', object: current };
  const isSure = current !== undefined && isMember(current, ownSet(identity, options)) === true;
  if (!isSure && (options.adopt ?? 'all') !== 'all') {
    const found = await client.find(desired.kind, desired, { signal });
    if (found !== undefined) refuseForeign(desired, found, identity, options);
  }
  if (current !== undefined) {
    const reconcile = functionFor(options.reconcilers, desired);
    const verdict = await reconcile?.(current, desired.intent, { client, signal, fieldManager });
    if (verdict === 'done') return { action: 'updated', object: current };
    if (verdict === 'replace') return replace(form, desired, current, context);
  }
  try {
    const object = await form.write(desired, current, context);
    if (isDeleting(object)) {
      await gone(desired, object, context);
      return { action: 'replaced', object: await form.write(desired, undefined, context) };
    }
    if (current === undefined) return { action: 'created', object };
    const isSame = object === current || object.metadata.resourceVersion === current.metadata.resourceVersion;
    return { action: isSame ? 'unchanged' : 'updated', object };
  } catch (error) {
    if (!isImmutable(error, desired) || options.replaceImmutable === false) throw error;
    const found = current ?? (await client.find(desired.kind, desired, { signal }));
    if (found === undefined) throw error;
    return replace(form, desired, found, context);
  }
}

export function functionFor<F>(list: readonly ForKind<F>[] | undefined, { kind }: SetMember): F | undefined {
  return list?.find(({ kind: of }) => of.group === kind.group && of.kind === kind.kind)?.use;
}

/** Whether the server refuses the change for what never changes. */
export function isImmutable(error: unknown, { kind }: SetMember): boolean {
  const field = immutable[`${kind.group}/${kind.kind}`];
  if (field === undefined || !isInvalid(error)) return false;
  const causes = findApiError(error)?.causes ?? [];
  return causes.some((cause) => cause.field?.startsWith(field) && /immutable/.test(cause.message ?? ''));
}

async function replace(
  form: SetForm,
  desired: DesiredMember,
  current: KubeObject,
  context: WriteContext & { readonly runtime: Pick<Runtime, 'clock'> },
): Promise<Written> {
  const { client, signal, dryRun } = context;
  const { uid } = current.metadata;
  if (dryRun) return { action: 'replaced', object: current };
  const options = { preconditions: { uid }, propagationPolicy: 'Background', signal } as const;
  await client.delete(desired.kind, desired, options).catch(ignoreNotFound);
  await gone(desired, current, context);
  return { action: 'replaced', object: await form.write(desired, undefined, context) };
}

async function gone(
  desired: DesiredMember,
  { metadata: { uid } }: KubeObject,
  { client, options, signal, runtime, dryRun }: WriteContext & { readonly runtime: Pick<Runtime, 'clock'> },
): Promise<void> {
  if (dryRun) return;
  const timeout = options.replaceTimeout ?? '30s';
  await waitForDeletion(client, desired.kind, { ...desired, uid }, { timeout, signal, runtime });
}

/** Throws if an object is there already that `adopt` does not allow to take over. */
export function refuseForeign(
  desired: SetMember,
  found: KubeObject,
  identity: SetIdentity,
  options: ApplySetOptions,
): void {
  const { adopt = 'all' } = options;
  const set = ownSet(identity, options);
  if (adopt === 'all' || isMarkedBy(found, set)) return;
  const isOthers = isMarkedForOther(found, set);
  if (adopt === 'unowned' && !isOthers) return;
  const { labels, annotations } = found.metadata;
  const other = setText(annotations) || `${setMarks.hash}=${labels?.[setMarks.hash]}`;
  const whose = isOthers ? `in another set (${other})` : 'in no set';
  throw new Error(
    `${memberText(desired)} already exists and is ${whose}; adopt is '${adopt}': delete it, rename it, or allow adoption`,
  );
}

/**
 * Deletes an object that is no longer in the set, unless it has left the set meanwhile. Resolves to whether deletion is
 * requested.
 */
export function pruneMember(
  client: Client,
  member: SetMember,
  known: KubeObject,
  set: OwnSet,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return whileInSet(client, member, known, set, signal, async (object) => {
    if (isDeleting(object) || isKept(object)) return false;
    const { uid, resourceVersion } = object.metadata;
    const options = { preconditions: { uid, resourceVersion }, propagationPolicy: 'Background', signal } as const;
    await client.delete(member.kind, member, options);
    return true;
  });
}

/** Takes the marks of the set off an object that is no longer in it. Resolves to whether it was in the set until then. */
export function releaseMember(
  client: Client,
  member: SetMember,
  known: KubeObject,
  set: OwnSet,
  signal: AbortSignal | undefined,
): Promise<boolean> {
  return whileInSet(client, member, known, set, signal, async ({ metadata: { uid, resourceVersion } }) => {
    const { hash: label, prune: _, ...notes } = setMarks;
    const annotations = Object.fromEntries(Object.values(notes).map((name) => [name, null]));
    const body = { metadata: { uid, resourceVersion, labels: { [label]: null }, annotations } };
    await client.patch(member.kind, member, { type: 'merge', body } as Patch, { signal });
    return true;
  });
}

/**
 * Does something to an object unless it was deleted or is not in the set; again after a conflict. `work` sends the UID
 * and resourceVersion of the object whose membership was checked.
 */
async function whileInSet(
  client: Client,
  member: SetMember,
  known: KubeObject,
  set: OwnSet,
  signal: AbortSignal | undefined,
  work: (object: KubeObject) => Promise<boolean>,
): Promise<boolean> {
  // Without managedFields, as caches have it, an object may be a copy that only carries the marks.
  let object = isMember(known, set) === undefined ? await client.find(member.kind, member, { signal }) : known;
  for (let turn = 0; ; turn += 1) {
    if (object === undefined || object.metadata.uid !== known.metadata.uid) return false;
    if (!isMember(object, set)) return false;
    try {
      return await work(object);
    } catch (error) {
      if (isNotFound(error)) return false;
      if (!isConflict(error) || turn >= 5) throw error;
      object = await client.find(member.kind, member, { signal });
    }
  }
}

/** Whether an object says that it stays when it is no longer in the set. */
export function isKept({ metadata }: KubeObject): boolean {
  return metadata.labels?.[setMarks.prune] === 'false';
}

/** Whether stored marks and values are those of the intent. */
export function isAsIntended(current: KubeObject, desired: DesiredMember): boolean {
  const mark = (object: { readonly metadata: { readonly annotations?: Readonly<Record<string, string>> } }) =>
    object.metadata.annotations?.[setMarks.intent];
  return mark(current) !== undefined && mark(current) === mark(desired.intent) && covers(current, desired.intent);
}
