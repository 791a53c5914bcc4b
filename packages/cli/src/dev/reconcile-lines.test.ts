import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { withReconcileLines } from './reconcile-lines.js';

test('reconciles that wrote something are shown, at most some in a second; the rest is logged', () => {
  const shown: string[] = [];
  const inner = memoryLogger('info');
  let now = 0;
  const log = withReconcileLines(inner, { show: (line) => void shown.push(line), monotonic: () => now });
  const child = log.child({ controller: 'site', key: 'default/blog' });
  child.debug('reconciled', { durationMs: 12.4, writes: ['patch Deployment default/blog'] });
  child.debug('reconciled', { durationMs: 1, writes: [] });
  child.info('hello');
  expect(shown).toEqual(['reconciled site default/blog in 12 ms: patch Deployment default/blog']);
  expect(inner.messages()).toEqual(['hello']);
  for (let i = 0; i < 100; i++) child.debug('reconciled', { durationMs: 1, writes: ['patch X'] });
  expect(shown).toHaveLength(21);
  expect(shown.at(-1)).toBe('… and more');
  now = 1000;
  child.debug('reconciled', { durationMs: 1, writes: ['patch X'] });
  expect(shown).toHaveLength(22);
});
