import { expect, test } from 'vitest';
import type { Change } from '../cache/change.js';
import type { ConfigMap } from '../kinds/index.js';
import { resolveRuntime } from '../runtime/runtime.js';
import { ChangeIntake } from './change-intake.js';
import { sourceBench } from './source.fixture.js';

const change = { type: 'Updated', key: 'shop/a', metadata: { name: 'a' } } as unknown as Change<ConfigMap>;

test('a handler that does not end is named after a while, and when it has ended', async () => {
  const { clock, log, queue } = sourceBench();
  const runtime = resolveRuntime({ clock, log });
  let end = () => {};
  const handler = () =>
    new Promise<void>((resolve) => {
      end = resolve;
    });
  const parts = { name: 'watches ConfigMap', kind: 'ConfigMap', handler, predicates: [], cluster: undefined, runtime };
  const taken = new ChangeIntake<ConfigMap>(parts).take(change, queue, new AbortController().signal);
  await clock.advance(29_999);
  expect(log.records).toEqual([]);
  await clock.advance(60_001);
  const where = { source: 'watches ConfigMap', key: 'shop/a' };
  expect(log.records).toMatchObject([
    {
      level: 'warn',
      message: 'a handler has not ended yet: what comes behind this change waits',
      fields: { ...where, afterMs: 30_000 },
    },
  ]);
  end();
  await taken;
  expect(log.records[1]).toMatchObject({
    ...{ level: 'info', message: 'the handler has ended', fields: { ...where, afterMs: 90_000 } },
  });
  expect(clock.pending).toBe(0);
});
