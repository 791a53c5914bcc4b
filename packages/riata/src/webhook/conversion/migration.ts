import type { KubeClient } from '../../client/kube-client.js';
import { failureFields } from '../../controller/loop/failure-fields.js';
import { CustomResourceDefinition } from '../../kinds/index.js';
import type { EventRecorder } from '../../manager/events/event-recorder.js';
import type { Addable } from '../../manager/manager.js';
import { setCondition } from '../../object/conditions.js';
import type { DefinedKind } from '../../object/define-kind.js';
import { type Duration, durationMs } from '../../object/duration.js';
import { type KindRef, metadataOnly } from '../../object/kind.js';
import type { Condition } from '../../object/meta.js';
import { isConflict } from '../../rest/errors/error-guards.js';
import { describeError } from '../../runtime/log/describe-error.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { WebhookRight } from '../install/webhook-rights.js';
import {
  isMigrated,
  type MigratedCrd,
  type MigrationStart,
  startedAnnotation,
  startOf,
  storageOf,
} from './migration-state.js';
import { type Pace, Pacer, paceMs } from './pace.js';
import { type Rewritten, rewriteObjects } from './rewrite-objects.js';

/** Options of {@link migration}. */
export interface MigrationOptions {
  /** How many objects are rewritten in a time: `'20/s'`, `'600/m'`. @default '20/s' */
  readonly pace?: Pace;
  /**
   * How long to wait before the first object is rewritten: until every API server knows the storage version. Objects that
   * one of them still stores in another version later than this are missed. @default '10s'
   */
  readonly grace?: Duration;
}

export const migrationOptionNames = optionNames<MigrationOptions>({ pace: true, grace: true });

/** What a round came to. `again`: the definition changed meanwhile. `waiting`: there is nothing to do yet. */
type Outcome = 'current' | 'again' | 'waiting' | 'refused';

const waitMs: Readonly<Record<Outcome, number>> = { current: 600_000, again: 100, waiting: 30_000, refused: 300_000 };
const [firstRetryMs, longestRetryMs] = [1000, 60_000];
const conditionType = 'StorageVersionMigrated';

/** A {@link migration} as a value. */
export interface MigrationDefinition extends Addable {
  /** For `collectRbac`. */
  readonly rbacNeeds: readonly WebhookRight[];
}

/**
 * Rewrites the stored objects of a kind in its storage version, at a set pace, and then removes all others from
 * `status.storedVersions` of its definition, so that these can be dropped: a value, as `control` gives one. It runs on
 * the leader, continues where it was after a crash, and does nothing where nothing is left to do. Progress is on the
 * server: an object that was written since the start is not written again.
 *
 * @example
 * await run(sites, conversion(Site), migration(Site, { pace: '20/s' }));
 */
export function migration(
  kind: KindRef & Pick<DefinedKind, 'crd'>,
  options: MigrationOptions = {},
): MigrationDefinition {
  const crd = kind.crd().metadata.name;
  const name = `migration of ${crd}`;
  refuseUnknownOptions(name, options, migrationOptionNames);
  const intervalMs = paceMs(options.pace ?? '20/s', `${name}: pace`);
  const graceMs = durationMs(options.grace ?? '10s', `${name}: grace`);
  const names = [crd];
  return {
    rbacNeeds: [
      { kind, verbs: ['list', 'patch'] },
      { kind: CustomResourceDefinition, verbs: ['get', 'patch'], names },
      { kind: CustomResourceDefinition, verbs: ['patch'], subresource: 'status', names },
    ],
    addTo: (manager) => {
      const { runtime } = manager;
      const recorder = manager.eventRecorder('migration');
      const run = ({ signal }: { readonly signal: AbortSignal }) =>
        new Migration({ client: manager.leaderClient, kind, runtime, recorder, intervalMs, graceMs, signal }).run();
      return manager.add({ name, stage: 'leader', run });
    },
  };
}

interface MigrationParts {
  readonly client: KubeClient;
  readonly kind: KindRef & Pick<DefinedKind, 'crd'>;
  readonly runtime: Runtime;
  readonly recorder: EventRecorder;
  readonly intervalMs: number;
  readonly graceMs: number;
  readonly signal: AbortSignal;
}

/** One run of a migration on one replica. */
class Migration {
  readonly #parts: MigrationParts;
  readonly #crd: string;
  /** A storage version that is not the kind's, and was logged as such. */
  #reported: string | undefined;

  constructor(parts: MigrationParts) {
    this.#parts = parts;
    this.#crd = parts.kind.crd().metadata.name;
  }

  /** Until the signal aborts; others may make another round necessary, by a restored backup for instance. */
  async run(): Promise<void> {
    const { runtime, signal } = this.#parts;
    let retryMs = firstRetryMs;
    while (!signal.aborted) {
      let pauseMs: number;
      try {
        pauseMs = waitMs[await this.#round()];
        retryMs = firstRetryMs;
      } catch (error) {
        if (signal.aborted) return;
        runtime.log.warn('cannot migrate stored objects, retrying', { crd: this.#crd, ...failureFields(error) });
        pauseMs = retryMs;
        retryMs = Math.min(retryMs * 2, longestRetryMs);
      }
      await runtime.clock.sleep(pauseMs, { signal, background: pauseMs === waitMs.current }).catch(() => {});
    }
  }

  async #round(): Promise<Outcome> {
    const { client, kind, runtime, intervalMs, signal } = this.#parts;
    const { log, clock } = runtime;
    const crd = await this.#read();
    if (crd === undefined) return 'waiting';
    const storage = storageOf(crd);
    if (storage !== kind.version) {
      const hint = `install the definition of ${kind.kind} with storage version ${kind.version}`;
      const level = this.#reported === storage ? 'debug' : 'warn';
      this.#reported = storage;
      log[level]('another version is stored, nothing is migrated', { crd: this.#crd, storage, hint });
      return 'waiting';
    }
    if (isMigrated(crd)) return 'current';
    const start = startOf(crd) ?? (await this.#start(crd));
    if (start === undefined) return 'again';
    const storedVersions = crd.status?.storedVersions;
    log.info('migrating stored objects', { crd: this.#crd, storage, storedVersions, since: start.revision });
    let logged = 0;
    const done = await rewriteObjects(client, kind, {
      ...{ revision: start.revision, pacer: new Pacer(clock, intervalMs), signal },
      onProgress: ({ rewritten }) => {
        if (rewritten < logged + 1000) return;
        logged = rewritten;
        log.info('migrated stored objects', { crd: this.#crd, rewritten });
      },
    });
    if (done.refusedCount > 0) return this.#refused(done);
    return (await this.#finish(start, done)) ? 'current' : 'again';
  }

  async #read(): Promise<MigratedCrd | undefined> {
    const { client, signal } = this.#parts;
    return client.find(CustomResourceDefinition, { name: this.#crd }, { signal }) as Promise<MigratedCrd | undefined>;
  }

  /** Writes down where it starts. Undefined if the definition changes meanwhile. */
  async #start(seen: MigratedCrd): Promise<MigrationStart | undefined> {
    const { client, kind, runtime, graceMs, signal } = this.#parts;
    await runtime.clock.sleep(graceMs, { signal });
    const crd = await this.#read();
    if (crd === undefined || crd.metadata.generation !== seen.metadata.generation) return undefined;
    const { metadata } = await client.list(metadataOnly(kind), { limit: 1, signal });
    const start: MigrationStart = {
      ...{ storage: kind.version, generation: crd.metadata.generation as number },
      revision: metadata.resourceVersion as string,
    };
    const annotations = { [startedAnnotation]: JSON.stringify(start) };
    return (await this.#patch({ metadata: { resourceVersion: crd.metadata.resourceVersion, annotations } }))
      ? start
      : undefined;
  }

  /** Trims the stored versions, if the definition is still that of the start. */
  async #finish(start: MigrationStart, { rewritten, current }: Rewritten): Promise<boolean> {
    const { runtime, recorder } = this.#parts;
    const crd = await this.#read();
    const now = crd && startOf(crd);
    if (crd === undefined || now?.revision !== start.revision) return false;
    const message = `all objects are stored as ${start.storage}: ${rewritten} were rewritten, ${current} were already`;
    const { resourceVersion } = crd.metadata;
    const conditions = this.#conditions(crd, 'True', 'Migrated', message);
    const status = { storedVersions: [start.storage], conditions };
    if (!(await this.#patch({ metadata: { resourceVersion }, status }, 'status'))) return false;
    runtime.log.info('migrated all stored objects', { crd: this.#crd, storage: start.storage, rewritten, current });
    recorder.event(crd, { type: 'Normal', reason: conditionType, message });
    await this.#patch({ metadata: { annotations: { [startedAnnotation]: null } } });
    return true;
  }

  async #refused({ refused, refusedCount }: Rewritten): Promise<Outcome> {
    const { runtime, recorder } = this.#parts;
    const [first] = refused;
    const reason = describeError(first?.error);
    const message = `${refusedCount} objects cannot be rewritten, among them ${first?.key}: ${reason}`;
    runtime.log.error('some stored objects cannot be rewritten, storedVersions is left as it is', {
      ...{ crd: this.#crd, refused: refusedCount, objects: refused.map(({ key }) => key), error: first?.error },
      hint: 'correct or delete these objects; the migration tries again every five minutes',
    });
    const crd = await this.#read();
    if (crd === undefined) return 'again';
    recorder.event(crd, { type: 'Warning', reason: 'StorageMigrationRefused', message });
    const conditions = this.#conditions(crd, 'False', 'Refused', message);
    await this.#patch(
      { metadata: { resourceVersion: crd.metadata.resourceVersion }, status: { conditions } },
      'status',
    );
    return 'refused';
  }

  #conditions(crd: MigratedCrd, status: 'True' | 'False', reason: string, message: string): readonly Condition[] {
    const { conditions } = (crd.status ?? {}) as { readonly conditions?: readonly Condition[] };
    return setCondition(conditions, { type: conditionType, status, reason, message }, this.#parts.runtime.clock.now());
  }

  /** False if the definition has changed since it was read. */
  async #patch(body: object, part?: 'status'): Promise<boolean> {
    const { client, signal } = this.#parts;
    const writer = part === 'status' ? client.status : client;
    const options = { fieldManager: 'riata-migration', signal };
    try {
      await writer.patch(
        CustomResourceDefinition,
        { name: this.#crd },
        { type: 'merge', body: body as never },
        options,
      );
      return true;
    } catch (error) {
      if (isConflict(error)) return false;
      throw error;
    }
  }
}
