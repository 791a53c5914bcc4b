import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

const start = () => TestEnvironment.start({ kinds: [Widget], server: 'in-process' });

test('no reconcile before each watch has delivered its first list, however long that takes', async () => {
  await using env = await start();
  await env.client.create(widget('w'));
  for (const name of ['a', 'b', 'c']) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  const reported = new Set<string>();
  const reportedBefore: string[][] = [];
  const widgets = control(Widget)
    .watches(ConfigMap, async ({ metadata: { namespace, name } }) => {
      await env.clock.sleep(5_000);
      if (namespace === 'default') reported.add(name);
      return [];
    })
    .reconcile(() => void reportedBefore.push([...reported]));
  await env.run(widgets);
  await env.settle();
  expect(reportedBefore).toHaveLength(1);
  expect(reportedBefore[0]).toEqual(expect.arrayContaining(['a', 'b', 'c']));
});

test('a reconciler is not called for what is gone, unless it asks for that', async () => {
  await using env = await start();
  const seen: string[] = [];
  const note = (who: string) => (context: { readonly key: { readonly name: string }; readonly object?: unknown }) =>
    void seen.push(`${who} ${context.key.name}${context.object === undefined ? ' gone' : ''}`);
  const manager = await env.run(
    control(Widget, { name: 'plain' }).reconcile(note('plain')),
    control(Widget, { name: 'asking' }).evenWhenGone().reconcile(note('asking')),
  );
  await env.client.create(widget('w'));
  await env.settle();
  await env.client.delete(Widget, inDefault('w'));
  await env.settle();
  expect(seen.sort()).toEqual(['asking w', 'asking w gone', 'plain w']);
  expect(manager.explain.filter(({ error }) => error !== undefined)).toEqual([]);
});

test('a clean-up that requeues keeps the object until it is done', async () => {
  await using env = await start();
  let tries = 0;
  const widgets = control(Widget)
    .finalize(() => {
      tries += 1;
      return tries < 3 ? { requeueAfter: '10s' } : undefined;
    })
    .reconcile(() => {});
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.settle();
  await env.client.delete(Widget, inDefault('w'));
  const seen: [number, boolean][] = [];
  for (let round = 1; round <= 3; round += 1) {
    await env.settle();
    seen.push([tries, (await env.client.find(Widget, inDefault('w'))) !== undefined]);
    await env.advance('10s');
  }
  expect(seen).toEqual([
    [1, true],
    [2, true],
    [3, false],
  ]);
});

test('a reconcile that fails while its write is in flight keeps its key until that has ended', async () => {
  await using env = await start();
  const delayMs = 30_000;
  env.faults.add({ verb: 'patch', kind: ConfigMap }, { delayMs }, { times: 1 });
  const starts: number[] = [];
  const widgets = control(Widget).reconcile(({ object, apply, attempt, clock }) => {
    starts.push(clock.monotonic());
    if (attempt > 1) return;
    // Not waited for.
    apply(ConfigMap({ metadata: { name: object.metadata.name } })).catch(() => {});
    throw new Error('no luck');
  });
  await env.run(widgets);
  await env.client.create(widget('w'));
  await env.settle();
  const [first = 0, second = 0] = starts;
  expect(second - first).toBeGreaterThanOrEqual(delayMs);
});
