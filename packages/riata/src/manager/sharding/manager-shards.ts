import type { DefinedController } from '../../controller/define/defined-controller.js';
import type { KeyGate } from '../../controller/loop/key-gate.js';
import type { Request } from '../../controller/loop/request.js';
import { optionNames } from '../../runtime/option-names.js';
import type { Runtime } from '../../runtime/runtime.js';
import { LostLease } from '../../runtime/stop-reasons.js';
import type { Runnable } from '../runnable.js';
import { PassedKeys } from './passed-keys.js';
import type { ShardRingClient } from './shard-register.js';
import { type ShardChange, ShardRing } from './shard-ring.js';
import type { ShardRingOptions } from './shard-ring-options.js';

/** The Lease on which replicas share the work of controllers that are `sharded`, and its times. */
export interface ShardingOptions extends Omit<ShardRingOptions, 'client' | 'runtime'> {}

export const shardingOptionNames = optionNames<ShardingOptions>({
  namespace: true,
  name: true,
  identity: true,
  slots: true,
  leaseDuration: true,
  renewDeadline: true,
  retryPeriod: true,
});

/** A manager's place in a ring, and the controllers whose keys are shared by it. */
export class ManagerShards implements Runnable {
  readonly name: string;
  readonly ring: ShardRing;
  readonly #runtime: Runtime;
  readonly #abandon = new AbortController();
  /** By the names of controllers; of those that handle deleted objects there may be some. */
  readonly #passed = new Map<string, PassedKeys>();

  constructor(options: ShardingOptions, client: ShardRingClient, runtime: Runtime) {
    this.name = `shard ring ${options.namespace}/${options.name}`;
    this.ring = new ShardRing({ ...options, client, runtime });
    this.#runtime = runtime;
  }

  /** For a controller that is shared. `handlesDeleted`: whether it is called for deleted objects, which may change. */
  gateFor(controller: string, handlesDeleted: () => boolean): KeyGate {
    const { ring } = this;
    const passed = new PassedKeys();
    this.#passed.set(controller, passed);
    const { clock } = this.#runtime;
    return {
      fence: (key, known) => ring.fence(key, { known }),
      admits: (key) => {
        const isOwned = ring.owns(key);
        if (!isOwned && handlesDeleted()) passed.add(key, clock.monotonic());
        return isOwned;
      },
    };
  }

  run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    return this.ring.run({ signal, abandon: this.#abandon.signal });
  }

  /** Waits for nothing any more: others take over when the lease has run out. */
  abandon(reason: unknown): void {
    this.#abandon.abort(reason);
  }

  /** Runs a controller that was made with what {@link gateFor} gave. */
  async runController(defined: DefinedController, { signal }: { readonly signal: AbortSignal }): Promise<void> {
    using _ = this.ring.onChange((change) => this.#changed(defined, change, signal));
    try {
      await defined.controller.run({ signal });
    } finally {
      this.#passed.delete(defined.controller.name);
    }
  }

  #changed(
    defined: DefinedController,
    { gained, lost, reason }: ShardChange,
    signal: AbortSignal,
  ): void | Promise<void> {
    if (gained.length > 0) {
      this.#bringBack(defined, gained);
      defined.replay(this.#isIn(gained), { signal }).catch((error: unknown) => {
        if (signal.aborted) return;
        const { name } = defined.controller;
        this.#runtime.log.error('cannot enqueue the keys of newly acquired slots', { controller: name, error });
      });
    }
    if (lost.length === 0) return;
    const why = reason ?? new LostLease('the key moves to another replica');
    return defined.controller.endReconciles(this.#isIn(lost), why, { atOnce: reason !== undefined });
  }

  #bringBack({ controller: { name, queue } }: DefinedController, gained: readonly number[]): void {
    const atMs = this.#runtime.clock.monotonic();
    const cause = { source: 'newly acquired slot', count: 1, atMs };
    for (const key of this.#passed.get(name)?.take(this.#isIn(gained), atMs) ?? []) queue.add(key, { note: [cause] });
  }

  #isIn(slots: readonly number[]): (key: Request) => boolean {
    const meant = new Set(slots);
    return (key) => meant.has(this.ring.slotOf(key));
  }
}
