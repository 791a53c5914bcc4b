import { Stamped } from '../../object/value/stamped.js';

/**
 * What has become of a promise. `none`: nobody has looked at it. `awaited`: its failure goes on to a function or promise of
 * somebody's. `handled`: its failure ends in a handler, or may be left alone, as in a `Promise.race`.
 */
export interface CallUse {
  use: 'none' | 'awaited' | 'handled';
  /** Whether it is worth finding out which function of `Promise` it was given to, which takes microseconds. */
  readonly site: object | undefined;
}

/**
 * Notes in `call` how the promise is used, and changes nothing else about it: it stays the same promise, and settles when
 * it would. By the language, whatever takes a native promise first reads its `constructor`: `await` does nothing else that
 * could be seen.
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

/** Those that the language itself makes, for other promises. */
function isNativeCallback(callback: { readonly name: string }): boolean {
  return callback.name === '' && Function.prototype.toString.call(callback).includes('[native code]');
}

/** Whether `Promise.race` or `Promise.any` asks: whoever loses there may be left alone. */
function isRace(): boolean {
  return /^ +at \w+\.(?:race|any) \(/m.test(new Error().stack ?? '');
}
