import { control } from 'riata/controller';
import { ConfigMap, CustomResourceDefinition } from 'riata/kinds';
import { describeError, type MemoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { Widget, widget } from './widget.fixture.js';

/** What was said about a controller, from `info` up. */
function reported(log: MemoryLogger, controller: string): string[] {
  return log.records
    .filter(({ level, fields }) => fields.controller === controller && !['trace', 'debug'].includes(level))
    .map(({ level, message }) => `${level} ${message}`);
}

/** As loggers print it. */
function describeField(value: unknown): string {
  return value instanceof Error ? describeError(value) : String(value);
}

const waiting = 'warn waiting for a kind that the server does not serve yet';
const served = 'info the server serves the kind now';
const runs = 'info controller started';
const install = (env: TestEnvironment) => env.client.create(CustomResourceDefinition(Widget.crd() as never));

test('a controller that watches a kind whose definition is missing says so once, and begins when it comes', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  const seen: string[] = [];
  const maps = control(ConfigMap, { name: 'maps' })
    .watches(Widget, (each) => [{ namespace: 'default', name: each.metadata.name }])
    .reconcile(({ key }) => void seen.push(key.name));
  const manager = await env.run(maps);
  await env.advance('10m');
  expect(reported(env.log, 'maps')).toEqual([waiting]);
  const [said] = env.log.records.filter(({ level, fields }) => level === 'warn' && fields.controller === 'maps');
  expect(said?.fields).toMatchObject({ controller: 'maps', source: 'watches Widget', kind: 'Widget' });
  // Which definition to install stands in the log once.
  const remedies = env.log.records
    .filter(({ level }) => !['trace', 'debug'].includes(level))
    .flatMap(({ message, fields }) => [message, ...Object.values(fields).map(describeField)])
    .flatMap((text) => text.match(/CustomResourceDefinition/g) ?? []);
  expect(remedies).toHaveLength(1);
  expect(env.log.messages('error')).toHaveLength(1);
  await install(env);
  await env.client.create(ConfigMap({ metadata: { namespace: 'default', name: 'a' } }));
  await env.settle();
  expect(seen).toContain('a');
  expect(reported(env.log, 'maps')).toEqual([waiting, served, runs]);
  expect(manager.exit).toBeUndefined();
});

test('a map function that reads a kind whose definition is missing is retried without a noise', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process' });
  for (const name of ['a', 'b']) await env.client.create(ConfigMap({ metadata: { namespace: 'default', name } }));
  let asked = 0;
  const seen: string[] = [];
  const each = control(Widget, { name: 'each' })
    .watches(ConfigMap, async (_map, reader) => {
      asked += 1;
      return (await reader.list(Widget)).items.map(({ metadata }) => metadata);
    })
    .reconcile(({ object }) => void seen.push(object.metadata.name));
  const manager = await env.run(each);
  // Longer than a controller waits for what should be there.
  await env.advance('10m');
  expect(manager.exit).toBeUndefined();
  const reading = 'warn function reads a kind that the server does not serve yet, will be retried';
  expect(reported(env.log, 'each').toSorted()).toEqual([reading, waiting]);
  // One of them every five seconds, the others every minute.
  const maps = (await env.client.list(ConfigMap)).items.length;
  expect(asked).toBeLessThan(600 / 4 + maps * (600 / 30));
  await install(env);
  await env.client.create(widget('w'));
  await env.settle();
  expect(seen).toContain('w');
  const works = 'info function no longer waits for a kind';
  expect(reported(env.log, 'each').toSorted()).toEqual([runs, served, works, reading, waiting].toSorted());
});
