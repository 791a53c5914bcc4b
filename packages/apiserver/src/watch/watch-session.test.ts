import '../resource/kind-parts.fixture.js';
import { Buffer } from 'node:buffer';
import { type KubeObject, parseFieldSelector, parseSelector } from 'riata/object';
import { memoryLogger, seededRandom, VirtualClock } from 'riata/runtime';
import { describe, expect, test } from 'vitest';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { ObjectTexts } from '../resource/object-texts.js';
import type { Resource } from '../resource/resource.js';
import { MemoryStorage } from '../storage/memory-storage.js';
import { EventEncoder, type EventForm } from './event-encoder.js';
import { type WatchRequest, WatchSession, type WatchSink } from './watch-session.js';

const resource = builtInResources().find((r) => r.plural === 'configmaps') as Resource;
const form: EventForm = { id: 'v1', apiVersion: 'v1' };
const minuteMs = 60_000;

interface Line {
  readonly type: string;
  readonly object: KubeObject & { readonly code?: number; readonly data?: object };
}

/** A peer that keeps what it is sent, and reads only as much as the test says. */
class Peer implements WatchSink {
  readonly lines: Line[] = [];
  readonly parts: Buffer[] = [];
  ends = 0;
  /** How many more it takes before it makes the server wait. */
  room = Number.POSITIVE_INFINITY;
  #waiting: (() => void)[] = [];

  write(bytes: Uint8Array): boolean {
    expect(this.ends).toBe(0);
    this.parts.push(bytes as Buffer);
    this.lines.push(JSON.parse(Buffer.from(bytes).toString()));
    this.room -= 1;
    return this.room > 0;
  }
  drained(): Promise<void> {
    return this.room > 0 ? Promise.resolve() : new Promise((resolve) => this.#waiting.push(resolve));
  }
  end(): void {
    this.ends += 1;
  }
  resume(room = Number.POSITIVE_INFINITY): void {
    this.room = room;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }
  /** E.g. `ADDED a 7`. */
  get said(): string[] {
    return this.lines.map(({ type, object: { metadata } }) =>
      [type, metadata.name, metadata.resourceVersion].filter((part) => part !== undefined).join(' '),
    );
  }
}

function setup(options: { readonly historyWrites?: number } = {}) {
  const clock = new VirtualClock();
  const storage = new MemoryStorage({ clock, ...options });
  const encoder = new EventEncoder(new ObjectTexts());
  const random = seededRandom(1);
  const log = memoryLogger();
  const at = (name: string) => `ns/${name}`;
  const make = (name: string, labels: Record<string, string>) => (revision: number) => ({
    ...{ apiVersion: 'v1', kind: 'ConfigMap' },
    metadata: { name, namespace: 'ns', uid: name, resourceVersion: String(revision), labels } as KubeObject['metadata'],
  });
  return {
    ...{ clock, storage, encoder, log },
    put: (name: string, labels: Record<string, string> = {}) =>
      storage.put(resource.table, at(name), make(name, labels)).revision,
    remove: (name: string) => storage.remove(resource.table, at(name), make(name, {})).revision,
    watch(request: Partial<WatchRequest> = {}, oldest?: number) {
      const peer = new Peer();
      const parts = { storage, encoder, clock, random, log, oldest };
      const session = new WatchSession(parts, resource, { namespace: '', form, ...request }, peer);
      return { peer, session };
    },
  };
}

describe('the events of a watch', () => {
  test('an event that cannot be written ends the watch, and is logged', async () => {
    const { clock, put, watch, storage, log } = setup();
    put('a');
    const { peer, session } = watch();
    session.start();
    const bad = {
      toJSON: () => {
        throw new Error('no text for this');
      },
    };
    storage.put(
      resource.table,
      'ns/b',
      () => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'b' }, bad }) as never,
    );
    put('c');
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1']);
    expect(log.records).toMatchObject([
      { level: 'error', message: expect.stringContaining('has ended a watch'), fields: { key: 'ns/b' } },
    ]);
  });

  test('the state at its start, then what happens', async () => {
    const { clock, put, remove, watch } = setup();
    put('a');
    put('b');
    const { peer, session } = watch();
    session.start();
    put('a');
    remove('b');
    put('c');
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1', 'ADDED b 2', 'MODIFIED a 3', 'DELETED b 4', 'ADDED c 5']);
    session.stop();
  });

  test.each(['', '0'])('from revision %j: the state of now', async (resourceVersion) => {
    const { clock, put, watch } = setup();
    put('a');
    put('a');
    const { peer, session } = watch({ resourceVersion });
    session.start();
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 2']);
    session.stop();
  });

  test('from a revision: what came after it, each once', async () => {
    const { clock, put, remove, watch } = setup();
    put('a');
    put('a');
    remove('a');
    const { peer, session } = watch({ resourceVersion: '1' });
    session.start();
    put('b');
    await clock.settle();
    expect(peer.said).toEqual(['MODIFIED a 2', 'DELETED a 3', 'ADDED b 4']);
    session.stop();
  });

  test('the end of the state, when it is asked for', async () => {
    const { clock, put, watch } = setup();
    put('a');
    const { peer, session } = watch({ sendInitialEvents: true, allowWatchBookmarks: true });
    session.start();
    put('b');
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1', 'BOOKMARK 1', 'ADDED b 2']);
    expect(peer.lines[1]?.object.metadata.annotations).toEqual({ 'k8s.io/initial-events-end': 'true' });
    session.stop();
  });

  test('nothing of the state, when it is not wanted', async () => {
    const { clock, put, watch } = setup();
    put('a');
    const { peer, session } = watch({ sendInitialEvents: false });
    session.start();
    put('b');
    await clock.settle();
    expect(peer.said).toEqual(['ADDED b 2']);
    session.stop();
  });

  test('what happens while the state is on its way comes after it', async () => {
    const { clock, put, remove, watch } = setup();
    for (const name of ['a', 'b', 'c']) put(name);
    const { peer, session } = watch({ sendInitialEvents: true, allowWatchBookmarks: true });
    peer.room = 1;
    session.start();
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1']);
    put('a');
    remove('c');
    await clock.settle();
    peer.resume();
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1', 'ADDED b 2', 'ADDED c 3', 'BOOKMARK 3', 'MODIFIED a 4', 'DELETED c 5']);
    session.stop();
  });

  test('that an object came into its selection, changed there, and left it', async () => {
    const { clock, put, remove, watch } = setup();
    const { peer, session } = watch({ labels: parseSelector('on=yes') });
    session.start();
    put('a');
    put('a', { on: 'yes' });
    put('a', { on: 'yes', more: '1' });
    put('a', { on: 'no' });
    put('a', { on: 'still-no' });
    put('a', { on: 'yes' });
    remove('a');
    put('b', { on: 'no' });
    remove('b');
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 2', 'MODIFIED a 3', 'DELETED a 4', 'ADDED a 6', 'DELETED a 7']);
    // Who left is shown as it was when it was last seen, at the revision of its leaving.
    expect(peer.lines[2]?.object.metadata.labels).toEqual({ on: 'yes', more: '1' });
    session.stop();
  });

  test('only of the namespace, name and fields that it is about', async () => {
    const { clock, put, watch } = setup();
    const all = [
      watch({ namespace: 'ns' }),
      watch({ namespace: 'other' }),
      watch({ namespace: 'ns', name: 'a' }),
      watch({ fields: parseFieldSelector('metadata.name=b') }),
    ];
    for (const { session } of all) session.start();
    put('a');
    put('b');
    await clock.settle();
    expect(all.map(({ peer }) => peer.said)).toEqual([['ADDED a 1', 'ADDED b 2'], [], ['ADDED a 1'], ['ADDED b 2']]);
    for (const { session } of all) session.stop();
  });
});

describe('a watch from a past that is gone', () => {
  test('gets an error, and ends', async () => {
    const { clock, storage, put, watch } = setup();
    for (let i = 0; i < 5; i++) put('a');
    storage.compact(3);
    const { peer, session } = watch({ resourceVersion: '2' });
    session.start();
    put('b');
    await clock.settle();
    expect(peer.lines).toMatchObject([{ type: 'ERROR', object: { kind: 'Status', code: 410, reason: 'Expired' } }]);
    expect(peer.lines[0]?.object).toMatchObject({ message: 'too old resource version: 2 (3)' });
    expect([peer.ends, clock.pending]).toEqual([1, 0]);
  });

  test('that the server has not kept, ends likewise; from then on it works', async () => {
    const { clock, put, watch } = setup();
    for (let i = 0; i < 5; i++) put('a');
    const [before, since, now] = [watch({ resourceVersion: '3' }, 4), watch({ resourceVersion: '4' }, 4), watch({}, 4)];
    for (const { session } of [before, since, now]) session.start();
    await clock.settle();
    expect(before.peer.lines).toMatchObject([{ type: 'ERROR', object: { code: 410 } }]);
    expect(since.peer.said).toEqual(['MODIFIED a 5']);
    expect(now.peer.said).toEqual(['ADDED a 5']);
    for (const { session } of [since, now]) session.stop();
  });

  test('ends, too, for a peer that does not read', async () => {
    const { clock, storage, put, watch } = setup();
    put('a');
    put('a');
    storage.compact(2);
    const { peer, session } = watch({ resourceVersion: '1' });
    peer.room = 0;
    session.start();
    await clock.settle();
    session.stop();
    await clock.settle();
    expect([peer.ends, clock.pending]).toEqual([1, 0]);
  });
});

describe('a peer that does not keep up', () => {
  test('is ended when too much waits for it, and costs nothing from then on', async () => {
    const { clock, put, watch } = setup();
    const { peer, session } = watch();
    peer.room = 1;
    session.start();
    for (let i = 0; i < 10_000; i++) put('a');
    await clock.settle();
    expect([peer.lines.length, peer.ends]).toEqual([1, 0]);
    for (let i = 0; i < 10; i++) put('a');
    expect(peer.ends).toBe(1);
    expect(clock.pending).toBe(0);
    peer.resume();
    await clock.settle();
    expect([peer.lines.length, peer.ends]).toEqual([1, 1]);
  });

  test('is ended when the history that it needs is dropped', async () => {
    const { clock, put, watch } = setup({ historyWrites: 100 });
    const { peer, session } = watch();
    peer.room = 1;
    session.start();
    for (let i = 0; i < 100; i++) put('a');
    expect(peer.ends).toBe(0);
    for (let i = 0; i < 100; i++) put('a');
    expect(peer.ends).toBe(1);
    await clock.settle();
  });

  test('may take its time for the state, and for the past that it asked for', async () => {
    const { clock, put, watch } = setup();
    for (let i = 0; i < 12_000; i++) put(`a-${i}`);
    const [state, past] = [watch(), watch({ resourceVersion: '1' })];
    for (const { peer, session } of [state, past]) {
      peer.room = 1;
      session.start();
    }
    put('last');
    await clock.settle();
    for (const { peer } of [state, past]) peer.resume();
    await clock.settle();
    expect([state.peer.lines.length, past.peer.lines.length]).toEqual([12_001, 12_000]);
    expect(past.peer.said.at(-1)).toBe('ADDED last 12001');
    for (const { session } of [state, past]) session.stop();
  });

  test('gets what waits in order, in pieces', async () => {
    const { clock, put, watch } = setup();
    const { peer, session } = watch();
    peer.room = 3;
    session.start();
    for (let i = 0; i < 1_000; i++) put('a');
    await clock.settle();
    for (let left = 20; left > 0; left--) {
      peer.resume(60);
      await clock.settle();
    }
    expect(peer.lines.map(({ object }) => Number(object.metadata.resourceVersion))).toEqual(
      Array.from({ length: 1_000 }, (_, i) => i + 1),
    );
    session.stop();
  });
});

test('one write is serialised once, however many watch', async () => {
  const { clock, put, watch, remove } = setup();
  let serialised = 0;
  const counting: EventForm = {
    id: 'counting',
    apiVersion: 'v1',
    project: (object) => {
      serialised += 1;
      return object;
    },
  };
  const labels = parseSelector('on=yes');
  const watches = Array.from({ length: 1_000 }, () => watch({ form: counting, labels }));
  for (const { session } of watches) session.start();
  const reported = async () => {
    await clock.settle();
    const sent = watches.map(({ peer }) => peer.parts.at(-1));
    expect(new Set(sent).size).toBe(1);
    const count = serialised;
    serialised = 0;
    return count;
  };
  put('a', { on: 'yes' });
  expect(await reported()).toBe(1);
  put('a', { on: 'yes', more: '1' });
  expect(await reported()).toBe(1);
  put('a', { on: 'no' });
  expect(await reported()).toBe(1);
  put('a', { on: 'yes' });
  expect(await reported()).toBe(1);
  remove('a');
  expect(await reported()).toBe(1);
  expect(watches.every(({ peer }) => peer.lines.length === 5)).toBe(true);
  for (const { session } of watches) session.stop();
  expect(clock.pending).toBe(0);
});

describe('a watch is ended', () => {
  test.each([
    ['before anything was sent', 0, 0],
    ['while the state is sent', 1, 0],
    ['while the peer makes it wait', 2, 5],
    ['while nothing happens', Number.POSITIVE_INFINITY, 0],
  ])('%s, and leaves nothing behind', async (_title, room, writes) => {
    const { clock, put, watch } = setup();
    for (const name of ['a', 'b', 'c']) put(name);
    const { peer, session } = watch({ allowWatchBookmarks: true, timeoutSeconds: 100 });
    peer.room = room;
    session.start();
    if (room > 0) await clock.settle();
    for (let i = 0; i < writes; i++) put('a');
    const sent = peer.lines.length;
    session.stop();
    session.stop();
    put('d');
    peer.resume();
    await clock.advance(10 * minuteMs);
    expect([peer.ends, clock.pending, peer.lines.length]).toEqual([1, 0, sent]);
  });

  test('after all pending events, if its resource no longer exists', async () => {
    const { clock, put, remove, watch } = setup();
    put('a');
    const { peer, session } = watch();
    peer.room = 1;
    session.start();
    put('b');
    remove('a');
    session.end();
    put('c');
    await clock.settle();
    expect(peer.ends).toBe(0);
    peer.resume();
    await clock.settle();
    expect(peer.said).toEqual(['ADDED a 1', 'ADDED b 2', 'DELETED a 3']);
    expect([peer.ends, clock.pending]).toEqual([1, 0]);
  });

  test('when an event cannot be put into words', async () => {
    const { clock, put, watch } = setup();
    const project = () => {
      throw new Error('too long');
    };
    const { peer, session } = watch({ form: { id: 'bad', apiVersion: 'v1', project } });
    session.start();
    put('a');
    await clock.settle();
    expect([peer.lines.length, peer.ends, clock.pending]).toEqual([0, 1, 0]);
  });

  test('at once, if nothing is pending', async () => {
    const { clock, watch } = setup();
    const { peer, session } = watch();
    session.start();
    session.end();
    await clock.settle();
    expect([peer.ends, clock.pending]).toEqual([1, 0]);
  });
});

describe('time', () => {
  test('ends a watch after its timeoutSeconds', async () => {
    const { clock, watch } = setup();
    const { peer, session } = watch({ timeoutSeconds: 600 });
    session.start();
    await clock.advance(599_999);
    expect(peer.ends).toBe(0);
    await clock.advance(1);
    expect([peer.ends, peer.lines.length, clock.pending]).toEqual([1, 0, 0]);
  });

  test('ends a watch that says nothing of it after half an hour to an hour', async () => {
    const { clock, watch } = setup();
    const many = Array.from({ length: 50 }, () => watch());
    for (const { session } of many) session.start();
    const ended = () => many.filter(({ peer }) => peer.ends === 1).length;
    await clock.advance(30 * minuteMs - 1);
    expect(ended()).toBe(0);
    await clock.advance(15 * minuteMs);
    expect(ended()).toBeGreaterThan(5);
    expect(ended()).toBeLessThan(45);
    await clock.advance(15 * minuteMs + 1);
    expect(ended()).toBe(50);
  });

  test('brings a bookmark about every minute, and one shortly before the end', async () => {
    const { clock, put, watch } = setup();
    const { peer, session } = watch({ allowWatchBookmarks: true, timeoutSeconds: 300 });
    session.start();
    await clock.advance(minuteMs - 1);
    put('a');
    await clock.advance(1);
    expect(peer.said).toEqual(['ADDED a 1']);
    await clock.advance(minuteMs / 4);
    expect(peer.said).toEqual(['ADDED a 1', 'BOOKMARK 1']);
    expect(peer.lines[1]?.object).toMatchObject({ kind: 'ConfigMap', apiVersion: 'v1' });
    await clock.advance(298_000 - 1.25 * minuteMs - 1);
    const before = peer.lines.length;
    await clock.advance(1);
    expect(peer.lines.length).toBe(before + 1);
    expect(peer.said.at(-1)).toBe('BOOKMARK 1');
    expect(before).toBeGreaterThanOrEqual(4);
    await clock.advance(2_000);
    expect([peer.ends, clock.pending]).toEqual([1, 0]);
  });

  test('brings no bookmark to who has not asked for one', async () => {
    const { clock, watch } = setup();
    const { peer, session } = watch({ timeoutSeconds: 300 });
    session.start();
    await clock.advance(300_000);
    expect(peer.said).toEqual([]);
  });
});
