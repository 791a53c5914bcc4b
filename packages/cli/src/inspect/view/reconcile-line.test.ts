import { expect, test } from 'vitest';
import { reconcileLine } from './reconcile-line.js';

const record = {
  controller: 'foo',
  key: { namespace: 'default', name: 'web' },
  reconcileID: '1',
  startedAt: 0,
  queuedMs: 0,
  durationMs: 1.25,
  attempt: 1,
  priority: 0,
  reasons: [{ source: 'for Foo', change: 'Added' as const, count: 1, atMs: 0 }],
  outcome: 'success' as const,
  writes: [{ verb: 'patch', object: 'Deployment default/web' }],
};

test('a reconcile is described with its causes and writes', () => {
  expect(reconcileLine(record)).toBe(
    'foo            default/web (for Foo Added) → patch Deployment default/web, 1.3 ms',
  );
  expect(reconcileLine({ ...record, writes: [] })).toContain('nothing to do');
  expect(reconcileLine({ ...record, error: 'it broke' })).toContain('it broke');
});
