import { edit } from 'riata';
import { control, generationChanged, TerminalError } from 'riata/controller';
import { ConfigMap, CustomResourceDefinition } from 'riata/kinds';
import type { KubeObject } from 'riata/object';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

const start = () => TestEnvironment.start({ kinds: [Widget], server: 'in-process' });

test('without anything to do it resolves at once, and time stands still', async () => {
  await using env = await start();
  await env.settle();
  await env.run(widgets);
  await env.settle();
  expect(env.clock.monotonic()).toBe(0);
});

test('keys that are due within the horizon are waited for, later ones are not', async () => {
  await using env = await start();
  const runs: number[] = [];
  const polling = control(Widget, { predicates: [generationChanged] }).reconcile(() => {
    runs.push(env.clock.monotonic());
    return { requeueAfter: '10s' };
  });
  await env.run(polling);
  await env.client.create(widget('w'));
  await env.settle();
  expect(runs).toEqual([0]);
  await env.settle({ horizon: '25s' });
  expect(runs).toEqual([0, 10_000, 20_000]);
  expect(env.clock.monotonic()).toBe(20_000);
  await env.settle({ horizon: '5s' });
  expect(runs).toHaveLength(3);
});

test('retries are part of it', async () => {
  await using env = await start();
  let attempts = 0;
  const shaky = control(Widget, { predicates: [generationChanged] }).reconcile(({ attempt }) => {
    attempts = attempt;
    if (attempt < 4) throw new Error('not yet');
  });
  await env.run(shaky);
  await env.client.create(widget('w'));
  await env.settle();
  expect(attempts).toBe(4);
});

test('a reconcile that takes its time is waited for; one that never ends is named', async () => {
  await using env = await start();
  let isStuck = false;
  let finished = 0;
  const slow = control(Widget, { predicates: [generationChanged] }).reconcile(async ({ signal }) => {
    await env.clock.sleep(isStuck ? 3_600_000 : 60_000, { signal });
    finished += 1;
  });
  await env.run(slow);
  await env.client.create(widget('w'));
  await env.settle();
  expect([finished, env.clock.monotonic()]).toEqual([1, 60_000]);
  isStuck = true;
  await env.client.create(widget('stuck'));
  await expect(env.settle({ timeout: '5m' })).rejects.toThrow(
    /still not settled after 5m on the virtual clock: manager-1: controller "widget": reconciling default\/stuck for 300000 ms; what waits by timers .* is not seen here: wait by the context's clock, or start with time: 'real'/,
  );
});

test('informers catch up first, however late the events are', async () => {
  await using env = await start();
  await env.run(widgets);
  env.faults.delayEvents('20s', { kind: Widget });
  await env.client.create(widget('w', 5));
  await env.settle();
  expect(env.clock.monotonic()).toBeGreaterThanOrEqual(20_000);
  expect((await env.client.get(Widget, inDefault('w'))).status?.size).toBe(5);
});

test('a deletion is an event, too', async () => {
  await using env = await start();
  await env.run(widgets);
  await env.client.create(widget('w', 5));
  await env.settle();
  env.faults.delayEvents('20s', { kind: ConfigMap });
  const first = await env.client.get(ConfigMap, inDefault('w'));
  await env.client.delete(ConfigMap, inDefault('w'));
  await env.settle();
  expect((await env.client.get(ConfigMap, inDefault('w'))).metadata.uid).not.toBe(first.metadata.uid);
});

test('a kind that is not served is not awaited; when it is installed, it is handled', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  await env.run(widgets);
  await env.settle();
  await env.client.create(CustomResourceDefinition(Widget.crd() as never));
  await env.settle();
  await env.client.create(widget('late'));
  await env.settle();
  expect(await env.client.find(ConfigMap, inDefault('late'))).toBeDefined();
});

test('the timeout is for each time that something is due, however far the horizon', async () => {
  await using env = await start();
  let runs = 0;
  const polling = control(Widget, { predicates: [generationChanged] }).reconcile(async ({ clock, signal }) => {
    await clock.sleep(60_000, { signal });
    runs += 1;
    return { requeueAfter: '6h' };
  });
  await env.run(polling);
  await env.client.create(widget('w'));
  await env.settle({ horizon: '13h' });
  expect(runs).toBe(3);
});

test('without a horizon nothing may be pending, and endless work is named', async () => {
  await using env = await start();
  let left = 3;
  const polling = control(Widget, { predicates: [generationChanged] }).reconcile(() => {
    left -= 1;
    return left === 0 ? undefined : { requeueAfter: '1m' };
  });
  await env.run(polling);
  await env.client.create(widget('w'));
  await env.settle({ horizon: 'never' });
  expect([left, env.clock.monotonic()]).toEqual([0, 120_000]);
  await env.client.create(widget('another'));
  await expect(env.settle({ horizon: 'never' })).rejects.toThrow(
    'still not settled after 10m on the virtual clock: manager-1: controller "widget": 1 due in 60000 ms',
  );
});

test('a failed manager is reported', async () => {
  await using env = await start();
  const broken = {
    name: 'broken',
    run: async () => {
      throw new Error('no luck');
    },
  };
  await env.run(broken);
  await expect(env.settle()).rejects.toThrow('manager-1 has failed: broken: Error: no luck');
});

test('a controller that wakes itself up never comes to rest, and is named', async () => {
  await using env = await start();
  let count = 0;
  const restless = control(Widget).reconcile(async ({ object, client }) => {
    count += 1;
    await client.update(
      edit(object, (draft) => {
        draft.metadata.annotations = { count: String(count) };
      }),
    );
  });
  await env.run(restless);
  await env.client.create(widget('w'));
  await expect(env.settle({ maxRequests: 200 })).rejects.toThrow(
    /requests, and no end to them: update Widget default\/w \(\d+ times, by controller "widget" reconciling default\/w\).*write only what differs/s,
  );
  // It was not asked for more than a tenth to one object.
  expect(env.requests.select({ verb: 'update' }).length).toBeLessThan(30);
});

test('it is named after few requests by default, so that the message comes before the time limit of a test', async () => {
  await using env = await start();
  let count = 0;
  const restless = control(Widget).reconcile(async ({ object, client }) => {
    count += 1;
    const body = { metadata: { annotations: { count: String(count) } } };
    await client.patch(Widget, object.metadata, { type: 'merge', body });
  });
  await env.run(restless);
  await env.client.create(widget('a'));
  await env.client.create(widget('b'));
  await expect(env.settle()).rejects.toThrow('no end to them: patch Widget default/');
  expect(env.requests.select({ verb: 'patch' }).length).toBeLessThan(160);
});

test('an object that is changed for each of many others is no circle', async () => {
  await using env = await start();
  for (let i = 0; i < 300; i += 1) await env.client.create(widget(`w${i}`));
  const isOther = ({ new: now }: { readonly new?: KubeObject }) => now?.metadata.name !== 'w0';
  const counts = control(Widget, { predicates: [isOther] }).reconcile(async ({ key, client }) => {
    const body = { metadata: { annotations: { seen: key.name } } };
    await client.patch(Widget, { namespace: 'default', name: 'w0' }, { type: 'merge', body });
  });
  await env.run(counts);
  await env.settle();
  expect(env.requests.select({ verb: 'patch' }).length).toBe(299);
});

test('two controllers that undo each other are both named', async () => {
  await using env = await start();
  const claims = (name: string) =>
    control(Widget, { name }).reconcile(async ({ object, client }) => {
      const body = { metadata: { annotations: { owner: name } } };
      if (object.metadata.annotations?.owner !== name)
        await client.patch(Widget, object.metadata, { type: 'merge', body });
    });
  await env.run(claims('left'), claims('right'));
  await env.client.create(widget('w'));
  const failure = await env.settle({ maxRequests: 200 }).catch((error: Error) => error.message);
  expect(failure).toMatch(
    /by controller "(left|right)" reconciling default\/w and "(left|right)" reconciling default\/w/,
  );
});

test.each(['settle', 'eventually', 'advance'] as const)(
  'one that asks for itself at once is named: %s',
  async (call) => {
    await using env = await start();
    const spinning = control(Widget, { name: 'spinning' })
      .finalize(() => ({ requeueAfter: '0s' }))
      .reconcile(({ object }) => (object.spec.size === 1 ? undefined : { requeueAfter: '0s' }));
    await env.run(spinning);
    await env.client.create(widget('w', 2));
    const waits = {
      settle: () => env.settle(),
      eventually: () => env.eventually(() => false),
      advance: () => env.advance('1s'),
    };
    const message =
      /controller "spinning" reconciles default\/w over and over, 600 times while no time has passed, lastly for/;
    await expect(waits[call]()).rejects.toThrow(message);
    await env.reset();
    await env.run(spinning);
    await env.client.create(widget('w', 1));
    await env.settle();
    await env.client.delete(Widget, inDefault('w'));
    await expect(waits[call]()).rejects.toThrow(message);
  },
);

test('expectConverged names writes of a second pass, and who made them', async () => {
  await using env = await start();
  const restless = control(Widget, { name: 'stamper', predicates: [generationChanged] }).reconcile(
    async ({ object, client, key }) => {
      const body = { metadata: { annotations: { at: String(env.clock.monotonic()) } } };
      await client.patch(
        Widget,
        { namespace: key.namespace ?? '', name: object.metadata.name },
        { type: 'merge', body },
      );
    },
  );
  await env.run(restless);
  await env.client.create(widget('a'));
  await env.client.create(widget('b'));
  const failure = await env.expectConverged().catch((error: Error) => error.message);
  expect(failure).toContain('a second pass over 2 objects made 2 writes, and should make none:');
  expect(failure).toContain('  patch Widget default/a, by controller "stamper" reconciling default/a\n');
  await env.expectConverged({ ignore: ({ kind }) => kind === 'Widget' });
});

test('expectConverged refuses what fails, unless it fails for good', async () => {
  await using env = await start();
  const failing = control(Widget, { predicates: [generationChanged] }).reconcile(({ object }) => {
    if (object.metadata.name === 'for-good') throw new TerminalError('never');
    if (object.metadata.name === 'again') throw new Error('the moon is not full');
  });
  await env.run(failing);
  await env.client.create(widget('for-good'));
  await env.expectConverged();
  await env.client.create(widget('again'));
  await expect(env.expectConverged()).rejects.toThrow(/failed:\n {2}widget default\/again, attempt \d+: .*the moon/);
});
