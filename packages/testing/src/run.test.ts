import process from 'node:process';
import { run } from 'riata';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault } from './widget.fixture.js';

async function start() {
  const env = await TestEnvironment.start({ server: 'in-process' });
  const { config } = env.connect({ name: 'program' });
  return { env, options: { config, loopMonitor: false, runtime: { clock: env.clock, log: env.log } } };
}

test('run ends with a signal, in order, and tells so', async () => {
  const { env, options } = await start();
  await using _ = env;
  const before = process.exitCode;
  const steps: string[] = [];
  const maps = control(ConfigMap, { predicates: [({ key }) => key === 'default/a'] }).reconcile(async ({ clock }) => {
    steps.push('begun');
    // It is told in the middle of the work, which is not cut in half.
    process.emit('SIGTERM', 'SIGTERM');
    await clock.sleep(1_000);
    steps.push('done');
  });
  const ended = run(maps, options);
  await env.client.create(ConfigMap({ metadata: inDefault('a') }));
  expect(await env.eventually(() => ended)).toEqual({ reason: 'stopped', unfinished: [] });
  expect(steps).toEqual(['begun', 'done']);
  expect(process.exitCode).toBe(before);
});

test('run that ends for another reason sets the exit code', async () => {
  const { env, options } = await start();
  await using _ = env;
  const before = process.exitCode;
  env.faults.add({ client: 'program', kind: ConfigMap }, { fail: { code: 403, reason: 'Forbidden' } });
  const exit = await env.eventually(() =>
    run(
      control(ConfigMap).reconcile(() => {}),
      options,
    ),
  );
  const code = process.exitCode;
  process.exitCode = before;
  expect(exit).toMatchObject({ reason: 'failed', runnable: 'controller configmap' });
  expect(code).toBe(1);
});
