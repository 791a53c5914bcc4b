import type { DefinedController } from '../controller/definition-controller.js';
import type { KeyGate } from '../controller/key-gate.js';
import type { Request } from '../controller/request.js';
import type { Runtime } from '../runtime/runtime.js';
import { LostLease } from '../runtime/stop-reasons.js';
import type { Runnable } from './runnable.js';
import type { ShardRingClient } from './shard-register.js';
import { type ShardChange, ShardRing } from './shard-ring.js';
import type { ShardRingOptions } from './shard-ring-options.js';

/** The Lease on which replicas share the work of controllers that are `sharded`, and its times. */
export interface ShardingOptions extends Omit<ShardRingOptions, 'client' | 'runtime'> {}

/** A manager's place in a ring, and the controllers whose keys are shared by it. */
export class ManagerShards implements Runnable {
  readonly name: string;
  readonly ring: ShardRing;
  readonly #runtime: Runtime;
  readonly #abandon = new AbortController();

  constructor(options: ShardingOptions, client: ShardRingClient, runtime: Runtime) {
    this.name = `shard ring ${options.namespace}/${options.name}`;
    this.ring = new ShardRing({ ...options, client, runtime });
    this.#runtime = runtime;
  }

  /** For the controllers that are shared. */
  get gate(): KeyGate {
    const { ring } = this;
    return { admits: (key) => ring.owns(key), fence: (key, known) => ring.fence(key, { known }) };
  }

  run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    return this.ring.run({ signal, abandon: this.#abandon.signal });
  }

  /** Waits for nothing any more: others take over when the lease has run out. */
  abandon(reason: unknown): void {
    this.#abandon.abort(reason);
  }

  /** Runs a controller that was made with {@link gate}. */
  async runController(defined: DefinedController, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    using _ = this.ring.onChange((change) => this.#changed(defined, change, signal));
    await defined.controller.run({ signal });
  }

  #changed(
    defined: DefinedController,
    { gained, lost, reason }: ShardChange,
    signal: AbortSignal,
  ): void | Promise<void> {
    if (gained.length > 0) {
      defined.replay(this.#isIn(gained), { signal }).catch((error: unknown) => {
        if (signal.aborted) return;
        const { name } = defined.controller;
        this.#runtime.log.error('what was gained could not be put in line', { controller: name, error });
      });
    }
    if (lost.length === 0) return;
    const why = reason ?? new LostLease('the key goes to another replica');
    return defined.controller.endReconciles(this.#isIn(lost), why, { atOnce: reason !== undefined });
  }

  #isIn(slots: readonly number[]): (key: Request) => boolean {
    const meant = new Set(slots);
    return (key) => meant.has(this.ring.slotOf(key));
  }
}
