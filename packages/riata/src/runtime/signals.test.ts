import { getEventListeners } from 'node:events';
import { describe, expect, test, vi } from 'vitest';
import { AbortSource, abortable, follow, isAbortOf, lineageOf, link, onAbort, throwIfAborted } from './signals.js';
import { isTimeout, Shutdown } from './stop-reasons.js';
import { VirtualClock } from './time/virtual-clock.js';

const listeners = (signal: AbortSignal) => getEventListeners(signal, 'abort').length;

describe('link', () => {
  test('aborts with the reason of the first parent that does, and lets go of the others', () => {
    const [a, b, c] = [new AbortController(), new AbortController(), new AbortController()];
    const linked = link(a.signal, undefined, b.signal, c.signal);
    const reason = new Shutdown();
    b.abort(reason);
    a.abort(new Error('later'));
    expect(linked.signal.reason).toBe(reason);
    expect([a, b, c].map(({ signal }) => listeners(signal))).toEqual([0, 0, 0]);
  });

  test('disposing lets go without aborting', () => {
    const parent = new AbortController();
    {
      using linked = link(parent.signal);
      expect([listeners(parent.signal), linked.signal.aborted]).toEqual([1, false]);
    }
    const kept = link(parent.signal);
    kept[Symbol.dispose]();
    parent.abort();
    expect([listeners(parent.signal), kept.signal.aborted]).toEqual([0, false]);
  });

  test('own abort leaves the parents alone and keeps the first reason', () => {
    const parent = new AbortController();
    const linked = link(parent.signal);
    linked.abort('mine');
    parent.abort('theirs');
    expect(linked.signal.reason).toBe('mine');
  });

  test('a parent that has aborted already is enough', () => {
    const other = new AbortController();
    const linked = link(other.signal, AbortSignal.abort('before'), other.signal);
    expect([linked.signal.aborted, linked.signal.reason, listeners(other.signal)]).toEqual([true, 'before', 0]);
  });

  test('without parents it is a signal of its own', () => {
    expect(link().signal.aborted).toBe(false);
    expect(link(undefined).signal.aborted).toBe(false);
    expect(link({}).signal.aborted).toBe(false);
  });

  test('times out on the clock with a Timeout that says what took too long', async () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    const linked = link({ signals: [parent.signal], timeoutMs: 5000, clock, what: 'list of pods' });
    await clock.advance(4999);
    expect(linked.signal.aborted).toBe(false);
    await clock.advance(1);
    expect(isTimeout(linked.signal.reason)).toBe(true);
    expect(String(linked.signal.reason)).toBe('Timeout: list of pods took longer than 5000 ms');
    expect(listeners(parent.signal)).toBe(0);
  });

  test('its timer goes when it is disposed, when a parent aborts, or is never set', () => {
    const clock = new VirtualClock();
    const parent = new AbortController();
    link({ timeoutMs: 5000, clock })[Symbol.dispose]();
    expect(clock.pending).toBe(0);
    const linked = link({ signals: [parent.signal], timeoutMs: 5000, clock });
    expect(clock.pending).toBe(1);
    parent.abort();
    expect([clock.pending, linked.signal.aborted]).toEqual([0, true]);
    link({ signals: [parent.signal], timeoutMs: 5000, clock });
    link({ timeoutMs: Number.POSITIVE_INFINITY, clock });
    expect(clock.pending).toBe(0);
  });

  test('a timeout without a clock is refused, by the types too', () => {
    // @ts-expect-error the clock is missing
    expect(() => link({ timeoutMs: 5 })).toThrow('pass { timeoutMs, clock }');
    const timeoutMs = undefined as number | undefined;
    expect(link({ timeoutMs, clock: new VirtualClock() }).signal.aborted).toBe(false);
  });

  test('thousands may hang on one parent behind a single listener, with no warning', () => {
    const parent = new AbortController();
    const warned = vi.spyOn(process, 'emitWarning').mockImplementation(() => {});
    const links = Array.from({ length: 5000 }, () => link(parent.signal));
    expect(listeners(parent.signal)).toBe(1);
    expect(warned).not.toHaveBeenCalled();
    warned.mockRestore();
    links[0]?.[Symbol.dispose]();
    parent.abort('all');
    expect(links.map(({ signal }) => signal.reason).filter((reason) => reason === 'all')).toHaveLength(4999);
    expect(listeners(parent.signal)).toBe(0);
  });
});

describe('onAbort', () => {
  test('calls in order, each once, and not those disposed on the way', () => {
    const controller = new AbortController();
    const seen: string[] = [];
    onAbort(controller.signal, () => {
      seen.push('first');
      second[Symbol.dispose]();
    });
    const second = onAbort(controller.signal, () => seen.push('second'));
    onAbort(controller.signal, () => seen.push('third'));
    controller.abort();
    expect(seen).toEqual(['first', 'third']);
  });

  test('an error of one callback is reported after the others were called', async () => {
    const controller = new AbortController();
    const seen: string[] = [];
    onAbort(controller.signal, () => {
      throw new Error('boom');
    });
    onAbort(controller.signal, () => seen.push('told'));
    const others = process.listeners('uncaughtException');
    process.removeAllListeners('uncaughtException');
    try {
      const uncaught = new Promise((resolve) => process.once('uncaughtException', resolve));
      controller.abort();
      expect(seen).toEqual(['told']);
      expect(String(await uncaught)).toBe('Error: boom');
    } finally {
      for (const listener of others) process.on('uncaughtException', listener);
    }
  });

  test('calls at once for an aborted signal and never without one', () => {
    const fn = vi.fn();
    onAbort(AbortSignal.abort(), fn);
    expect(fn).toHaveBeenCalledTimes(1);
    onAbort(undefined, fn)[Symbol.dispose]();
    expect(fn).toHaveBeenCalledTimes(1);
  });

  test('a signal can be waited for again after everyone has left', () => {
    const controller = new AbortController();
    onAbort(controller.signal, () => {})[Symbol.dispose]();
    const fn = vi.fn();
    onAbort(controller.signal, fn);
    controller.abort();
    expect(fn).toHaveBeenCalledTimes(1);
  });
});

test('an AbortSource calls its waiters, in order and once, without a listener on its signal', () => {
  const source = new AbortSource();
  const { signal } = source;
  const reported: string[] = [];
  signal.addEventListener('abort', () => reported.push('listener'));
  expect(source.isWaitedFor).toBe(false);
  onAbort(signal, () => reported.push(`first ${signal.reason}`));
  onAbort(signal, () => reported.push('gone'))[Symbol.dispose]();
  onAbort(signal, () => reported.push('second'));
  expect([source.isWaitedFor, listeners(signal)]).toEqual([true, 1]);
  source.abort('why');
  source.abort('again');
  expect(reported).toEqual(['listener', 'first why', 'second']);
  expect([signal.reason, source.isWaitedFor]).toEqual(['why', false]);
  onAbort(signal, () => reported.push('late'));
  expect(reported.at(-1)).toBe('late');
});

describe('abortable', () => {
  test('settles as the promise does and leaves nothing on the signal', async () => {
    const { signal } = new AbortController();
    const failure = new Error('no');
    expect(await abortable(Promise.resolve(5), signal)).toBe(5);
    await expect(abortable(Promise.reject(failure), signal)).rejects.toBe(failure);
    expect(await abortable(Promise.resolve(6), undefined)).toBe(6);
    expect(listeners(signal)).toBe(0);
  });

  test('rejects with the reason, at once or later', async () => {
    const controller = new AbortController();
    const waiting = abortable(new Promise(() => {}), controller.signal);
    controller.abort('stop');
    await expect(waiting).rejects.toBe('stop');
    await expect(abortable(Promise.resolve(1), controller.signal)).rejects.toBe('stop');
    expect(listeners(controller.signal)).toBe(0);
  });

  test('a late rejection of what was given up does not go unhandled', async () => {
    const unhandled = vi.fn();
    process.on('unhandledRejection', unhandled);
    let fail: (error: Error) => void = () => {};
    const work = new Promise<never>((_, reject) => {
      fail = reject;
    });
    await expect(abortable(work, AbortSignal.abort('stop'))).rejects.toBe('stop');
    fail(new Error('late'));
    await new VirtualClock().settle();
    process.off('unhandledRejection', unhandled);
    expect(unhandled).not.toHaveBeenCalled();
  });
});

test('throwIfAborted throws the reason itself', () => {
  expect(() => throwIfAborted(AbortSignal.abort(new Shutdown('bye')))).toThrow(Shutdown);
  throwIfAborted(undefined);
  throwIfAborted(new AbortController().signal);
});

test('isAbortOf distinguishes the echo of an abort from a failure that came after it', async () => {
  const controller = new AbortController();
  const reason = new Shutdown();
  expect(isAbortOf(controller.signal, reason)).toBe(false);
  controller.abort(reason);
  expect(isAbortOf(controller.signal, reason)).toBe(true);
  expect(isAbortOf(controller.signal, new Error('request failed', { cause: reason }))).toBe(true);
  expect(isAbortOf(controller.signal, new DOMException('aborted', 'AbortError'))).toBe(true);
  expect(isAbortOf(controller.signal, new Error('disk full'))).toBe(false);
  expect(isAbortOf(undefined, reason)).toBe(false);
});

test('an AbortSource makes its signal when it is asked for, with the reason of an abort before', () => {
  const source = new AbortSource();
  expect(source.aborted).toBe(false);
  source.abort('first');
  source.abort('second');
  expect([source.aborted, source.signal.aborted, source.signal.reason]).toEqual([true, true, 'first']);
  expect(source.signal).toBe(source.signal);
});

test('a signal follows another one, if its source lets it', () => {
  const parent = new AbortController();
  const source = new AbortSource({ mayFollow: true });
  expect(follow(source.signal, parent.signal)).toBe(true);
  expect(follow(source.signal, parent.signal)).toBe(true);
  expect(follow(new AbortSource().signal, parent.signal)).toBe(false);
  expect(follow(new AbortController().signal, parent.signal)).toBe(false);
  expect(follow(undefined, parent.signal)).toBe(false);
  const free = new AbortSource({ mayFollow: true });
  follow(free.signal, parent.signal);
  free.unfollow();
  parent.abort('lost');
  expect([source.signal.reason, free.aborted]).toEqual(['lost', false]);
  follow(free.signal, parent.signal);
  expect(free.signal.reason).toBe('lost');
});

test('the lineage of a signal: those it is linked to, until the link is disposed', () => {
  const [a, b] = [new AbortController().signal, new AbortController().signal];
  const near = link(a, undefined);
  const far = link(near.signal, b);
  expect([...lineageOf(far.signal)]).toEqual([far.signal, near.signal, a, b]);
  near[Symbol.dispose]();
  expect([...lineageOf(far.signal)]).toEqual([far.signal, near.signal, b]);
  far[Symbol.dispose]();
  expect([...lineageOf(far.signal)]).toEqual([far.signal]);
  expect([...lineageOf(undefined)]).toEqual([]);
});
