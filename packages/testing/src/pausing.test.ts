import {
  type ControlOptions,
  control,
  generationChanged,
  matchesLabels,
  type Predicate,
  reconcileAnnotations,
} from 'riata/controller';
import { ConfigMap, Event } from 'riata/kinds';
import { findCondition } from 'riata/object';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget } from './widget.fixture.js';

const { pause, reconcileAt } = reconcileAnnotations;

async function start(options: Pick<ControlOptions, 'pausable'> & { predicates?: Predicate[] } = {}) {
  const env = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  const runs: string[] = [];
  const widgets = control(Widget, options)
    .finalize(({ object }) => void runs.push(`finalize ${object.metadata.name}`))
    .reconcile(async ({ object, status }) => {
      runs.push(`reconcile ${object.spec.size}`);
      await status({ size: object.spec.size });
    });
  const annotate = async (name: string, value: string | null, more: object = {}) => {
    const body = { metadata: { annotations: { [name]: value } }, ...more };
    await env.client.patch(Widget, inDefault('a'), { type: 'merge', body });
    await env.settle();
  };
  const state = async () => {
    const { status } = await env.client.get(Widget, inDefault('a'));
    const paused = findCondition(status?.conditions, 'Paused');
    return { size: status?.size, paused: paused?.status, ready: findCondition(status?.conditions, 'Ready')?.status };
  };
  const events = async () => {
    await env.advance('5s');
    const { items } = await env.client.list(Event, { namespace: 'default' });
    return items.map(({ reason }) => reason);
  };
  return { env, runs, widgets, annotate, state, events };
}

test('a paused object is not reconciled until it is resumed, and says so', async () => {
  const { env, runs, widgets, annotate, state, events } = await start();
  await using _ = env;
  await env.run(widgets);
  await env.client.create(widget('a', 1));
  await env.settle();
  expect(await state()).toEqual({ size: 1, paused: undefined, ready: 'True' });
  runs.length = 0;

  await annotate(pause, 'true', { spec: { size: 2 } });
  expect(runs).toEqual([]);
  expect(await state()).toEqual({ size: 1, paused: 'True', ready: 'True' });
  expect(await events()).toEqual(['Paused']);
  // Not even when it is asked for.
  await annotate(reconcileAt, '2026-01-01T00:00:00Z');
  expect(runs).toEqual([]);
  await env.expectConverged();

  await annotate(pause, null);
  expect(runs.filter((run) => run === 'reconcile 2').length).toBeGreaterThan(0);
  expect(await state()).toEqual({ size: 2, paused: undefined, ready: 'True' });
  expect(await events()).toEqual(['Paused', 'Resumed']);
  await env.expectConverged();
});

test('finalizers of a paused object still run, unless all is paused', async () => {
  const { env, runs, widgets, annotate } = await start();
  await using _ = env;
  await env.run(widgets);
  await env.client.create(widget('a', 1));
  await annotate(pause, 'all');
  runs.length = 0;
  await env.client.delete(Widget, inDefault('a'));
  await env.settle();
  expect(runs).toEqual([]);
  expect(await env.client.find(Widget, inDefault('a'))).toBeDefined();
  await annotate(pause, 'true');
  expect(runs).toEqual(['finalize a']);
  expect(await env.client.find(Widget, inDefault('a'))).toBeUndefined();
});

test('after a restart, a pause is kept, and is resumed without a trace', async () => {
  const { env, runs, widgets, annotate, state, events } = await start();
  await using _ = env;
  await env.client.create(widget('a', 1));
  const first = await env.run(widgets);
  await annotate(pause, 'true', { spec: { size: 2 } });
  await first.stop();
  runs.length = 0;
  const second = await env.run(widgets);
  await env.settle();
  expect(runs).toEqual([]);
  expect(await events()).toEqual(['Paused']);
  await second.stop();
  await annotate(pause, null);
  await env.run(widgets);
  await env.settle();
  expect(await state()).toEqual({ size: 2, paused: undefined, ready: 'True' });
  await env.expectConverged();
});

test('both annotations get through a filter of changes, and not through a filter of objects', async () => {
  const filter = [generationChanged, matchesLabels('class=mine')];
  const { env, runs, widgets, annotate } = await start({ predicates: filter });
  await using _ = env;
  await env.run(widgets);
  const labelled = widget('a', 1);
  await env.client.create({ ...labelled, metadata: { ...labelled.metadata, labels: { class: 'mine' } } } as never);
  await env.settle();
  runs.length = 0;
  await annotate('example.com/other', '1');
  expect(runs).toEqual([]);
  await annotate(reconcileAt, '1');
  expect(runs).toEqual(['reconcile 1']);
  await annotate(reconcileAt, '2');
  expect(runs).toEqual(['reconcile 1', 'reconcile 1']);

  await env.client.create(widget('b', 1));
  const body = { metadata: { annotations: { [reconcileAt]: '1' } } };
  await env.client.patch(Widget, inDefault('b'), { type: 'merge', body });
  await env.settle();
  expect(runs).toHaveLength(2);
});

test('a value that means nothing is reported once, and pauses nothing', async () => {
  const { env, runs, widgets, annotate } = await start();
  await using _ = env;
  await env.run(widgets);
  await env.client.create(widget('a', 1));
  await annotate(pause, 'yes');
  await annotate('example.com/other', '1');
  expect(runs.length).toBeGreaterThan(0);
  const warnings = env.log.messages('warn').filter((message) => message.startsWith('the value of an annotation'));
  expect(warnings).toHaveLength(1);
});

test('a controller that is not pausable does not look at it; a kind without conditions gets none', async () => {
  const { env, runs, widgets, annotate } = await start({ pausable: false });
  await using _ = env;
  await env.run(widgets);
  await env.client.create(widget('a', 1));
  await annotate(pause, 'all');
  expect(runs.length).toBeGreaterThan(0);

  const seen: string[] = [];
  await env.run(control(ConfigMap).reconcile(({ object }) => void seen.push(object.metadata.name)));
  const annotations = { [pause]: 'true' };
  await env.client.create(ConfigMap({ metadata: { ...inDefault('paused'), annotations } }));
  await env.settle();
  expect(seen).not.toContain('paused');
  await env.expectConverged();
});
