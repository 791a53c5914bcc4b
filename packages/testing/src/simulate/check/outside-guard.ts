import crypto from 'node:crypto';
import { syncBuiltinESMExports } from 'node:module';
import { Socket } from 'node:net';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';

/** What a controller can depend on besides the cluster. */
export type Outside = 'wall clock' | 'timers' | 'randomness' | 'network';

/** One use of it. */
export interface OutsideUse {
  readonly what: Outside;
  /** `Date.now()`, `fetch`. */
  readonly call: string;
  /** File, line and column of the caller, where that is known. */
  readonly at: string | undefined;
}

/** Code that is not the user's: it has its own seams, or is none of our business. */
const library =
  /node:|\/node_modules\/|\/packages\/(?:riata|apiserver|testing|sandbox)\/(?:src|dist)\/(?!.*\.(?:test|fixture)\.)/;

/** Of `Temporal.Now`, which newer versions of Node have. */
const temporalNames = ['instant', 'plainDateISO', 'plainDateTimeISO', 'plainTimeISO', 'zonedDateTimeISO'];
/** Of `node:crypto`. Keys are as random as numbers. */
const randomNames = [
  ...(['randomUUID', 'randomBytes', 'randomInt', 'randomFill', 'randomFillSync', 'getRandomValues'] as const),
  ...(['generateKey', 'generateKeySync', 'generateKeyPair', 'generateKeyPairSync'] as const),
];

/**
 * Watches for code that reads the wall clock, sets timers, draws random numbers or opens connections while `isWatched`
 * gives true, until it is disposed of. Such code does not behave the same in each run.
 */
export function watchOutside(isWatched: (what: Outside) => boolean, onUse: (use: OutsideUse) => void): Disposable {
  const restore: (() => void)[] = [];
  const note = (what: Outside, call: string, isSurely = false) => {
    const at = callerIn(new Error(call).stack ?? '', isSurely);
    if ((at !== undefined || isSurely) && isWatched(what)) onUse({ what, call, at });
  };
  const replace = <T extends object>(target: T, name: keyof T & string, make: (original: never) => unknown) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    if (!descriptor?.configurable) return;
    Object.defineProperty(target, name, {
      ...{ configurable: true, writable: true, enumerable: descriptor.enumerable ?? false },
      value: make(target[name] as never),
    });
    restore.push(() => Object.defineProperty(target, name, descriptor));
  };
  const noted =
    (what: Outside, call: string, isSurely = false) =>
    (original: (...args: unknown[]) => unknown) =>
      Object.defineProperties(
        function (this: unknown, ...args: unknown[]) {
          note(what, call, isSurely);
          return original.apply(this, args);
        },
        // Such as `setTimeout[util.promisify.custom]`.
        Object.getOwnPropertyDescriptors(original),
      );
  replace(globalThis, 'Date', (original: DateConstructor) => {
    const now = () => {
      note('wall clock', 'Date.now()');
      return original.now();
    };
    return new Proxy(original, {
      apply: (target, self, args: unknown[]) => {
        note('wall clock', 'Date()');
        return Reflect.apply(target, self, args) as string;
      },
      construct: (target, args: unknown[], newTarget: never) => {
        if (args.length === 0) note('wall clock', 'new Date()');
        return Reflect.construct(target, args, newTarget) as object;
      },
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    });
  });
  replace(prototypeOf(performance), 'now', noted('wall clock', 'performance.now()'));
  replace(process, 'hrtime', (original: NodeJS.HRTime) => {
    const hrtime = noted('wall clock', 'process.hrtime()')(original as never) as unknown as NodeJS.HRTime;
    return Object.assign(hrtime, { bigint: noted('wall clock', 'process.hrtime.bigint()')(original.bigint as never) });
  });
  replace(Math, 'random', noted('randomness', 'Math.random()'));
  const { Temporal } = globalThis as { readonly Temporal?: { readonly Now: Record<string, unknown> } };
  for (const name of Temporal === undefined ? [] : temporalNames) {
    replace(Temporal!.Now, name, noted('wall clock', `Temporal.Now.${name}()`));
  }
  for (const name of randomNames) replace(crypto, name, noted('randomness', `crypto.${name}()`));
  for (const name of ['randomUUID', 'getRandomValues'] as const) {
    replace(prototypeOf(globalThis.crypto), name, noted('randomness', `crypto.${name}()`));
  }
  for (const name of ['setTimeout', 'setInterval', 'setImmediate'] as const) {
    replace(globalThis, name, noted('timers', name));
    replace(timers, name, noted('timers', name));
    replace(timersPromises, name, noted('timers', `${name} of node:timers/promises`));
  }
  replace(prototypeOf(timersPromises.scheduler), 'wait', noted('timers', 'scheduler.wait of node:timers/promises'));
  replace(globalThis, 'fetch', noted('network', 'fetch'));
  replace(Socket.prototype, 'connect', noted('network', 'a connection', true));
  // Names that modules have imported follow what their module now has.
  syncBuiltinESMExports();
  return {
    [Symbol.dispose]: () => {
      for (const undo of restore.reverse()) undo();
      syncBuiltinESMExports();
    },
  };
}

function prototypeOf<T extends object>(object: T): T {
  return Object.getPrototypeOf(object) as T;
}

/** The line that called; `isAny`: the nearest one that is the user's. */
function callerIn(stack: string, isAny: boolean): string | undefined {
  // The names of functions are not looked at: they can be anything.
  const places = stack
    .split('\n')
    .slice(1)
    .map((line) => /\(?([^()\s]+:\d+:\d+)\)?$/.exec(line.trim())?.[1])
    .filter((place) => place === undefined || !/outside-guard\.[jt]s/.test(place));
  const isOwn = (place: string | undefined) => place !== undefined && !library.test(place);
  return isAny ? places.find(isOwn) : places.slice(0, 1).find(isOwn);
}

const words: Readonly<Record<Outside, string>> = {
  'wall clock': 'the wall clock',
  timers: 'real timers',
  randomness: 'randomness',
  network: 'the network',
};

const remedies: Readonly<Record<Outside, string>> = {
  'wall clock': 'use the `clock` that the reconciler gets',
  timers: 'use the `clock` that the reconciler gets, or requeueAfter',
  randomness: 'derive it from the name of the object',
  network: 'give the controller a stand-in, made by the option `world`',
};

/** In words, with what to do. */
export function describeOutside({ what, call, at }: OutsideUse, who: readonly string[]): string {
  const names = who.map((name) => `controller "${name}"`).join(' or ');
  const where = at === undefined ? '' : ` at ${at}`;
  return `${names} uses ${words[what]}: ${call}${where}; ${remedies[what]}, or allow it with allow: ['${what}']`;
}
