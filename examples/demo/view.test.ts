import type { KubeObject } from 'riata';
import { expect, test } from 'vitest';
import { draw, lineOf } from './view.js';

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
const object = (index: number) => ({
  kind: 'Pod',
  name: `p${index}`,
  state: 'ready',
  failed: false,
  detail: 'Running',
});
const scene = {
  title: 'Riata',
  chapter: 'a chapter',
  objects: Array.from({ length: 50 }, (_, index) => object(index)),
  records: Array.from({ length: 50 }, () => record),
  hints: ['kubectl get pods'],
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: what colours are made of
const plain = (lines: readonly string[]) => lines.map((line) => line.replace(/\x1b\[[0-9;]*m/g, ''));

test.each([
  [80, 24],
  [40, 12],
  [200, 60],
])('a scene fits into a terminal of %i columns and %i rows', (columns, rows) => {
  const lines = plain(draw(scene, columns, rows));
  expect(lines.length).toBeLessThanOrEqual(Math.max(rows, 15));
  for (const line of lines) expect([...line].length).toBeLessThanOrEqual(columns);
  expect(lines.join('\n')).toContain('more');
  expect(lines.at(-1)).toBe('kubectl get pods'.slice(0, columns));
});

test('a Pod is shown as ready only when it is', () => {
  const metadata = { namespace: 'default', name: 'web', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
  const pod = (phase: string, isReady = false) => {
    const conditions = [{ type: 'Ready', status: isReady ? 'True' : 'False' }];
    return lineOf({ apiVersion: 'v1', kind: 'Pod', metadata, status: { phase, conditions } } as KubeObject);
  };
  const shown = ({ state, failed }: ReturnType<typeof pod>) => `${state}${failed ? ' ✗' : ''}`;
  expect([pod('Pending'), pod('Running'), pod('Running', true), pod('Succeeded'), pod('Failed')].map(shown)).toEqual([
    ...['unavailable', 'unavailable', 'ready', 'succeeded', 'failed ✗'],
  ]);
  const fresh = { apiVersion: 'v1', kind: 'Pod', metadata, status: { phase: 'Pending' } } as KubeObject;
  expect(lineOf(fresh).state).toBe('pending');
});
