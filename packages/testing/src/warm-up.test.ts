import { control, intervalSource } from 'riata/controller';
import { ConfigMap, Secret } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget } from './widget.fixture.js';

const leaderElection = { namespace: 'default', name: 'lease' };

test('a kind that is not served yet keeps no replica from leading, nor the other controllers from work', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const seen: string[] = [];
  const widgets = control(Widget, { warmUp: true }).reconcile(() => {});
  const secrets = control(Secret).reconcile(({ key }) => void seen.push(key.name));
  const run = await env.startManager({ leaderElection, run: [widgets, secrets] });
  await env.client.create(Secret({ metadata: inDefault('s') }));
  await env.eventually(() => seen.includes('s'));
  expect(run.controllers.map(({ name, phase }) => `${name} ${phase}`)).toEqual(['widget syncing', 'secret running']);
});

test('what a replica that never led has warmed up ends with it, and with the controller', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const asked: string[] = [];
  const maps = (name: string) =>
    control(ConfigMap, { name, warmUp: true })
      .source(() =>
        intervalSource('1m', () => {
          asked.push(name);
          return [];
        }),
      )
      .reconcile(() => {});
  await env.startManager({ leaderElection });
  const second = await env.startManager({ leaderElection, run: [maps('one')] });
  await env.settle();
  const two = second.add(maps('two'));
  await env.advance('5m');
  expect(new Set(asked)).toEqual(new Set(['one', 'two']));
  expect(second.exit).toBe(undefined);
  await two.remove();
  asked.length = 0;
  await env.advance('5m');
  expect(new Set(asked)).toEqual(new Set(['one']));
  expect(second.controllers.map(({ name, phase }) => `${name} ${phase}`)).toEqual(['one warm']);
  expect(await second.stop()).toEqual({ reason: 'stopped', unfinished: [] });
  asked.length = 0;
  await env.advance('5m');
  expect(asked).toEqual([]);
});
