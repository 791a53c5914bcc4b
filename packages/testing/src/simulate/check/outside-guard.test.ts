import { generateKeyPairSync, randomBytes, randomFillSync, randomUUID } from 'node:crypto';
import { get } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as timeout } from 'node:timers';
import { scheduler, setTimeout as wait } from 'node:timers/promises';
import { promisify } from 'node:util';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { expect, test } from 'vitest';
import { Widget, widget } from '../../widget.fixture.js';
import { simulate } from '../simulate.js';
import type { SimulationError } from '../simulation-error.js';
import { describeOutside, type OutsideUse, watchOutside } from './outside-guard.js';

/** A port where nothing listens. */
const nowhere = { host: '127.0.0.1', port: 1 };

/** Each use, with what is said about it. */
const uses: Readonly<Record<string, [() => unknown, string]>> = {
  'Date.now': [() => Date.now(), 'the wall clock: Date.now() at '],
  'new Date': [() => new Date().toISOString(), 'the wall clock: new Date() at '],
  Date: [() => Date(), 'the wall clock: Date() at '],
  'performance.now': [() => performance.now(), 'the wall clock: performance.now() at '],
  'process.hrtime': [() => process.hrtime(), 'the wall clock: process.hrtime() at '],
  'process.hrtime.bigint': [() => process.hrtime.bigint(), 'the wall clock: process.hrtime.bigint() at '],
  setTimeout: [() => clearTimeout(setTimeout(() => {}, 1)), 'real timers: setTimeout at '],
  setInterval: [() => clearInterval(setInterval(() => {}, 1)), 'real timers: setInterval at '],
  setImmediate: [() => clearImmediate(setImmediate(() => {})), 'real timers: setImmediate at '],
  'setTimeout of node:timers': [() => clearTimeout(timeout(() => {}, 1)), 'real timers: setTimeout at '],
  'setTimeout of node:timers/promises': [() => wait(1), 'real timers: setTimeout of node:timers/promises at '],
  'scheduler.wait': [() => scheduler.wait(1), 'real timers: scheduler.wait of node:timers/promises at '],
  'Math.random': [() => Math.random(), 'randomness: Math.random() at '],
  'crypto.randomUUID': [() => crypto.randomUUID(), 'randomness: crypto.randomUUID() at '],
  'crypto.getRandomValues': [
    () => crypto.getRandomValues(new Uint8Array(1)),
    'randomness: crypto.getRandomValues() at ',
  ],
  'randomUUID of node:crypto': [() => randomUUID(), 'randomness: crypto.randomUUID() at '],
  'randomBytes of node:crypto': [() => randomBytes(1), 'randomness: crypto.randomBytes() at '],
  'randomFillSync of node:crypto': [() => randomFillSync(new Uint8Array(1)), 'randomness: crypto.randomFillSync() at '],
  'generateKeyPairSync of node:crypto': [
    () => generateKeyPairSync('ed25519'),
    'randomness: crypto.generateKeyPairSync() at ',
  ],
  fetch: [() => void fetch('data:,x').catch(() => {}), 'the network: fetch at '],
  'node:http': [() => get(nowhere).on('error', () => {}), 'the network: a connection at '],
  'node:net': [() => connect(nowhere).on('error', () => {}), 'the network: a connection at '],
};

const outsider = (use: () => unknown) =>
  control(Widget, { name: 'outsider' }).reconcile(async ({ object, status }) => {
    await status({ size: object.spec.size });
    void use();
  });

const options = (use: () => unknown) => ({
  ...{ kinds: [Widget], run: [outsider(use)], runs: 0 },
  story: ({ client }: Parameters<Parameters<typeof simulate>[0]['story']>[0]) => client.create(widget('w')),
});

test.each(Object.keys(uses))('a use of %s is noticed, with the line', async (name) => {
  const [use, message] = uses[name]!;
  const seen: OutsideUse[] = [];
  {
    using _ = watchOutside(
      () => true,
      (each) => seen.push(each),
    );
    await use();
  }
  expect(describeOutside(seen[0]!, ['outsider'])).toContain(`controller "outsider" uses ${message}`);
  expect(seen[0]!.at).toMatch(/outside-guard\.test\.ts:\d+:\d+$/);
});

test('a use of Temporal.Now is noticed, where Node has it', () => {
  const { Temporal } = globalThis as { Temporal?: { Now: { instant(): unknown } } };
  const seen: OutsideUse[] = [];
  {
    using _ = watchOutside(
      () => true,
      (each) => seen.push(each),
    );
    Temporal?.Now.instant();
  }
  expect(seen.map(({ call }) => call)).toEqual(Temporal === undefined ? [] : ['Temporal.Now.instant()']);
});

test.each(['Date.now', 'setTimeout of node:timers/promises', 'crypto.randomUUID', 'node:http'])(
  'a controller that uses %s is named',
  async (name) => {
    const [use, message] = uses[name]!;
    const error = (await simulate(options(use)).catch((thrown: unknown) => thrown)) as SimulationError;
    expect(error.rule).toBe('determinism');
    expect(error.message).toContain(`simulate: controller "outsider" uses ${message}`);
    expect(error.message).toMatch(/outside-guard\.test\.ts:\d+:\d+; /);
  },
);

test('what is allowed passes, and afterwards everything is as before', async () => {
  const all = () => [
    ...[Date, Date.now, performance.now, process.hrtime, setTimeout, setInterval, setImmediate, timeout, wait],
    ...[Math.random, crypto.randomUUID, crypto.getRandomValues, randomUUID, randomBytes, fetch],
  ];
  const before = all();
  await simulate({ ...options(() => Date.now()), allow: ['wall clock'] });
  for (const [at, one] of all().entries()) expect(one).toBe(before[at]);
});

test('to look for uses changes nothing: generated names are the same as without a look', async () => {
  const pages = control(Widget, { name: 'pages' }).reconcile(async ({ object, client, status }) => {
    const now = [Date.now(), performance.now()];
    if (object.status?.size === undefined) {
      const page = ConfigMap({ metadata: { namespace: 'default', generateName: `page-${now.length}-` } });
      const { metadata } = await client.create(setControllerReference(object, page));
      await client.patch(ConfigMap, metadata, { type: 'merge', body: { data: { seen: 'yes' } } });
    }
    await status({ size: object.spec.size });
  });
  const report = await simulate({ ...options(() => {}), run: [pages], allow: ['wall clock'] });
  expect(report.runs).toBe(2);
});

test('what Node keeps on its functions stays there meanwhile', async () => {
  const waited: unknown[] = [];
  const use = () => waited.push(promisify(setTimeout)(1, 'later'));
  await simulate({ ...options(use), allow: ['timers'] });
  expect(await Promise.all(waited)).toContain('later');
});
