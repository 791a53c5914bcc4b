import type { Client, WriteObject } from '../../client/interfaces.js';
import type { Patch } from '../../client/patch.js';
import { waitFor } from '../../controller/utilities/wait-for.js';
import { durationMs } from '../../object/duration.js';
import { isDeleting } from '../../object/finalizers.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';
import type { Runtime } from '../../runtime/runtime.js';
import { forEachSliced } from '../../runtime/time/sliced-work.js';
import { waitServed } from '../crds/wait-served.js';
import { computeStatus } from '../status/compute-status.js';
import type { ApplySetOptions } from './apply-options.js';
import { inPhases } from './apply-order.js';
import {
  type ApplyFailure,
  ApplySetError,
  type ApplySetResult,
  type DesiredMember,
  memberId,
  memberOf,
  memberText,
  type SetAction,
  type SetMember,
} from './apply-result.js';
import { inParallel } from './in-parallel.js';
import { prepareSet } from './prepare-set.js';
import { confirmMembers, type Existing, type ReadSet, readSet } from './read-set.js';
import { serverSideForm } from './server-side-form.js';
import { type SetIdentity, setIdentity } from './set-identity.js';
import { defaultFieldManager, ownSet } from './set-membership.js';
import {
  functionFor,
  isKept,
  pruneMember,
  releaseMember,
  type SetForm,
  type WriteContext,
  writeMember,
} from './set-writer.js';
import { threeWayForm } from './three-way-form.js';
import type { UsedKinds } from './used-kinds.js';

/** What applying a set needs. */
export interface ApplyParts {
  readonly client: Client;
  readonly used: UsedKinds;
  readonly runtime: Runtime;
}

/** A set that is about to be applied, and what the cluster holds of it. */
export interface SetState {
  readonly identity: SetIdentity;
  readonly desired: readonly DesiredMember[];
  readonly read: ReadSet;
  /** Existing objects that are no longer desired, except those that must not be deleted. */
  readonly surplus: readonly Existing[];
  /** Existing objects that are no longer desired, and released. */
  readonly released: readonly Existing[];
}

const defaultConcurrency = 8;

/** Determines the desired and the existing objects. */
export async function loadSet(
  { client, used, runtime }: ApplyParts,
  objects: readonly WriteObject[],
  options: ApplySetOptions,
): Promise<SetState> {
  const {
    concurrency = defaultConcurrency,
    signal,
    lookup = 'server',
    listerNamespace: namespace,
    onUnlisted,
  } = options;
  const identity = setIdentity(options);
  const { clock } = runtime;
  const desired = await prepareSet(clock, client, objects, identity, options);
  if (lookup === 'server') {
    const everyMs = durationMs(options.lookupEvery ?? '10m', 'apply: lookupEvery');
    await used.lookUp(client, { everyMs, concurrency, namespace, signal, onUnlisted });
  }
  const kinds = new Map<string, KindRef>();
  const addKind = (kind: KindRef) => {
    const id = `${kind.kind}.${kind.group}`;
    if (!kinds.has(id)) kinds.set(id, kind);
  };
  const ids = new Set<string>();
  await forEachSliced(clock, desired, ({ id, kind }) => {
    ids.add(id);
    addKind(kind);
  });
  for (const kind of [...(options.kinds ?? []), ...used.of(identity.key)]) addKind(kind);
  const read = await readSet(clock, client, [...kinds.values()], desired, identity, { ...options, concurrency });
  const isSpared = ({ kind, object }: Existing) => {
    if (options.noDelete === true || isKept(object) || isDeleting(object)) return true;
    return options.noDeleteKinds?.some((k) => k.group === kind.group && k.kind === kind.kind) ?? false;
  };
  const existing = new Map<string, Existing>();
  const candidates: Existing[] = [];
  await forEachSliced(clock, read.existing, ([id, found]) => {
    if (ids.has(id)) existing.set(id, found);
    else candidates.push(found);
  });
  const confirmed = await confirmMembers(clock, client, candidates, identity, { ...options, concurrency });
  const foreign = [...read.foreign, ...confirmed.foreign];
  if (foreign.length > 0) {
    const message = 'ignoring objects that have the label of the set but were not written by it';
    runtime.log.debug(message, { set: identity.text, objects: foreign.slice(0, 10).map(memberText) });
  }
  const [surplus, released]: [Existing[], Existing[]] = [[], []];
  await forEachSliced(clock, confirmed.members, (found) => {
    existing.set(memberId(found), found);
    if (options.release?.(found.object)) released.push(found);
    else if (!isSpared(found)) surplus.push(found);
  });
  return {
    ...{ identity, desired },
    read: { existing, foreign, failures: [...read.failures, ...confirmed.failures] },
    ...{ surplus, released },
  };
}

/** The form that a set is applied in. */
export function formOf(options: ApplySetOptions): SetForm {
  return options.mode === 'three-way' ? threeWayForm(options) : serverSideForm;
}

export function writeContext({ client }: ApplyParts, options: ApplySetOptions, dryRun: boolean): WriteContext {
  const { signal, fieldManager } = options;
  const context = { client, signal, fieldManager: fieldManager ?? defaultFieldManager };
  const send = (member: SetMember, patch: Patch, current: KubeObject | undefined): Promise<KubeObject> => {
    const patcher = dryRun ? undefined : functionFor(options.patchers, member);
    if (patcher !== undefined) return patcher(member, patch, context);
    if (patch.type !== 'apply') return client.patch(member.kind, member, patch, { signal, dryRun, fieldManager });
    const owner = { fieldManager: context.fieldManager, force: true };
    return client.applyFields(member.kind, patch.body as never, { ...owner, current, signal, dryRun });
  };
  return { ...context, options, send, dryRun };
}

/** Applies a set: phase by phase the desired objects, then, backwards, the removal of the others. */
export async function runApply(
  parts: ApplyParts,
  objects: readonly WriteObject[],
  options: ApplySetOptions,
): Promise<ApplySetResult> {
  const state = await loadSet(parts, objects, options);
  const run = new ApplyRun(parts, state, options);
  for (const phase of inPhases(state.desired, ({ kind }) => kind)) await run.applyPhase(phase);
  await run.release(state.released);
  const unpruned = run.hasFailed && options.pruneOnFailure !== true ? state.surplus.length : 0;
  if (unpruned === 0) {
    for (const phase of inPhases(state.surplus, ({ kind }) => kind).reverse()) await run.prunePhase(phase);
  }
  return run.end(unpruned);
}

class ApplyRun {
  readonly #parts: ApplyParts;
  readonly #state: SetState;
  readonly #options: ApplySetOptions;
  readonly #form: SetForm;
  readonly #concurrency: number;
  readonly #done: Record<SetAction, SetMember[]> = {
    created: [],
    updated: [],
    replaced: [],
    unchanged: [],
    released: [],
    deleted: [],
  };
  readonly #stored = new Map<string, KubeObject>();
  readonly #failures: ApplyFailure[];

  constructor(parts: ApplyParts, state: SetState, options: ApplySetOptions) {
    this.#parts = parts;
    this.#state = state;
    this.#options = options;
    this.#form = formOf(options);
    this.#concurrency = options.concurrency ?? defaultConcurrency;
    this.#failures = [...state.read.failures];
  }

  /**
   * Whether something could not be applied. Kinds that could not be listed do not count: their objects are not deleted
   * anyway.
   */
  get hasFailed(): boolean {
    return this.#failures.some(({ action }) => action === 'apply' || action === 'wait');
  }

  async applyPhase(phase: readonly DesiredMember[]): Promise<void> {
    const { identity, read } = this.#state;
    const { used, runtime } = this.#parts;
    const context = { ...writeContext(this.#parts, this.#options, false), runtime };
    await this.#each(phase, 'apply', async (desired) => {
      used.note(identity.key, desired.kind);
      const current = read.existing.get(desired.id)?.object;
      const { action, object } = await writeMember(this.#form, desired, current, identity, context);
      this.#done[action].push(memberOf(desired));
      this.#stored.set(desired.id, object);
    });
    const written = phase.filter(({ id }) => this.#stored.has(id));
    await this.#waitServed(written);
    if (this.#options.wait) await this.#waitReady(written);
  }

  async release(members: readonly Existing[]): Promise<void> {
    const { client } = this.#parts;
    const set = ownSet(this.#state.identity, this.#options);
    await this.#each(members, 'release', async (found) => {
      const isFree = await releaseMember(client, found, found.object, set, this.#options.signal);
      if (isFree) this.#done.released.push(memberOf(found));
    });
  }

  async prunePhase(phase: readonly Existing[]): Promise<void> {
    const { client } = this.#parts;
    const set = ownSet(this.#state.identity, this.#options);
    await this.#each(phase, 'delete', async (found) => {
      const isGoing = await pruneMember(client, found, found.object, set, this.#options.signal);
      if (isGoing) this.#done.deleted.push(memberOf(found));
    });
  }

  end(unpruned: number): ApplySetResult {
    const { desired, identity } = this.#state;
    const objects = desired.flatMap(({ id }) => this.#stored.get(id) ?? []);
    const result: ApplySetResult = { ...this.#done, objects };
    if (this.#failures.length > 0) throw new ApplySetError(identity.text, this.#failures, result, unpruned);
    const { existing } = this.#state.read;
    const isGone = [...existing.values()].every(({ object }) => (object.metadata.finalizers ?? []).length === 0);
    const { deleted, released } = this.#done;
    if (desired.length === 0 && isGone && deleted.length + released.length === existing.size) {
      this.#parts.used.forget(identity.key);
    }
    return result;
  }

  /** Objects of a kind that the set itself defines can be written only once the server knows it. */
  async #waitServed(phase: readonly DesiredMember[]): Promise<void> {
    const { client, runtime } = this.#parts;
    const definitions = new Set(
      phase.filter(({ kind }) => kind.kind === 'CustomResourceDefinition').map(({ name }) => name),
    );
    if (definitions.size === 0) return;
    const kinds = new Map<string, DesiredMember>();
    for (const desired of this.#state.desired) {
      const name = `${desired.kind.plural}.${desired.kind.group}`;
      if (definitions.has(name)) kinds.set(`${name}/${desired.kind.version}`, desired);
    }
    await this.#each([...kinds.values()], 'wait', async ({ kind }) => {
      await waitServed(client, kind, { signal: this.#options.signal, runtime });
    });
  }

  async #waitReady(phase: readonly DesiredMember[]): Promise<void> {
    const { client, runtime } = this.#parts;
    const { wait, signal } = this.#options;
    const {
      timeout = '5m',
      isReady = (object: KubeObject) => computeStatus(object, { clock: runtime.clock }).status === 'Current',
    } = typeof wait === 'object' ? wait : {};
    await this.#each(phase, 'wait', async (desired) => {
      const isDone = (object: KubeObject | undefined) => object !== undefined && isReady(object);
      if (isDone(this.#stored.get(desired.id))) return;
      const ready = await waitFor(client, desired.kind, desired, isDone, {
        timeout,
        signal,
        runtime,
        what: 'it is ready',
      });
      if (ready !== undefined) this.#stored.set(desired.id, ready);
    });
  }

  /** All of them, whatever becomes of one; but not after the caller has given up. */
  async #each<T extends SetMember>(
    items: readonly T[],
    action: ApplyFailure['action'],
    work: (item: T) => Promise<void>,
  ) {
    await inParallel(this.#parts.runtime.clock, items, this.#concurrency, async (item) => {
      this.#options.signal?.throwIfAborted();
      try {
        await work(item);
      } catch (error) {
        this.#options.signal?.throwIfAborted();
        this.#failures.push({ member: memberOf(item), action, error });
      }
    });
  }
}
