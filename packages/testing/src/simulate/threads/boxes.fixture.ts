import { isMainThread } from 'node:worker_threads';
import { defineSimulation } from '@riata/testing';
import { defineKind } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { z } from 'zod';

/** Of the same copy of the package, where this is compiled together with it. */
export { simulate } from '@riata/testing';

const module = import.meta.url;
const Box = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Box' },
  spec: z.object({ size: z.int().min(0).max(9) }),
  status: z.object({ page: z.string().optional() }),
});
const key = { namespace: 'default', name: 'a' };

const boxes = control(Box)
  .owns(ConfigMap)
  .reconcile(async ({ object, apply }) => {
    await apply(ConfigMap({ metadata: { name: 'a' }, data: { size: String(object.spec.size) } }));
  });

const story = defineSimulation(
  {
    kinds: [Box],
    story: async ({ client }) => {
      await client.create(Box({ metadata: key, spec: { size: 1 } }));
      await client.patch(Box, key, { type: 'merge', body: { spec: { size: 2 } } });
    },
  },
  { module, export: 'story' },
);

/** Survives everything. */
export const sound = defineSimulation({ ...story, run: [boxes] }, { module, export: 'sound' });

/** Creates a ConfigMap with a generated name and remembers it in the status: a crash in between forgets it. */
export const forgetful = defineSimulation(
  {
    ...story,
    run: [
      control(Box, { name: 'forgetful' }).reconcile(async ({ object, client, status }) => {
        if (object.status?.page !== undefined) return;
        const page = ConfigMap({ metadata: { namespace: 'default', generateName: 'a-' } });
        const { metadata } = await client.create(setControllerReference(object, page));
        await status({ page: metadata.name });
      }),
    ],
  },
  { module, export: 'forgetful' },
);

/** Ends the thread when it runs in a worker. */
export const deadly = defineSimulation(
  {
    ...sound,
    story: ({ client }) => {
      if (!isMainThread) queueMicrotask(() => process.exit(3));
      return client.create(Box({ metadata: key, spec: { size: 1 } }));
    },
  },
  { module, export: 'deadly' },
);

/** Does something else in a worker. */
export const other = defineSimulation(
  { ...sound, story: ({ client }) => client.create(Box({ metadata: key, spec: { size: isMainThread ? 1 : 2 } })) },
  { module, export: 'sound' },
);

/** Is not exported by this name. */
export const misnamed = defineSimulation(sound, { module, export: 'missing' });
