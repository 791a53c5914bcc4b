import { dirname } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { Client } from 'riata';
import { Pod } from 'riata/kinds';
import { memoryLogger } from 'riata/runtime';
import { describe, expect, test, vi } from 'vitest';
import { unlistedOptionTypes } from '../../../tools/option-types.mjs';
import { clusterControllers, makeNodes, nodeControllers, providerControllers, Sandbox } from './index.js';

/** An unknown option. The compiler refuses it as well, so it is cast. */
const wrong = { notAnOption: 1 } as never;

/** Every public way to give options, by what errors call it. */
const entries: Readonly<Record<string, () => unknown>> = {
  'Sandbox.start': () => Sandbox.start(wrong),
  'Sandbox.start: provider': () => Sandbox.start({ provider: wrong }),
  makeNodes: () => makeNodes({} as Client, 0, wrong),
  nodeControllers: () => nodeControllers(wrong),
  clusterControllers: () => clusterControllers(wrong),
  providerControllers: () => providerControllers(wrong),
};

describe('an unknown option is refused by', () => {
  test.each(Object.keys(entries))('%s', async (name) => {
    const call = async () => entries[name]?.();
    await expect(call()).rejects.toThrow(`${name}: unknown option "notAnOption"; known options are `);
  });
});

test('a fate with an unknown name is logged with the nearest one', async () => {
  const log = memoryLogger();
  await using sandbox = await Sandbox.start({ nodes: 1, log, fate: () => ({ endAfter: '1s' }) as never });
  const containers = [{ name: 'web', image: 'web:1' }];
  await sandbox.client.create(Pod({ metadata: { namespace: 'default', name: 'web' }, spec: { containers } }));
  await vi.waitFor(() => {
    const errors = log.records.map(({ fields }) => String(fields.error));
    expect(errors).toContainEqual(
      expect.stringContaining('fate: unknown option "endAfter"; did you mean "endsAfter"?'),
    );
  });
});

test('every exported options type has its names listed', () => {
  expect(unlistedOptionTypes(dirname(fileURLToPath(import.meta.url)))).toEqual([]);
});
