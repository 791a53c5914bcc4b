import { Stamped } from '../../object/value/stamped.js';

/**
 * How a promise is used. `none`: not at all. `awaited`: its failure is passed on to a function or another promise.
 * `handled`: its failure ends in a handler, or may be ignored, as in a `Promise.race`.
 */
export interface CallUse {
  use: 'none' | 'awaited' | 'handled';
  /** If set, it is worth finding out which function of `Promise` it was passed to; that takes microseconds. */
  readonly site: object | undefined;
}

/**
 * Records in `call` how the promise is used, and changes nothing else: it stays the same promise, and settles at the same
 * time. The language reads the `constructor` of a native promise first; for `await`, that is the only observable step.
 */
export function watchUse(promise: Promise<unknown>, call: CallUse): void {
  if (!(promise instanceof Promise) || WatchedPromise.useOf(promise) !== undefined) return;
  new WatchedPromise(promise, call);
  Object.setPrototypeOf(promise, watchedPrototype);
}

class WatchedPromise extends Stamped {
  readonly #use: CallUse;

  constructor(promise: Promise<unknown>, use: CallUse) {
    super(promise);
    this.#use = use;
  }

  static useOf(promise: object): CallUse | undefined {
    return #use in promise ? promise.#use : undefined;
  }
}

const watchedPrototype = Object.create(Promise.prototype, {
  constructor: {
    configurable: true,
    get(this: object) {
      const call = WatchedPromise.useOf(this);
      if (call?.use === 'none') call.use = 'awaited';
      return Promise;
    },
  },
  // biome-ignore lint/suspicious/noThenProperty: it is a promise
  then: {
    configurable: true,
    writable: true,
    value(this: Promise<unknown>, onFulfilled?: never, onRejected?: never) {
      const call = WatchedPromise.useOf(this);
      if (call !== undefined) call.use = useBy(onRejected, call);
      return Promise.prototype.then.call(this, onFulfilled, onRejected);
    },
  },
}) as object;

function useBy(onRejected: unknown, call: CallUse): CallUse['use'] {
  if (call.use === 'handled') return 'handled';
  if (typeof onRejected !== 'function') return 'awaited';
  if (!isNativeCallback(onRejected)) return 'handled';
  // An async function returns it, or a promise is resolved with it.
  if (call.use === 'none') return 'awaited';
  return call.site === undefined || isRace() ? 'handled' : 'awaited';
}

/** Callbacks that the language itself makes, for other promises. */
function isNativeCallback(callback: { readonly name: string }): boolean {
  return callback.name === '' && Function.prototype.toString.call(callback).includes('[native code]');
}

/** Whether `Promise.race` or `Promise.any` is the caller: the losers there may fail. */
function isRace(): boolean {
  return /^ +at \w+\.(?:race|any) \(/m.test(new Error().stack ?? '');
}
