import type { KubeObject } from '../../object/meta.js';
import { edit } from '../../object/value/edit.js';
import { silentLogger } from '../../runtime/log/logger.js';
import type { Runtime } from '../../runtime/runtime.js';
import { onAbort } from '../../runtime/signals.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { ListerWatcher } from '../reflector/list-watch.js';
import { isDeletedFinalStateUnknown } from './deleted-final-state-unknown.js';
import { OrderedFIFO } from './ordered-fifo.js';
import type { ResourceEventHandler } from './resource-event-handler.js';
import { SharedIndexInformer } from './shared-index-informer.js';
import type { SharedIndexInformerOptions } from './shared-informer.js';

/** The objects in the tests of informers. */
export interface Thing extends KubeObject {
  readonly spec?: { readonly value?: number; readonly node?: string; readonly list?: readonly string[] };
}

/** `version` makes its resourceVersion and its value; `uid` is its name's unless given. */
export function thing(name: string, version: number, uid = `uid-${name}`): Thing {
  return {
    apiVersion: 'test.riata.dev/v1',
    kind: 'Thing',
    metadata: { namespace: 'shop', name, uid, resourceVersion: String(version), creationTimestamp: '' },
    spec: { value: version, list: ['same'] },
  };
}

/** Never answers: tests put changes into the queue. */
export const mute: ListerWatcher<Thing> = {
  list: ({ signal }) => silence(signal),
  watch: ({ signal }) => silence(signal),
};

function silence(signal: AbortSignal | undefined): Promise<never> {
  return new Promise((_, reject) => {
    onAbort(signal, () => reject(signal?.reason));
  });
}

/** An informer that gets its changes from its queue. */
export class DrivenInformer implements AsyncDisposable {
  readonly clock = new VirtualClock();
  readonly queue = new OrderedFIFO<Thing>();
  readonly informer: SharedIndexInformer<Thing>;
  readonly #stop = new AbortController();
  #running: Promise<void> | undefined;

  constructor(options: SharedIndexInformerOptions<Thing> = {}, runtime: Partial<Runtime> = {}) {
    this.informer = new SharedIndexInformer<Thing>(mute, {
      name: 'things',
      newQueue: () => this.queue,
      ...options,
      runtime: { clock: this.clock, log: silentLogger, ...runtime },
    });
  }

  get signal(): AbortSignal {
    return this.#stop.signal;
  }

  /** Starts it, with this as its first list. */
  async start(...things: readonly Thing[]): Promise<void> {
    this.run();
    await this.list(...things);
  }

  /** Starts it, with no list yet. */
  run(): void {
    this.#running = this.informer.run({ signal: this.#stop.signal });
  }

  async list(...things: readonly Thing[]): Promise<void> {
    this.queue.replace(things, '1');
    await this.clock.settle();
  }

  async update(...things: readonly Thing[]): Promise<void> {
    for (const each of things) this.queue.update(each);
    await this.clock.settle();
  }

  async delete(...things: readonly Thing[]): Promise<void> {
    for (const each of things) this.queue.delete(each);
    await this.clock.settle();
  }

  async stop(): Promise<void> {
    this.#stop.abort(new Error('the test is over'));
    await this.#running;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/** Notes every call: `add a1`, `update a1 a2`, `delete a2`; `!` marks the initial list, `?` a tombstone. */
export function noting(seen: string[], more: () => unknown = () => undefined): ResourceEventHandler<Thing> {
  const note = (text: string): unknown => {
    seen.push(text);
    return more();
  };
  return {
    onAdd: (obj, isInInitialList) => note(`add ${short(obj)}${isInInitialList ? '!' : ''}`),
    onUpdate: (old, obj) => note(`update ${short(old)} ${short(obj)}`),
    onDelete: (obj) =>
      note(isDeletedFinalStateUnknown(obj) ? `delete ${obj.obj ? short(obj.obj) : obj.key}?` : `delete ${short(obj)}`),
  };
}

/** Name and version. */
export const short = (obj: Thing): string => `${obj.metadata.name}${obj.metadata.resourceVersion}`;

/** The same under another resourceVersion. */
export const withVersion = (obj: Thing, version: number): Thing =>
  edit(obj, (draft) => {
    draft.metadata.resourceVersion = String(version);
  });
