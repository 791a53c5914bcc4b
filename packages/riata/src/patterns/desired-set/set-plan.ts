import type { WriteObject } from '../../client/interfaces.js';
import { isDeleting } from '../../object/finalizers.js';
import type { KubeObject } from '../../object/meta.js';
import type { ApplySetOptions } from './apply-options.js';
import {
  type ApplyFailure,
  ApplySetError,
  type DesiredMember,
  memberOf,
  memberText,
  type SetMember,
} from './apply-result.js';
import { type DiffLine, diffObjects, formatDiff } from './format-diff.js';
import { inParallel } from './in-parallel.js';
import { type ApplyParts, formOf, loadSet, type SetState, writeContext } from './run-apply.js';
import { setMarks } from './set-identity.js';
import { isMember, ownSet } from './set-membership.js';
import { functionFor, isImmutable, refuseForeign, type SetForm } from './set-writer.js';
import { threeWayForm } from './three-way-form.js';

/** A planned change of one object, with its diff. */
export interface PlannedChange extends SetMember {
  readonly action: 'create' | 'update' | 'replace' | 'release' | 'delete' | 'unchanged';
  /** Empty for objects that are deleted, released or unchanged. */
  readonly diff: readonly DiffLine[];
}

/** The changes that applying a set would make (`apply.Plan`). Printed, it reads as a diff. */
export class SetPlan {
  /** In order: desired objects, then those that are released or deleted. */
  readonly changes: readonly PlannedChange[];
  /** The set as it would be sent. */
  readonly objects: readonly WriteObject[];

  constructor(changes: readonly PlannedChange[], objects: readonly WriteObject[]) {
    this.changes = changes;
    this.objects = objects;
  }

  get create(): readonly PlannedChange[] {
    return this.#of('create');
  }

  /** Objects that are deleted and recreated included; their action is `replace`. */
  get update(): readonly PlannedChange[] {
    return this.changes.filter(({ action }) => action === 'update' || action === 'replace');
  }

  get release(): readonly PlannedChange[] {
    return this.#of('release');
  }

  get delete(): readonly PlannedChange[] {
    return this.#of('delete');
  }

  get unchanged(): readonly PlannedChange[] {
    return this.#of('unchanged');
  }

  /** True if nothing would be written. */
  get isEmpty(): boolean {
    return this.changes.length === this.unchanged.length;
  }

  /** A line for each object that would change and for each field of it. Values of Secrets are not shown. */
  toString(): string {
    const lines = this.changes.flatMap((change) => {
      if (change.action === 'unchanged') return [];
      return [`${change.action} ${memberText(change)}`, ...formatDiff(change.diff).map((line) => `  ${line}`)];
    });
    return [...lines, `unchanged: ${this.unchanged.length}`].join('\n');
  }

  #of(action: PlannedChange['action']): readonly PlannedChange[] {
    return this.changes.filter((change) => change.action === action);
  }
}

/** Finds out what applying would do: by reads, and by dry runs of the writes that change something. */
export async function planSet(
  parts: ApplyParts,
  objects: readonly WriteObject[],
  options: ApplySetOptions,
): Promise<SetPlan> {
  const state = await loadSet(parts, objects, options);
  const failures: ApplyFailure[] = [...state.read.failures];
  const planned = new Map<string, PlannedChange>();
  await inParallel(parts.runtime.clock, state.desired, options.concurrency ?? 8, async (desired) => {
    try {
      planned.set(desired.id, await plan(parts, desired, state, options));
    } catch (error) {
      options.signal?.throwIfAborted();
      failures.push({ member: desired, action: 'apply', error });
    }
  });
  const changes = state.desired.flatMap(({ id }) => planned.get(id) ?? []);
  const leaving = (members: readonly SetMember[], action: 'release' | 'delete') =>
    members.map((found): PlannedChange => ({ ...memberOf(found), action, diff: [] }));
  const goes = [...leaving(state.released, 'release'), ...leaving(state.surplus, 'delete')];
  if (failures.length > 0) {
    const nothing = { created: [], updated: [], replaced: [], released: [], deleted: [], unchanged: [], objects: [] };
    throw new ApplySetError(`${state.identity.text} (dry run)`, failures, nothing, 0);
  }
  return new SetPlan(
    [...changes, ...goes],
    state.desired.map(({ intent }) => intent),
  );
}

async function plan(
  parts: ApplyParts,
  desired: DesiredMember,
  { read, identity }: SetState,
  options: ApplySetOptions,
): Promise<PlannedChange> {
  const { intent } = desired;
  const member = memberOf(desired);
  const inSet = read.existing.get(desired.id)?.object;
  const current = inSet ?? (await found(parts, desired, options));
  if (current === undefined || isDeleting(current)) {
    return {
      ...member,
      action: current === undefined ? 'create' : 'replace',
      diff: diffObjects(nameOnly(intent), intent),
    };
  }
  const form = formOf(options);
  if (inSet !== undefined && form.isSame(current, desired)) return { ...member, action: 'unchanged', diff: [] };
  if ((options.adopt ?? 'all') !== 'all' && (inSet === undefined || !isMember(inSet, ownSet(identity, options)))) {
    const live = inSet === undefined ? current : await found(parts, desired, options);
    if (live !== undefined) refuseForeign(desired, live, identity, options);
  }
  const after = await dryWrite(formFor(current, form, options), desired, current, parts, options);
  const isReplaced = after === undefined;
  const diff = diffObjects(current, after ?? intent);
  const isSame =
    inSet !== undefined && diff.length === 0 && after?.metadata.annotations?.[setMarks.intent] === markOf(current);
  return { ...member, action: isReplaced ? 'replace' : isSame ? 'unchanged' : 'update', diff };
}

/** The object as it would be stored; undefined if it would be deleted and recreated. */
async function dryWrite(
  form: SetForm,
  desired: DesiredMember,
  current: KubeObject,
  parts: ApplyParts,
  options: ApplySetOptions,
): Promise<KubeObject | undefined> {
  try {
    return await form.write(desired, current, writeContext(parts, options, true));
  } catch (error) {
    const isReplaced = isImmutable(error, desired) && options.replaceImmutable !== false;
    if (isReplaced || functionFor(options.reconcilers, desired) !== undefined) return undefined;
    throw error;
  }
}

/** Fields applied in the three-way form have to change hands first, which a dry run cannot do: shown as that form does. */
function formFor(current: KubeObject, form: SetForm, options: ApplySetOptions): SetForm {
  return current.metadata.annotations?.[setMarks.applied] === undefined ? form : threeWayForm(options);
}

/** Already in the line above the diff. */
function nameOnly({ apiVersion, kind, metadata }: DesiredMember['intent']): object {
  const { namespace, name } = metadata;
  return { apiVersion, kind, metadata: namespace === undefined ? { name } : { namespace, name } };
}

function markOf({ metadata }: KubeObject): string | undefined {
  return metadata.annotations?.[setMarks.intent];
}

/** Something that would be taken into the set. */
async function found(
  { client }: ApplyParts,
  desired: DesiredMember,
  { signal }: ApplySetOptions,
): Promise<KubeObject | undefined> {
  try {
    return await client.find(desired.kind, desired, { signal });
  } catch {
    // Its kind may not be served yet, or may not be read: it counts as new.
    return undefined;
  }
}
