import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { expect, test } from 'vitest';
import { corpus } from '../../corpus/index.js';
import { simulateCase } from '../../corpus/simulate-case.js';
import { exampleSimulations } from '../../simulations/examples.js';
import { inDefault, Widget, widget, widgets } from '../widget.fixture.js';
import { simulate } from './simulate.js';
import type { StoryContext } from './simulate-options.js';
import type { SimulationError } from './simulation-error.js';

const story = async ({ client }: StoryContext) => {
  await client.create(widget('w'));
  await client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 2 } } });
};

const failure = async (simulating: Promise<unknown>): Promise<SimulationError> => {
  const error: unknown = await simulating.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  expect(error).toMatchObject({ name: 'SimulationError' });
  return error as SimulationError;
};

/** Creates a ConfigMap with a generated name and remembers it in the status: a crash in between forgets it. */
const twice = control(Widget, { name: 'twice' }).reconcile(async ({ object, client, status }) => {
  if (object.status?.size === undefined) {
    const page = ConfigMap({ metadata: { namespace: 'default', generateName: `${object.metadata.name}-` } });
    await client.create(setControllerReference(object, page));
  }
  await status({ size: object.spec.size });
});

test('a controller that compares desired and actual state survives every single fault', async () => {
  const report = await simulate({ kinds: [Widget], run: [widgets], story, pairs: 2, random: 2 });
  expect(report.runs).toBeGreaterThan(30);
  expect([...report.faults.keys()]).toEqual(
    expect.arrayContaining(['crash-before', 'crash-after', 'lost-answer', 'error', 'late', 'missed', 'stale', 'down']),
  );
  expect([...report.writes.keys()]).toEqual(['patch ConfigMap default/w', 'patch Widget default/w/status']);
  expect([...(report.writes.get('patch ConfigMap default/w') ?? [])]).toContain('crash-after');
  expect([...(report.events.get('ADDED Widget default/w') ?? [])]).toContain('stale');
  expect([...(report.conditions.get('Widget Ready') ?? [])].sort()).toEqual(['False', 'True']);
  expect([...(report.reasons.get('Widget Ready=True') ?? [])]).toEqual(['Reconciled']);
  expect(String(report)).toMatch(/\n {2}Widget Ready: True \(Reconciled\), False \(\w+\)/);
  expect(String(report)).toContain('faults that did not happen: conflict, leader-change, shard-move');
  const page = report.html('Widgets & co');
  expect(page).toContain('<h1>Widgets &amp; co</h1>');
  expect(page).toContain('<th scope="row">patch ConfigMap default/w</th><td class="hit">✓</td>');
  expect(page).toContain('<th scope="row">shard-move</th><td>write</td><td class="miss">did not happen</td>');
  expect(page).toContain('<th scope="row">Widget Ready</th><td>True</td><td>Reconciled</td>');
});

test('a crash between two writes that matters is found, shrunk, told and replayed', async () => {
  const options = { kinds: [Widget], run: [twice], story };
  const found = await failure(simulate(options));
  expect(found.rule).toBe('same end state');
  expect(found.replay).toBe('seed=1 steps=1 crash-before@2');
  expect(found.message).toContain('ConfigMap default/w-<2> should not exist after step 1');
  expect(found.message).toContain('faults: the process dies before write 2');
  const told = found.message.split('\n').map((line) => line.trim().replace(/ {2,}/g, ' '));
  expect(told).toEqual(
    expect.arrayContaining([
      'story create Widget default/w → 201: spec.size = 1',
      'manager-1 twice create ConfigMap default/w-* → 201 (write 1): owner Widget w added',
      'manager-1 sees ADDED Widget default/w',
      'manager-1 ✗ dies before this write is sent',
      'manager-2 lists 1 Widget',
      '+ "name": "w-<2>",',
      "replay: 'seed=1 crash-before@2',",
    ]),
  );
  const again = await failure(simulate({ ...options, replay: found.replay }));
  expect(again.message).toBe(found.message.replace(/run \d+/, 'run 2'));
  // The test to paste, as TypeScript without types is JavaScript.
  const pasted = new Function(
    'test',
    'simulate',
    'options',
    'Widget',
    `${found.message.slice(found.message.indexOf('\ntest('))}`,
  );
  let run = (): Promise<unknown> => expect.fail();
  const test = (_: string, body: typeof run) => {
    run = body;
  };
  pasted(test, simulate, options, Widget);
  const copied = await failure(run());
  expect([copied.rule, copied.replay]).toEqual([found.rule, 'seed=1 crash-before@2']);
  expect(copied.message.split('\n')[0]).toBe(found.message.split('\n')[0]);
});

test('the same seed makes the same runs', async () => {
  const run = (seed: number) => simulate({ kinds: [Widget], run: [widgets], story, seed, runs: 2 });
  const [one, same] = [await run(7), await run(7)];
  expect(same.hash).toBe(one.hash);
  expect(one.hash).toMatch(/^[0-9a-f]{64}$/);
});

test('checks of the test: always, eventually, in the end', async () => {
  const options = { kinds: [Widget], run: [widgets], story, runs: 1 };
  const small = await failure(
    simulate({
      ...options,
      always: [({ view }) => view.list(Widget).every(({ spec }) => spec.size < 2) || 'a widget is too large'],
    }),
  );
  expect([small.rule, small.message.split('\n')[0]]).toEqual(['always', 'simulate: a widget is too large']);
  const missing = await failure(
    simulate({ ...options, eventually: [({ view }) => view.get(Widget, inDefault('w'))?.status?.size === 3] }),
  );
  expect(missing.rule).toBe('eventually');
  const kept = await failure(
    simulate({ ...options, atTheEnd: [({ view }) => view.get(Widget, inDefault('w')) !== undefined] }),
  );
  expect(kept.rule).toBe('atTheEnd');
});

test('a world besides the cluster survives crashes and is compared', async () => {
  const orders = (world: string[]) =>
    control(Widget, { name: 'orders' }).reconcile(async ({ object, status }) => {
      if (object.status?.size === undefined) world.push(object.metadata.name);
      await status({ size: object.spec.size });
    });
  const found = await failure(
    simulate<string[]>({
      ...{ kinds: [Widget], world: () => [], run: ({ world }) => [orders(world)] },
      story: ({ client }) => client.create(widget('w')),
    }),
  );
  expect(found.message).toContain('the world differs after step 1');
});

test('a controller whose runs depend on more than the cluster is refused', async () => {
  let runs = 0;
  const moody = control(Widget, { name: 'moody' }).reconcile(async ({ object, status }) => {
    runs += 1;
    if (object.status?.size === undefined) await status({ size: runs });
    else if (runs % 2 === 0) await status({ size: 0 });
  });
  const found = await failure(simulate({ kinds: [Widget], run: [moody], story, runs: 0, except: ['steady state'] }));
  expect(found.rule).toBe('determinism');
});

test('a malformed replay is refused', async () => {
  await expect(simulate({ story, replay: 'crash@x' })).rejects.toThrow(
    'simulate: replay must be words like seed=1, steps=2 and crash-after@3, got "crash@x"; copy it from the failure',
  );
});

test('a step that is refused is followed by all that it leads to, as any other', async () => {
  // The Secret is not there yet when it is deleted; the process that was down meanwhile creates it all the same.
  const owner = corpus.find(({ name }) => name === 'owner without controller flag') ?? expect.fail();
  const report = await simulateCase(owner, 'fixed', { replay: 'seed=1 down@2 late@1' });
  expect(report.runs).toBe(3);
});

test('a write that needs the webhook of a process that is down is repeated when one is up', async () => {
  const { options } = exampleSimulations.find(({ name }) => name.startsWith('guarded-sites')) ?? expect.fail();
  const report = await simulate({ ...options, changes: [], replay: 'seed=1 down@1' });
  expect(report.faults.get('down')).toBeDefined();
});

test('a conflict only hits a write that the server could refuse as one', async () => {
  const report = await simulate({ kinds: [Widget], run: [widgets], story, replay: 'seed=1 conflict@1' });
  expect([...report.faults.keys()]).toEqual([]);
});

test('a status that the story writes is followed by all that it leads to', async () => {
  const mirrored = control(Widget, { name: 'mirrored' })
    .owns(ConfigMap)
    .reconcile(async ({ object, apply }) => {
      const { name } = object.metadata;
      await apply(ConfigMap({ metadata: { name }, data: { size: String(object.status?.size) } }));
    });
  const seen: unknown[] = [];
  await simulate({
    ...{ kinds: [Widget], run: [mirrored], runs: 0 },
    story: async ({ client }) => {
      await client.create(widget('w'));
      await client.status.patch(Widget, inDefault('w'), { type: 'merge', body: { status: { size: 3 } } });
      seen.push((await client.get(ConfigMap, inDefault('w'))).data);
    },
  });
  expect(seen).toEqual([{ size: '3' }, { size: '3' }]);
});

test('reconciles that run at once are not taken for each other', async () => {
  const concurrent = control(Widget, { name: 'concurrent', concurrency: 2 })
    .owns(ConfigMap)
    .reconcile(async ({ object, client, apply }) => {
      await client.find(Widget, inDefault('none'));
      await apply(ConfigMap({ metadata: { name: object.metadata.name }, data: { size: String(object.spec.size) } }));
    });
  const patched = { type: 'merge', body: { spec: { size: 2 } } } as const;
  const report = await simulate({
    ...{ kinds: [Widget], run: [concurrent] },
    // Both are seen when the process is up again.
    story: async ({ client }) => {
      await client.create(widget('a'));
      await client.create(widget('b'));
      await Promise.all(['a', 'b'].map((name) => client.patch(Widget, inDefault(name), patched)));
    },
    replay: 'seed=1 down@3',
  });
  expect(report.runs).toBe(3);
});
