import { Socket } from 'node:net';

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

/**
 * Watches for code that reads the wall clock, sets timers, draws random numbers or opens connections while `isWatched`
 * gives true, until it is disposed of. Such code does not behave the same in each run.
 */
export function watchOutside(isWatched: () => boolean, onUse: (use: OutsideUse) => void): Disposable {
  const restore: (() => void)[] = [];
  const note = (what: Outside, call: string, isSurely = false) => {
    if (!isWatched()) return;
    const at = callerIn(new Error(call).stack ?? '', isSurely);
    if (at !== undefined || isSurely) onUse({ what, call, at });
  };
  const replace = <T extends object>(target: T, name: keyof T & string, make: (original: never) => unknown) => {
    const descriptor = Object.getOwnPropertyDescriptor(target, name);
    if (descriptor === undefined || !descriptor.configurable) return;
    Object.defineProperty(target, name, {
      ...{ configurable: true, writable: true, enumerable: descriptor.enumerable ?? false },
      value: make(target[name] as never),
    });
    restore.push(() => Object.defineProperty(target, name, descriptor));
  };
  const noted =
    (what: Outside, call: string, isSurely = false) =>
    (original: (...args: unknown[]) => unknown) =>
      function (this: unknown, ...args: unknown[]) {
        note(what, call, isSurely);
        return original.apply(this, args);
      };
  replace(globalThis, 'Date', (original: DateConstructor) => {
    const now = () => {
      note('wall clock', 'Date.now()');
      return original.now();
    };
    return new Proxy(original, {
      construct: (target, args: unknown[], newTarget: never) => {
        if (args.length === 0) note('wall clock', 'new Date()');
        return Reflect.construct(target, args, newTarget) as object;
      },
      get: (target, name) => (name === 'now' ? now : Reflect.get(target, name)),
    });
  });
  replace(globalThis.performance, 'now', noted('wall clock', 'performance.now()'));
  replace(Math, 'random', noted('randomness', 'Math.random()'));
  for (const name of ['setTimeout', 'setInterval'] as const) replace(globalThis, name, noted('timers', name));
  replace(globalThis, 'fetch', noted('network', 'fetch'));
  replace(Socket.prototype, 'connect', noted('network', 'a connection', true));
  return { [Symbol.dispose]: () => restore.reverse().forEach((undo) => void undo()) };
}

/** The line that called; `isAny`: the nearest one that is the user's. */
function callerIn(stack: string, isAny: boolean): string | undefined {
  const frames = stack
    .split('\n')
    .slice(1)
    .filter((line) => !/outside-guard\.[jt]s/.test(line));
  const isOwn = (line: string) => !library.test(line) && /\d+:\d+/.test(line);
  const frame = isAny ? frames.find(isOwn) : frames.slice(0, 1).find(isOwn);
  return frame === undefined ? undefined : (/\(?([^()\s]+:\d+:\d+)\)?$/.exec(frame.trim())?.[1] ?? frame.trim());
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
  randomness: 'derive it from the object, such as from its uid',
  network: 'give the controller a stand-in, made by the option `world`',
};

/** In words, with what to do. */
export function describeOutside({ what, call, at }: OutsideUse, who: readonly string[]): string {
  const names = who.map((name) => `controller "${name}"`).join(' or ');
  const where = at === undefined ? '' : ` at ${at}`;
  return `${names} uses ${words[what]}: ${call}${where}; ${remedies[what]}, or allow it with allow: ['${what}']`;
}
