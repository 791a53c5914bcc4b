import { describe, expect, test } from 'vitest';
import { memoryLogger } from '../../runtime/log/memory-logger.js';
import type { RingPassage } from './shard.fixture.js';
import { ringWorld } from './shard-ring.fixture.js';

/** A replica that owns all, and how long it takes to leave. */
async function alone() {
  const world = ringWorld();
  const log = memoryLogger();
  const a = world.join('a', { runtime: { log } });
  await world.base.advance(20_000);
  expect(a.ring.owned).toHaveLength(64);
  const { base, server } = world;
  /** Milliseconds. */
  const leave = async () => {
    const at = base.monotonic();
    a.stop.abort();
    let isGone = false;
    void a.ended.then(() => {
      isGone = true;
    });
    for (let ms = 0; ms < 30_000 && !isGone; ms += 10) await base.advance(10);
    return base.monotonic() - at;
  };
  const isReleased = () =>
    !Object.keys(server.lease?.metadata.annotations ?? {}).some((key) => key.startsWith('member.'));
  const warnings = () => log.records.filter(({ level }) => level === 'warn').map(({ message }) => message);
  return { ...world, a, leave, isReleased, warnings };
}

/** So for a while, then well again. */
function forMs(world: Awaited<ReturnType<typeof alone>>, ms: number, passage: RingPassage): void {
  world.server.passage = () => passage;
  world.base.after(ms, () => {
    world.server.passage = () => ({});
  });
}

describe('who leaves and has nothing left to do', () => {
  test('is gone at once while the server is there', async () => {
    const world = await alone();
    expect(await world.leave()).toBeLessThan(50);
    expect([world.isReleased(), world.warnings()]).toEqual([true, []]);
  });

  test('tries one last time if the server is down, and leaves its lease to expire', async () => {
    const world = await alone();
    world.server.passage = () => ({ isUnreachable: true });
    expect(await world.leave()).toBeLessThan(1_100);
    expect(world.warnings().at(-1)).toContain('other replicas take over when its lease has expired');
  });

  test('tries once if the server was not there before either', async () => {
    const world = await alone();
    world.server.passage = () => ({ isUnreachable: true });
    await world.base.advance(4_000);
    expect(await world.leave()).toBeLessThan(50);
  });

  test('hands over if the server is down for a moment only', async () => {
    const world = await alone();
    forMs(world, 600, { isUnreachable: true });
    expect(await world.leave()).toBeLessThan(1_100);
    expect(world.isReleased()).toBe(true);
  });

  test('hands over to a server that is slow, or has no time just now', async () => {
    const slow = await alone();
    slow.server.passage = () => ({ thereMs: 1_500, backMs: 1_500 });
    expect(await slow.leave()).toBeLessThan(9_100);
    expect(slow.isReleased()).toBe(true);
    const busy = await alone();
    forMs(busy, 1_500, { refused: 503 });
    expect(await busy.leave()).toBeLessThan(2_100);
    expect(busy.isReleased()).toBe(true);
  });

  test('waits for one request without an answer, in flight or not', async () => {
    const world = await alone();
    world.server.passage = () => ({ lost: 'request' });
    expect(await world.leave()).toBeLessThan(3_400);
    const known = await alone();
    known.server.passage = () => ({ lost: 'request' });
    await known.base.advance(6_500);
    expect(await known.leave()).toBeLessThan(3_400);
  });
});

test('who has not joined yet waits for no answer', async () => {
  const world = ringWorld();
  world.server.passage = () => ({ lost: 'request' });
  const a = world.join('a');
  await world.base.advance(1_000);
  a.stop.abort();
  await a.ended;
  expect(world.base.monotonic()).toBe(1_000);
});

test('who leaves renews its place until its work has ended, though the server is away for a while', async () => {
  const world = await alone();
  let end = () => {};
  const work = new Promise<void>((resolve) => {
    end = resolve;
  });
  world.a.ring.onChange(({ lost }) => (lost.includes(7) ? work : undefined));
  forMs(world, 5_000, { isUnreachable: true });
  world.base.after(25_000, end);
  expect(await world.leave()).toBeGreaterThanOrEqual(25_000);
  expect(world.isReleased()).toBe(true);
});
