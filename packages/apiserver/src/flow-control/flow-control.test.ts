import { VirtualClock } from 'riata/runtime';
import { expect, test } from 'vitest';
import { parseRequestInfo } from '../http/request-info.js';
import { TextMetrics } from '../metrics/text-metrics.js';
import type { FlowSchema } from './flow-classifier.js';
import { FlowControl, type Turn } from './flow-control.js';
import { FlowMetrics } from './flow-metrics.js';
import type { LevelSpec } from './priority-level.js';

const queuing = { queues: 2, handSize: 1, queueLengthLimit: 2 };
const plain: LevelSpec = {
  ...{ name: 'plain', exempt: false, shares: 1, lendablePercent: 0, borrowingLimitPercent: 0 },
  queuing,
};

/** Every user has a FlowSchema of its own level: the part of its name before the colon. */
function start(levels: readonly LevelSpec[], seats: number) {
  const clock = new VirtualClock();
  const registry = new TextMetrics();
  const schemas = new Map<string, FlowSchema>();
  const schemaOf = (level: string): FlowSchema => {
    const known = schemas.get(level);
    if (known !== undefined) return known;
    const made = { name: `of-${level}`, level, by: 'ByUser' as const, rules: [], headers: { level } };
    schemas.set(level, made);
    return made;
  };
  const classifier = {
    observe: () => true,
    levels: () => levels,
    schemaOf: ({ username = '' }) => schemaOf(username.split(':')[0] ?? ''),
  };
  const metrics = new FlowMetrics(registry);
  const control = new FlowControl({ classifier, clock, metrics, seats });
  const enter = (username: string, path = '/api/v1/namespaces/default/pods', signal = new AbortController().signal) =>
    control.enter({ user: { username }, info: parseRequestInfo('GET', path), timeoutMs: 60_000, signal });
  const text = () => {
    metrics.collect();
    return registry.text();
  };
  return { clock, enter, text, control };
}

/** Whether a request is executed, waits, or is rejected. */
async function stateOf(turn: Turn | undefined): Promise<string> {
  if (turn?.ready === undefined) return 'executed';
  const settled = turn.ready.then(
    () => 'executed',
    (error: Error) => `${(error as { code?: number }).code} ${error.message}`,
  );
  return Promise.race([settled, Promise.resolve().then(() => Promise.resolve('waits'))]);
}

const tooMany = '429 Too many requests, please try again later.';

test('a request without a seat waits until another gives one back', async () => {
  const { enter } = start([plain], 1);
  const [first, second] = [enter('plain:a'), enter('plain:a')];
  expect([await stateOf(first), await stateOf(second)]).toEqual(['executed', 'waits']);
  first?.leave();
  first?.leave();
  expect(await stateOf(second)).toBe('executed');
  const third = enter('plain:a');
  expect(await stateOf(third)).toBe('waits');
  second?.leave();
  expect(await stateOf(third)).toBe('executed');
});

test('a request beyond the queue of its flow gets 429, and other flows still wait', async () => {
  const { enter, text } = start([plain], 1);
  const greedy = [1, 2, 3, 4].map(() => enter('plain:greedy'));
  expect(await Promise.all(greedy.map(stateOf))).toEqual(['executed', 'waits', 'waits', tooMany]);
  const modest = enter('plain:modest');
  expect(await stateOf(modest)).toBe('waits');
  expect(text()).toContain(
    'apiserver_flowcontrol_rejected_requests_total{flow_schema="of-plain",priority_level="plain",reason="queue-full"} 1\n',
  );
  // The flows have turns: the second request of the greedy one comes after the first of the other.
  const order: string[] = [];
  greedy[1]?.ready?.then(() => order.push('greedy 1'));
  greedy[2]?.ready?.then(() => order.push('greedy 2'));
  modest?.ready?.then(() => order.push('modest'));
  for (const turn of [greedy[0], greedy[1], modest, greedy[2]]) {
    turn?.leave();
    await stateOf(turn);
  }
  expect(order).toEqual(['greedy 1', 'modest', 'greedy 2']);
});

test('all flows together cannot wait longer than the queues of the level', async () => {
  const { enter } = start([plain], 1);
  enter('plain:x');
  const others = ['a', 'b', 'c', 'd', 'e'].map((name) => enter(`plain:${name}`));
  expect(await Promise.all(others.map(stateOf))).toEqual(['waits', 'waits', 'waits', 'waits', tooMany]);
});

test('a level without queues rejects at once', async () => {
  const { enter, text } = start([{ ...plain, queuing: undefined }], 1);
  enter('plain:x');
  const error = await enter('plain:x')?.ready?.catch((e: unknown) => e);
  expect(error).toMatchObject({ code: 429, headers: { 'retry-after': '1' } });
  expect(text()).toContain('reason="concurrency-limit"} 1\n');
});

test('a request waits for a fourth of its time', async () => {
  const { clock, enter, text } = start([plain], 1);
  const first = enter('plain:x');
  const second = enter('plain:x');
  await clock.advance(14_999);
  expect(await stateOf(second)).toBe('waits');
  await clock.advance(1);
  expect(await stateOf(second)).toBe(tooMany);
  expect(text()).toContain('reason="time-out"} 1\n');
  // Its place in the queue is free, and it has taken no seat.
  second?.leave();
  first?.leave();
  expect(await stateOf(enter('plain:x'))).toBe('executed');
  expect(text()).toContain('current_executing_requests{flow_schema="of-plain",priority_level="plain"} 1\n');
  expect(text()).toContain('current_inqueue_requests{flow_schema="of-plain",priority_level="plain"} 0\n');
});

test('a client that disconnects leaves the queue', async () => {
  const { enter } = start([plain], 1);
  const first = enter('plain:x');
  const gone = new AbortController();
  const second = enter('plain:x', '/api/v1/pods', gone.signal);
  const third = enter('plain:x');
  gone.abort(new Error('gone'));
  await expect(second?.ready).rejects.toThrow('gone');
  first?.leave();
  expect(await stateOf(third)).toBe('executed');
  expect(
    await enter('plain:x', '/api/v1/pods', AbortSignal.abort(new Error('gone before')))?.ready?.catch(String),
  ).toBe('Error: gone before');
});

test('exempt requests never wait', async () => {
  const { enter } = start([{ ...plain, exempt: true, shares: 0 }], 1);
  const states = Array.from({ length: 1000 }, () => stateOf(enter('plain:x')));
  expect(new Set(await Promise.all(states))).toEqual(new Set(['executed']));
});

test('connections that last take no seat', () => {
  const { enter } = start([plain], 1);
  expect(enter('plain:x', '/api/v1/namespaces/default/pods/p/exec')).toBeUndefined();
  expect(enter('plain:x', '/api/v1/namespaces/default/pods?watch=1')).toBeDefined();
});

test('the seats are divided by shares, rounded up', () => {
  const { text } = start(
    [
      { ...plain, name: 'a', shares: 30 },
      { ...plain, name: 'b', shares: 5 },
      { ...plain, name: 'none', shares: 0 },
    ],
    10,
  );
  const seats = [...text().matchAll(/nominal_limit_seats\{priority_level="(\w+)"\} (\d+)/g)].map((m) => [m[1], m[2]]);
  expect(seats).toEqual([
    ['a', '9'],
    ['b', '2'],
    ['none', '0'],
  ]);
});

test('free seats are lent, as far as their level allows', async () => {
  const lender = { ...plain, name: 'lender', shares: 1, lendablePercent: 50 };
  const borrower = { ...plain, name: 'borrower', shares: 1, borrowingLimitPercent: undefined };
  const modest = { ...plain, name: 'modest', shares: 0, borrowingLimitPercent: 100 };
  const { enter } = start([lender, borrower, modest], 8);
  const borrowed = Array.from({ length: 6 }, () => enter('borrower:x'));
  expect(await Promise.all(borrowed.map(stateOf))).toEqual(Array(6).fill('executed'));
  const waiting = enter('borrower:x');
  expect([await stateOf(waiting), await stateOf(enter('modest:x'))]).toEqual(['waits', 'waits']);
  // A level always has the seats of its own.
  const own = Array.from({ length: 4 }, () => enter('lender:x'));
  expect(await Promise.all(own.map(stateOf))).toEqual(Array(4).fill('executed'));
  for (const turn of borrowed.slice(0, 3)) turn?.leave();
  expect(await stateOf(waiting)).toBe('executed');
});

test('a seat that another level gives back is lent to who waits for one', async () => {
  const lender = { ...plain, name: 'lender', shares: 1, lendablePercent: 100 };
  const borrower = { ...plain, name: 'borrower', shares: 0, borrowingLimitPercent: undefined };
  const { enter } = start([lender, borrower], 1);
  const own = enter('lender:x');
  const other = enter('borrower:x');
  expect(await stateOf(other)).toBe('waits');
  own?.leave();
  expect(await stateOf(other)).toBe('executed');
});
