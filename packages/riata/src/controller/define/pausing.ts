import { type Change, StoredChange } from '../../cache/informer/change.js';
import { applyOperation } from '../../client/operation/apply-operation.js';
import type { Operation } from '../../client/operation/operation.js';
import { isDeleting } from '../../object/finalizers.js';
import { keyId } from '../../object/key.js';
import type { KindRef } from '../../object/kind.js';
import type { Condition, KubeObject } from '../../object/meta.js';
import type { Logger } from '../../runtime/log/logger.js';
import type { GaugeSeries, Metrics } from '../../runtime/metrics.js';
import { forgetCluster } from '../cluster/forget-cluster.js';
import type { Request } from '../loop/request.js';
import type { Predicate } from '../source/predicate.js';
import { keepsConditions, pausedReason } from '../status/object-status.js';
import type { ReconcileEvent } from './reconcile-context.js';

/** The annotations by which people direct the reconciles of one object. */
export const reconcileAnnotations = {
  /** `"true"`: its reconciles are paused, while finalizers still run. `"all"`: they do not run either. */
  pause: 'riata.dev/pause',
  /** Any new value, such as the time, triggers one reconcile. */
  reconcileAt: 'riata.dev/reconcile-at',
} as const;

const directions = Object.values(reconcileAnnotations);

/**
 * The predicate of a controller's own kind, which lets a change of these annotations through: a filter of changes, such as
 * `generationChanged`, would hold it back. A filter of objects still holds: it is asked about the object as if it were new.
 */
export function orDirected(predicate: Predicate): Predicate {
  return (change) => predicate(change) || (isDirected(change) && predicate(asAdded(change)));
}

function isDirected({ old, new: now }: Change<KubeObject>): boolean {
  if (old === undefined || now === undefined) return false;
  const [before, after] = [old.metadata.annotations, now.metadata.annotations];
  return before !== after && directions.some((name) => before?.[name] !== after?.[name]);
}

function asAdded({ key, new: now }: Change<KubeObject>): Change<KubeObject> {
  return new StoredChange('Added', key, undefined, now);
}

/** What {@link Pauses.release} needs of one reconcile. */
export interface PausingRun {
  readonly key: Request;
  readonly log: Logger;
  /** Runs an apply of the status. */
  readonly apply: (operation: Operation<'patch'>) => Promise<KubeObject>;
  readonly event: (object: KubeObject, event: ReconcileEvent) => void;
  /** The time as objects have it. */
  readonly now: () => string;
}

/** The paused objects of a controller. */
export class Pauses {
  readonly #kind: KindRef;
  readonly #fieldManager: string;
  readonly #gauge: GaugeSeries;
  /** The key of each, with the value of the annotation. */
  readonly #paused = new Map<string, string>();
  /** Values that are no direction, and have been reported. */
  readonly #strange = new Set<string>();

  /** `known`: those of the definition that this one replaces. */
  constructor(
    kind: KindRef,
    parts: { readonly controller: string; fieldManager: string; metrics: Metrics; known?: Pauses | undefined },
  ) {
    this.#kind = kind;
    const { known } = parts;
    for (const [id, value] of known === undefined ? [] : known.#paused) this.#paused.set(id, value);
    // Not the controller's own: its next status would remove the condition.
    this.#fieldManager = `${parts.fieldManager}-pause`;
    this.#gauge = parts.metrics
      .gauge({ name: 'riata_paused_objects', help: 'Objects whose reconciles are paused.', labels: ['controller'] })
      .with({ controller: parts.controller });
    this.#gauge.set(this.#paused.size);
  }

  /** Whether an object is not paused, and was not before: there is nothing to {@link release}. */
  isFree(object: KubeObject): boolean {
    const isNamed = object.metadata.annotations?.[reconcileAnnotations.pause] !== undefined;
    return !isNamed && this.#paused.size === 0 && shownPause(object) === undefined;
  }

  /**
   * The object to go on with; undefined if it is paused. Shows that by a condition, where the kind has them, and when it
   * begins and ends by an event.
   */
  async release<R extends KubeObject>(object: R, run: PausingRun): Promise<R | undefined> {
    const value = object.metadata.annotations?.[reconcileAnnotations.pause];
    const shown = shownPause(object);
    const id = keyId(run.key);
    const isPaused = this.#isDirection(value, run.log);
    if (!isPaused) {
      const wasPaused = this.#paused.delete(id) || shown !== undefined;
      this.#gauge.set(this.#paused.size);
      if (!wasPaused) return object;
      run.event(object, { type: 'Normal', reason: 'Resumed', message: `${this.#name} reconciles it again` });
      run.log.info('resumed', { annotation: reconcileAnnotations.pause });
      return shown === undefined ? object : this.#show(object, [], run);
    }
    if (this.#paused.get(id) !== value) {
      this.#paused.set(id, value as string);
      this.#gauge.set(this.#paused.size);
      if (shown === undefined) {
        const message = `${this.#name} reconciles it again when the annotation ${reconcileAnnotations.pause} is removed`;
        run.event(object, { type: 'Normal', reason: 'Paused', message });
        run.log.info('paused', { annotation: reconcileAnnotations.pause, value });
      }
    }
    if (shown === undefined) {
      const message = `the annotation ${reconcileAnnotations.pause} is ${JSON.stringify(value)}`;
      await this.#show(object, [{ type: 'Paused', status: 'True', reason: pausedReason, message }], run);
    }
    return value === 'true' && isDeleting(object) ? object : undefined;
  }

  /** An object that no longer exists. */
  gone(key: Request): void {
    if (this.#paused.size > 0 && this.#paused.delete(keyId(key))) this.#gauge.set(this.#paused.size);
  }

  /** A cluster was removed, with everything in it. */
  clusterGone(cluster: string): void {
    forgetCluster(this.#paused, cluster);
    this.#gauge.set(this.#paused.size);
  }

  get #name(): string {
    return this.#fieldManager.slice(0, -'-pause'.length);
  }

  #isDirection(value: string | undefined, log: Logger): boolean {
    if (value === 'true' || value === 'all') return true;
    if (value !== undefined && value !== 'false' && value !== '' && !this.#strange.has(value)) {
      this.#strange.add(value);
      const annotation = reconcileAnnotations.pause;
      log.warn('the value of an annotation is not known, the object is not paused', {
        ...{ annotation, value, known: ['true', 'all', 'false'] },
      });
    }
    return false;
  }

  /** The stored object with these conditions of the pause, and no others of it. */
  async #show<R extends KubeObject>(
    object: R,
    conditions: readonly Omit<Condition, 'lastTransitionTime'>[],
    run: PausingRun,
  ): Promise<R> {
    if (!keepsConditions(this.#kind)) return object;
    const { apiVersion, kind } = this.#kind;
    const { name, namespace } = object.metadata;
    const timed = conditions.map((condition) => ({ ...condition, lastTransitionTime: run.now() }));
    const body = {
      ...{ apiVersion, kind, metadata: namespace ? { name, namespace } : { name } },
      status: timed.length === 0 ? {} : { conditions: timed },
    };
    const options = { fieldManager: this.#fieldManager, force: true };
    return (await run.apply(applyOperation(this.#kind, body as never, options, 'status'))) as R;
  }
}

function shownPause(object: KubeObject): Condition | undefined {
  const { conditions } = (object as { readonly status?: { readonly conditions?: readonly Condition[] } }).status ?? {};
  return conditions?.find(({ type, reason }) => type === 'Paused' && reason === pausedReason);
}
