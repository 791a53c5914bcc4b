import { control } from 'riata/controller';
import { expect, test } from 'vitest';
import { Widget, widget } from '../../widget.fixture.js';
import { simulate } from '../simulate.js';
import type { SimulationError } from '../simulation-error.js';

const uses: Readonly<Record<string, [() => unknown, string]>> = {
  'Date.now': [() => Date.now(), 'controller "outsider" uses the wall clock: Date.now() at '],
  'new Date': [() => new Date().toISOString(), 'controller "outsider" uses the wall clock: new Date() at '],
  'a timer': [() => clearTimeout(setTimeout(() => {}, 1)), 'controller "outsider" uses real timers: setTimeout at '],
  'Math.random': [() => Math.random(), 'controller "outsider" uses randomness: Math.random() at '],
  fetch: [() => void fetch('data:,x').catch(() => {}), 'controller "outsider" uses the network: fetch at '],
};

const outsider = (use: () => unknown) =>
  control(Widget, { name: 'outsider' }).reconcile(async ({ object, status }) => {
    await status({ size: object.spec.size });
    use();
  });

const options = (use: () => unknown) => ({
  ...{ kinds: [Widget], run: [outsider(use)], runs: 0 },
  story: ({ client }: Parameters<Parameters<typeof simulate>[0]['story']>[0]) => client.create(widget('w')),
});

test.each(Object.keys(uses))('a controller that uses %s is named, with the line', async (name) => {
  const [use, message] = uses[name]!;
  const error = (await simulate(options(use)).catch((thrown: unknown) => thrown)) as SimulationError;
  expect(error.rule).toBe('determinism');
  expect(error.message).toContain(`simulate: ${message}`);
  expect(error.message).toMatch(/outside-guard\.test\.ts:\d+:\d+; /);
});

test('what is allowed passes, and afterwards everything is as before', async () => {
  const before = [Date, Date.now, setTimeout, Math.random, fetch];
  await simulate({ ...options(() => Date.now()), allow: ['wall clock'] });
  expect([Date, Date.now, setTimeout, Math.random, fetch]).toEqual(before);
});
