import { expect, test } from 'vitest';
import type { TopFrame } from '../top-model.js';
import { painter } from './text.js';
import { topLines } from './top-lines.js';

const controller = (index: number): TopFrame['controllers'][number] => ({
  ...{ name: `controller-with-a-long-name-${index}`, phase: index === 1 ? 'syncing' : 'running' },
  ...{ perSecond: 1234.5, errorsPerSecond: 0.1, medianMs: 12, p95Ms: 12_345, queued: 100_000 },
  ...{ waitedMs: undefined, delayed: 12, active: 3, overdue: 1 },
});
const record = {
  ...{ controller: 'site', key: { namespace: 'default', name: 'web' }, reconcileID: '1', startedAt: 0, queuedMs: 0 },
  ...{ durationMs: 1.25, attempt: 1, priority: 0, reasons: [], outcome: 'success' as const, writes: [] },
};
const frame: TopFrame = {
  ...{ operator: 'site-operator', replicas: 2, nowMs: 0, upMs: 90_000, riata: '0.1.0' },
  ...{ rssBytes: 84_000_000, heapUsedBytes: 41_000_000 },
  controllers: Array.from({ length: 20 }, (_, index) => controller(index)),
  failing: Array.from({ length: 20 }, (_, index) => ({
    ...{ controller: index === 0 ? 'other' : 'site', key: `default/${index}`, attempt: 3, retryInMs: 4_000 },
    error: 'Error: a long story, '.repeat(10),
  })),
  caches: Array.from({ length: 20 }, () => ({
    ...{ kind: 'Site.sites.example.com', objects: 3, synced: false, lastEventMs: undefined, problem: 'forbidden' },
  })),
  latest: Array.from({ length: 100 }, () => record),
  sampling: { seen: 0, sent: 0 },
};
const layout = { columns: 80, rows: 24, paint: painter(false), hints: ['q quits'] };

test.each([
  [80, 24],
  [40, 30],
  [200, 60],
])('a frame fits into a terminal of %i columns and %i rows', (columns, rows) => {
  const lines = topLines(frame, { ...layout, columns, rows });
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(columns);
  expect(lines.at(-1)).toBe('q quits');
  expect(lines.filter((line) => line.includes(' more'))).toHaveLength(3);
});

test.each([
  [80, 24],
  [40, 30],
  [200, 60],
])('with a banner and a section of a program, in %i columns and %i rows', (columns, rows) => {
  const pods = Array.from({ length: 50 }, (_, index) => `Pod p${index} ready, on a node with a long name`);
  const section = { heading: 'OBJECTS', lines: pods.map((text) => ({ mark: '●', color: 'green', text }) as const) };
  const around = { banner: '▸ a chapter', section, hints: ['kubectl get pods', 'q quits'] };
  const lines = topLines(frame, { ...layout, ...around, columns, rows });
  expect(lines.length).toBeLessThanOrEqual(rows);
  for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(columns);
  expect(lines[2]).toBe('▸ a chapter');
  expect(lines).toContain('  OBJECTS');
  expect(lines.some((line) => line.startsWith('● Pod p0 ready'))).toBe(true);
  expect(lines.slice(-2)).toEqual(['kubectl get pods', 'q quits']);
});

test('a chosen controller', () => {
  const rows = { ...frame, controllers: [{ ...controller(0), name: 'other' }] };
  const text = topLines(rows, { ...layout, selected: 'other' }).join('\n');
  expect(text).toContain('› other');
  expect(text).toContain('other default/0');
  expect(text).not.toContain('site default/1');
});

test('colours', () => {
  expect(topLines(frame, { ...layout, paint: painter(true) }).join('\n')).toContain('\x1b[31m');
});
