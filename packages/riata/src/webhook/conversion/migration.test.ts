// biome-ignore-all lint/suspicious/noExplicitAny: a play of the server, of any shape
import { describe, expect, test } from 'vitest';
import type { EventInput } from '../../manager/events/event-recorder.js';
import type { Manager } from '../../manager/manager.js';
import type { Runnable } from '../../manager/runnable.js';
import { defineKind } from '../../object/define-kind.js';
import type { KubeObject } from '../../object/meta.js';
import { applyMergePatch } from '../../object/patch/merge-patch.js';
import { ApiError } from '../../rest/errors/api-error.js';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import { resolveRuntime } from '../../runtime/runtime.js';
import { VirtualClock } from '../../runtime/time/virtual-clock.js';
import { migration } from './migration.js';
import { startedAnnotation } from './migration-state.js';
import { Pacer, paceMs } from './pace.js';

const Site = defineKind({ group: 'example.com', version: 'v2', kind: 'Site', spec: { type: 'object' } });

const failure = (code: number, reason: string) => new ApiError({ code, reason, message: reason } as never);

/** A server with one definition and some objects, as much of it as a migration uses. */
class Play {
  readonly clock = new VirtualClock();
  readonly log = memoryLogger();
  readonly events: EventInput[] = [];
  /** Keys of objects, in the order in which they were written. */
  readonly written: string[] = [];
  readonly writtenAt: number[] = [];
  revision = 100;
  crd: any = {
    metadata: { name: 'sites.example.com', generation: 1, resourceVersion: '50' },
    spec: {
      versions: [
        { name: 'v2', storage: true },
        { name: 'v1', storage: false },
      ],
    },
    status: { storedVersions: ['v1', 'v2'] },
  };
  readonly objects = new Map<string, { version: string; resourceVersion: number }>();
  /** Called before each rewrite. */
  before: (name: string) => void = () => {};
  readonly #stop = new AbortController();
  #ended: Promise<void> | undefined;

  constructor(count: number) {
    for (let at = 0; at < count; at += 1) this.objects.set(`s${at}`, { version: 'v1', resourceVersion: at + 1 });
  }

  changeCrd(change: (crd: any) => void): void {
    change(this.crd);
    this.crd.metadata.resourceVersion = String(++this.revision);
  }

  readonly #patchCrd = async (_: unknown, __: unknown, { body }: { body: any }) => {
    const { resourceVersion, ...metadata } = body.metadata;
    if (resourceVersion !== undefined && resourceVersion !== this.crd.metadata.resourceVersion) {
      throw failure(409, 'Conflict');
    }
    this.crd = applyMergePatch(this.crd, { ...body, metadata });
    this.changeCrd(() => {});
    return this.crd;
  };

  readonly client = {
    find: async () => structuredClone(this.crd),
    list: async () => ({ metadata: { resourceVersion: String(this.revision) }, items: [] }),
    pages: async function* (this: Play) {
      const items = [...this.objects].map(([name, { resourceVersion }]) => ({
        metadata: { name, namespace: 'a', uid: name, resourceVersion: String(resourceVersion) },
      }));
      for (let at = 0; at < items.length; at += 5) yield { items: items.slice(at, at + 5) };
    }.bind(this),
    patch: async (kind: { kind: string }, key: { name: string }, patch: { body: any }) => {
      if (kind.kind !== 'Site') return this.#patchCrd(kind, key, patch);
      this.before(key.name);
      const object = this.objects.get(key.name);
      if (object === undefined) throw failure(404, 'NotFound');
      if (String(object.resourceVersion) !== patch.body.metadata.resourceVersion) throw failure(409, 'Conflict');
      this.writtenAt.push(this.clock.now());
      this.written.push(key.name);
      if (object.version !== 'v2') Object.assign(object, { version: 'v2', resourceVersion: ++this.revision });
      return { metadata: { resourceVersion: String(object.resourceVersion) } } as KubeObject;
    },
    status: { patch: this.#patchCrd },
  };

  start(options: Parameters<typeof migration>[1] = {}): void {
    const runtime = resolveRuntime({ clock: this.clock, log: this.log });
    const manager = {
      ...{ runtime, leaderClient: this.client },
      eventRecorder: () => ({ event: (_: unknown, event: EventInput) => this.events.push(event) }),
      add: (runnable: Runnable) => {
        expect(runnable.stage).toBe('leader');
        this.#ended = runnable.run({ signal: this.#stop.signal });
        return { remove: async () => {} };
      },
    } as unknown as Manager;
    migration(Site, { pace: '1000/s', ...options }).addTo(manager);
  }

  async stop(): Promise<void> {
    this.#stop.abort();
    await this.#ended;
  }

  get stored(): readonly string[] {
    return this.crd.status.storedVersions;
  }
}

describe('a migration', () => {
  test('waits for the grace period, rewrites all objects at the pace, and trims the stored versions', async () => {
    const play = new Play(20);
    const startedAt = play.clock.now();
    play.start({ pace: '10/s' });
    await play.clock.advance(9_999);
    expect(play.written).toEqual([]);
    await play.clock.advance(1_000);
    expect(play.written.length).toBe(10);
    expect(play.stored).toEqual(['v1', 'v2']);
    await play.clock.advance(2_000);
    expect(play.writtenAt.map((at) => at - startedAt)).toEqual(
      Array.from({ length: 20 }, (_, at) => 10_000 + at * 100),
    );
    expect(new Set(play.written).size).toBe(20);
    expect(play.stored).toEqual(['v2']);
    expect(play.crd.status.conditions).toMatchObject([
      {
        type: 'StorageVersionMigrated',
        status: 'True',
        message: 'all objects are stored as v2: 20 were rewritten, 0 were already',
      },
    ]);
    expect(play.crd.metadata.annotations).toEqual({});
    expect(play.events).toMatchObject([{ type: 'Normal', reason: 'StorageVersionMigrated' }]);
    await play.stop();
  });

  test('does nothing if all is stored as it should be, and looks again later', async () => {
    const play = new Play(3);
    play.crd.status.storedVersions = ['v2'];
    play.start({ grace: '0s' });
    await play.clock.advance(60_000);
    expect(play.written).toEqual([]);
    expect(play.crd.metadata.resourceVersion).toBe('50');
    play.changeCrd(({ status }) => status.storedVersions.unshift('v1'));
    await play.clock.advance(600_000);
    expect(play.written.length).toBe(3);
    expect(play.stored).toEqual(['v2']);
    await play.stop();
  });

  test('continues after a crash: what was written since the start is not written again', async () => {
    const play = new Play(20);
    play.start({ pace: '10/s', grace: '0s' });
    await play.clock.advance(850);
    await play.stop();
    const before = [...play.written];
    expect(before.length).toBe(9);
    play.objects.set('new', { version: 'v2', resourceVersion: ++play.revision });
    const next = Object.assign(new Play(0), { crd: play.crd, revision: play.revision });
    for (const [name, object] of play.objects) next.objects.set(name, object);
    next.start({ pace: '10/s', grace: '10s' });
    await next.clock.advance(5_000);
    expect(next.stored).toEqual(['v2']);
    const all = [...before, ...next.written];
    expect(new Set(all)).toEqual(new Set(Array.from({ length: 20 }, (_, at) => `s${at}`)));
    expect(all.length).toBe(20);
    await next.stop();
  });

  test('leaves objects alone that are deleted or changed meanwhile', async () => {
    const play = new Play(10);
    play.before = (name) => {
      if (name === 's3') play.objects.delete('s3');
      if (name === 's4') Object.assign(play.objects.get('s4')!, { version: 'v2', resourceVersion: ++play.revision });
    };
    play.start({ grace: '0s' });
    await play.clock.advance(1_000);
    expect(play.written).not.toContain('s4');
    expect(play.crd.status.conditions[0].message).toContain('8 were rewritten, 2 were already');
    expect(play.stored).toEqual(['v2']);
    await play.stop();
  });

  test('reports objects that the server refuses, trims nothing, and tries again', async () => {
    const play = new Play(10);
    let isBroken = true;
    play.before = (name) => {
      if (isBroken && name === 's3') throw failure(422, 'Invalid');
    };
    play.start({ grace: '0s' });
    await play.clock.advance(1_000);
    expect(play.stored).toEqual(['v1', 'v2']);
    expect(play.written.length).toBe(9);
    expect(play.events).toMatchObject([{ type: 'Warning', reason: 'StorageMigrationRefused' }]);
    expect(play.crd.status.conditions).toMatchObject([
      {
        status: 'False',
        reason: 'Refused',
        message: expect.stringContaining('1 objects cannot be rewritten, among them a/s3'),
      },
    ]);
    isBroken = false;
    await play.clock.advance(301_000);
    expect(play.stored).toEqual(['v2']);
    expect(play.written.length).toBe(10);
    expect(play.crd.status.conditions).toMatchObject([{ status: 'True' }]);
    await play.stop();
  });

  test('retries with a growing pause while the server fails', async () => {
    const play = new Play(3);
    let tries = 0;
    play.before = () => {
      tries += 1;
      throw failure(500, 'InternalError');
    };
    play.start({ grace: '0s' });
    await play.clock.advance(8_000);
    const seen = tries;
    expect(seen).toBeGreaterThan(2);
    expect(play.stored).toEqual(['v1', 'v2']);
    play.before = () => {};
    await play.clock.advance(60_000);
    expect(play.stored).toEqual(['v2']);
    await play.stop();
  });

  test('starts over if the definition changes meanwhile, as another version may have been stored', async () => {
    const play = new Play(10);
    play.before = (name) => {
      if (name !== 's9' || play.crd.metadata.generation !== 1) return;
      // Another version is stored for a moment, and an object is written in it.
      play.changeCrd(({ metadata }) => Object.assign(metadata, { generation: 3 }));
      play.objects.set('s0', { version: 'v1', resourceVersion: ++play.revision });
    };
    play.start({ grace: '0s' });
    await play.clock.advance(5_000);
    expect(play.stored).toEqual(['v2']);
    expect([...play.objects.values()].every(({ version }) => version === 'v2')).toBe(true);
    await play.stop();
  });

  test('trims nothing while another version is stored', async () => {
    const play = new Play(10);
    const store = (name: string) =>
      play.changeCrd(({ metadata, spec }) => {
        metadata.generation += 1;
        for (const version of spec.versions) version.storage = version.name === name;
      });
    play.before = (name) => {
      if (name === 's9' && play.crd.metadata.generation === 1) store('v1');
    };
    play.start({ grace: '0s' });
    await play.clock.advance(100_000);
    expect(play.stored).toEqual(['v1', 'v2']);
    expect(play.log.records.filter(({ level }) => level === 'warn')).toMatchObject([
      { message: 'another version is stored, nothing is migrated', fields: { storage: 'v1' } },
    ]);
    store('v2');
    await play.clock.advance(60_000);
    expect(play.stored).toEqual(['v2']);
    await play.stop();
  });

  test('ignores a start that is malformed or of another storage version', async () => {
    for (const text of [
      '{',
      '[]',
      '{"storage":"v1","generation":1,"revision":"9"}',
      '{"storage":"v2","generation":1}',
    ]) {
      const play = new Play(3);
      play.crd.metadata.annotations = { [startedAnnotation]: text };
      play.start({ grace: '0s' });
      await play.clock.advance(1_000);
      expect([play.stored, play.written.length]).toEqual([['v2'], 3]);
      await play.stop();
    }
  });
});

describe('a pace', () => {
  test.each([
    ['20/s', 50],
    ['600/m', 100],
    ['7200/h', 500],
    ['0.5/s', 2000],
  ] as const)('of %s', (pace, ms) => expect(paceMs(pace, 'pace')).toBe(ms));
  test.each(['20', '0/s', '20/d', '-1/s', 20, undefined])('of %s is refused', (pace) => {
    expect(() => paceMs(pace as never, 'pace')).toThrow(
      'pace: expected a number above 0 per s, m or h, as in "20/s", got',
    );
  });
  test('is kept, and unused time is not made up for', async () => {
    const clock = new VirtualClock();
    const pacer = new Pacer(clock, 100);
    const { signal } = new AbortController();
    const times: number[] = [];
    const take = async () => {
      await pacer.next(signal);
      times.push(clock.monotonic());
    };
    const start = clock.monotonic();
    const first = Promise.all([take(), take(), take()]);
    await clock.advance(1_000);
    await first;
    const second = Promise.all([take(), take()]);
    await clock.advance(200);
    await second;
    expect(times.map((at) => at - start)).toEqual([0, 100, 200, 1000, 1100]);
  });
  test('options are checked', () => {
    expect(() => migration(Site, { pace: 'fast' as never })).toThrow('migration of sites.example.com: pace: expected');
    expect(() => migration(Site, { paces: '1/s' } as never)).toThrow('unknown option "paces"; did you mean "pace"?');
    expect(() => migration(Site, { grace: '1 s' as never })).toThrow('migration of sites.example.com: grace: expected');
  });
});
