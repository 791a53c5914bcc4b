import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ListOptions, WatchOptions } from '../../client/options.js';
import type { KubeList, KubeObject } from '../../object/meta.js';
import type { WatchEvent } from '../../rest/stream/watch-event.js';
import { silentLogger } from '../../runtime/log/logger.js';
import { seededRandom } from '../../runtime/random.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import type { ListerWatcher, WatchSource } from './list-watch.js';
import {
  apiError,
  bookmark,
  errorEvent,
  expired,
  initialEnd,
  lostConnection,
  ScriptedWatch,
  thing,
} from './reflector.fixture.js';
import { Reflector } from './reflector.js';

/** Objects, their history since the last compaction, and watches that get what they ask for, until something goes wrong. */
class ModelServer implements ListerWatcher<KubeObject> {
  readonly objects = new Map<string, string>();
  #version = 1;
  #history: { readonly version: number; readonly event: WatchEvent }[] = [];
  #compacted = 0;
  #open: { readonly watch: ScriptedWatch; isDead: boolean }[] = [];
  /** What the next request is refused with. */
  refusal: Error | undefined;

  async list({ resourceVersion }: ListOptions): Promise<KubeList<KubeObject>> {
    this.#refuse();
    if (Number(resourceVersion) > this.#version) throw expired;
    const items = [...this.objects.values()].map(thing);
    const metadata = { resourceVersion: String(this.#version) };
    return { apiVersion: 'test.riata.dev/v1', kind: 'ThingList', metadata, items };
  }

  async watch(options: WatchOptions): Promise<WatchSource<KubeObject>> {
    this.#refuse();
    const watch = new ScriptedWatch(options);
    const from = Number(options.resourceVersion);
    if (options.sendInitialEvents) {
      watch.push(...[...this.objects.values()].map((text): WatchEvent => ({ type: 'ADDED', object: thing(text) })));
      watch.push(initialEnd(this.#version));
    } else {
      if (from < this.#compacted) throw expired;
      watch.push(...this.#history.filter(({ version }) => version > from).map(({ event }) => event));
    }
    this.#open.push({ watch, isDead: false });
    return watch;
  }

  write(name: string): void {
    const type = this.objects.has(name) ? 'MODIFIED' : 'ADDED';
    this.objects.set(name, `${name}${++this.#version}`);
    this.#happened({ type, object: thing(`${name}${this.#version}`) });
  }

  delete(name: string): void {
    if (this.objects.delete(name)) this.#happened({ type: 'DELETED', object: thing(`${name}${++this.#version}`) });
  }

  bookmark(): void {
    this.#report((watch) => watch.push(bookmark(this.#version)));
  }

  /** Forgets the past; a reader that is behind has to list. */
  compact(): void {
    this.#compacted = this.#version;
    this.#history = [];
  }

  /** Does something to all watches that are alive. */
  end(how: 'closed' | 'reset' | 'expired' | 'silent'): void {
    if (how === 'silent') for (const each of this.#open) each.isDead = true;
    else if (how === 'closed') this.#report((watch) => watch.end());
    else if (how === 'reset') this.#report((watch) => watch.end(lostConnection('reset')));
    else this.#report((watch) => watch.push(errorEvent(expired)));
    if (how !== 'silent') this.#open = [];
  }

  get alive(): number {
    return this.#open.filter(({ watch, isDead }) => !isDead && !watch.isStopped).length;
  }

  #happened(event: WatchEvent): void {
    this.#history.push({ version: this.#version, event });
    this.#report((watch) => watch.push(event));
  }

  #report(report: (watch: ScriptedWatch) => void): void {
    for (const { watch, isDead } of this.#open) if (!isDead) report(watch);
  }

  #refuse(): void {
    const { refusal } = this;
    this.refusal = undefined;
    if (refusal !== undefined) throw refusal;
  }
}

const name = fc.constantFrom('a', 'b', 'c', 'd');
const step = fc.oneof(
  { weight: 6, arbitrary: name.map((n) => (s: ModelServer) => s.write(n)) },
  { weight: 2, arbitrary: name.map((n) => (s: ModelServer) => s.delete(n)) },
  { weight: 1, arbitrary: fc.constant((s: ModelServer) => s.bookmark()) },
  { weight: 1, arbitrary: fc.constant((s: ModelServer) => s.compact()) },
  {
    weight: 3,
    arbitrary: fc
      .constantFrom('closed', 'reset', 'expired', 'silent')
      .map((how) => (s: ModelServer) => s.end(how as 'closed')),
  },
  {
    weight: 2,
    arbitrary: fc
      .constantFrom(
        expired,
        apiError(429, 'TooManyRequests'),
        apiError(500, 'InternalError'),
        apiError(403, 'Forbidden'),
        lostConnection('connect-refused', false),
        lostConnection('eof'),
      )
      .map((refusal) => (s: ModelServer) => {
        s.refusal = refusal;
      }),
  },
  { weight: 3, arbitrary: fc.integer({ min: 1, max: 100_000 }) },
);

test('whatever the server does, the store ends up equal to it, and between two lists every event comes once, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(step, { maxLength: 40 }),
      fc.boolean(),
      fc.integer(),
      async (steps, useWatchList, seed) => {
        const clock = new VirtualClock();
        const server = new ModelServer();
        const state = new Map<string, string>();
        let last = 0;
        const take = (object: KubeObject): string => {
          const { name: key, resourceVersion } = object.metadata;
          expect(Number(resourceVersion)).toBeGreaterThan(last);
          last = Number(resourceVersion);
          return key;
        };
        const store = {
          add: (object: KubeObject) => {
            const key = take(object);
            expect(state.has(key)).toBe(false);
            state.set(key, `${key}${last}`);
          },
          update: (object: KubeObject) => {
            const key = take(object);
            expect(state.has(key)).toBe(true);
            state.set(key, `${key}${last}`);
          },
          delete: (object: object) => void state.delete(take(object as KubeObject)),
          replace: (objects: readonly KubeObject[], version: string) => {
            expect(Number(version)).toBeGreaterThanOrEqual(last);
            last = Number(version);
            state.clear();
            for (const { metadata } of objects) state.set(metadata.name, `${metadata.name}${metadata.resourceVersion}`);
          },
          bookmark: (version: string) => {
            expect(Number(version)).toBeGreaterThanOrEqual(last);
            last = Number(version);
          },
          resync: () => {},
        };
        const failures: unknown[] = [];
        const log = { ...silentLogger, error: (_: string, fields?: object) => void failures.push(fields) };
        const runtime = { clock, random: seededRandom(seed), log: { ...log, child: () => log } };
        // What the store above refuses.
        const onError = (error: unknown) => {
          if (error instanceof Error && error.name === 'AssertionError') failures.push(error);
        };
        const reflector = new Reflector(server, store, { useWatchList, runtime, onError });
        const stop = new AbortController();
        const done = reflector.run({ signal: stop.signal });
        for (const each of steps) {
          if (typeof each === 'number') await clock.advance(each);
          else each(server);
          await clock.settle();
        }
        await clock.advance(200_000);
        expect([...state].sort()).toEqual([...server.objects].sort());
        expect(server.alive).toBe(1);
        expect(failures).toEqual([]);
        stop.abort();
        await done;
        expect(clock.pending).toBe(0);
      },
    ),
    { numRuns: 150 },
  );
});
