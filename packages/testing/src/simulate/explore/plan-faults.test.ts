import { seededRandom } from 'riata/runtime';
import { expect, test } from 'vitest';
import { faultKinds, type RunPlan } from '../run/simulated-fault.js';
import { applicableKinds, faultsAfter, randomFaultsOf } from './plan-faults.js';
import type { RunSummary } from './run-summary.js';

const write = (isConditional: boolean) => ({
  verb: 'patch',
  object: 'Site a',
  controller: 'x',
  step: 1,
  isConditional,
});
const event = { type: 'ADDED', object: 'Site a' };

/** A run with three writes, the second with a resourceVersion, two events, two steps and one call of a webhook. */
const run = (more: Partial<RunSummary> = {}, plan: Partial<RunPlan> = {}): RunSummary => ({
  ...{ plan: { seed: 1, faults: [], ...plan }, happened: [], conditions: new Set(), steps: 2, webhookCalls: 1 },
  ...{ writes: [write(false), write(true), write(false)], events: [event, event], ...more },
});
const kinds = faultKinds;
const texts = (given: RunSummary) => faultsAfter(given, { kinds }).map(({ kind, at }) => `${kind}@${at}`);

test('every kind of fault at every point that it applies to', () => {
  const each = (kind: string, points: readonly number[]) => points.map((at) => `${kind}@${at}`);
  expect(texts(run())).toEqual([
    ...['crash-before', 'crash-after', 'lost-answer'].flatMap((kind) => each(kind, [1, 2, 3])),
    ...each('conflict', [2]),
    ...['error', 'leader-change', 'shard-move'].flatMap((kind) => each(kind, [1, 2, 3])),
    ...['reordered', 'late', 'missed', 'stale'].flatMap((kind) => each(kind, [1, 2])),
    ...each('down', [1, 2]),
    ...['slow-webhook', 'failed-webhook'].flatMap((kind) => each(kind, [1])),
  ]);
});

test('a second fault comes after the first, and both after the change', () => {
  const second = texts(run({}, { faults: [{ kind: 'crash-after', at: 2 }] }));
  expect(second).toContain('crash-before@3');
  expect(second).not.toContain('crash-before@2');
  expect(second).toContain('late@1');
  const changed = texts(run({ changed: { kind: 'Site', at: { write: 2, event: 1, step: 1, webhook: 1 } } }));
  expect(changed.filter((text) => /^(crash-before|late|down|slow-webhook)/.test(text))).toEqual([
    'crash-before@3',
    'late@2',
    'down@2',
  ]);
});

test('replicas and shards have faults only where there are any', () => {
  const given = { hasLeader: false, isSharded: false };
  expect(applicableKinds(given)).toEqual(faultKinds.filter((kind) => !/^(leader-change|shard-move)$/.test(kind)));
  expect(applicableKinds({ ...given, hasLeader: true })).toContain('leader-change');
  expect(applicableKinds({ ...given, isSharded: true, faults: ['shard-move'] })).toEqual(['shard-move']);
});

test('random faults are several, each once, and the same for the same seed', () => {
  const singles = faultsAfter(run(), { kinds });
  for (let seed = 1; seed <= 50; seed += 1) {
    const drawn = randomFaultsOf(singles, seededRandom(seed));
    expect(drawn).toEqual(randomFaultsOf(singles, seededRandom(seed)));
    expect(drawn.length).toBeLessThanOrEqual(5);
    expect(new Set(drawn.map(({ kind, at }) => `${kind}@${at}`)).size).toBe(drawn.length);
  }
});
