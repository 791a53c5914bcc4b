import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { admit } from 'riata/webhook';
import { describe, expect, test } from 'vitest';
import { TestEnvironment } from '../test-environment.js';
import { inDefault, Widget, widget } from '../widget.fixture.js';

const rules = admit(Widget)
  .mutates((draft) => {
    draft.metadata.labels = { ...draft.metadata.labels, seen: 'yes' };
  })
  .validates(({ object, old, deny, path }) => {
    if (object.spec.size > 10) deny(path.spec.size, 'must be at most 10');
    if (old !== undefined && old.spec.size > object.spec.size) deny(path.spec.size, 'cannot shrink');
  });

const start = () => TestEnvironment.start({ kinds: [Widget], server: 'in-process' });

test('webhooks guard what the test and its managers write, as soon as the manager has started', async () => {
  await using env = await start();
  const widgets = control(Widget).reconcile(({ status, object }) => void status({ size: object.spec.size }));
  const manager = await env.startManager({ run: [widgets, rules] });
  const made = await env.client.create(widget('a', 2));
  expect(made.metadata.labels).toEqual({ seen: 'yes' });
  await expect(env.client.create(widget('b', 11))).rejects.toThrow('must be at most 10');
  const smaller = { type: 'merge', body: { spec: { size: 1 } } } as const;
  await expect(env.client.patch(Widget, inDefault('a'), smaller)).rejects.toThrow('cannot shrink');
  await env.settle();
  await env.expectConverged();
  const guarded = manager.manager.webhookCalls.map(({ operation, outcome }) => `${operation} ${outcome}`);
  expect(guarded).toContain('create denied');
  expect(guarded).toContain('update denied');
});

test('replicas answer in turn, and the last one that stops takes the configurations along', async () => {
  await using env = await start();
  const seen: string[] = [];
  const replica = (name: string) =>
    env.startManager({ name, run: [admit(ConfigMap).validates(() => void seen.push(name))] });
  const [first, second] = [await replica('first'), await replica('second')];
  seen.length = 0;
  for (const name of ['a', 'b', 'c', 'd']) await env.client.create(ConfigMap({ metadata: inDefault(name) }));
  expect(seen.filter((name) => name === 'first')).toHaveLength(2);
  expect(seen.filter((name) => name === 'second')).toHaveLength(2);
  await first.stop();
  seen.length = 0;
  await env.client.create(ConfigMap({ metadata: inDefault('e') }));
  expect(seen).toEqual(['second']);
  await second.stop();
  await env.client.create(ConfigMap({ metadata: inDefault('f') }));
  expect(seen).toEqual(['second']);
});

test('configurations of manifests lead to the manager, by the paths that they name', async () => {
  await using env = await TestEnvironment.start({ kinds: [Widget] });
  const manager = await env.startManager({ run: [rules], webhooks: { install: false } });
  await env.client.create(widget('unguarded', 11));
  const configuration = {
    apiVersion: 'admissionregistration.k8s.io/v1',
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'widgets' },
    webhooks: [
      {
        name: 'widgets.example.com',
        clientConfig: {
          service: { namespace: 'system', name: 'hooks', path: '/validate-testing-riata-dev-v1-widget' },
        },
        rules: [
          { apiGroups: ['testing.riata.dev'], apiVersions: ['v1'], resources: ['widgets'], operations: ['CREATE'] },
        ],
        sideEffects: 'None',
        admissionReviewVersions: ['v1'],
      },
    ],
  };
  await manager.installWebhooks([configuration]);
  await env.eventually(() => expect(env.client.create(widget('b', 11))).rejects.toThrow('must be at most 10'));
  await expect(manager.installWebhooks([ConfigMap({ metadata: inDefault('a') })])).rejects.toThrow(
    'installWebhooks: expects a MutatingWebhookConfiguration or ValidatingWebhookConfiguration, got kind "ConfigMap"',
  );
});

describe('faults', () => {
  const guarded = (options: { readonly failurePolicy: 'fail' | 'ignore' }) =>
    admit(ConfigMap, { name: 'maps' }).validates({ ...options, timeout: '3s' }, () => {});
  const create = (env: TestEnvironment, name: string) => env.client.create(ConfigMap({ metadata: inDefault(name) }));

  test('a webhook that hangs, is cut off or answers nonsense fails the write, or is ignored, as its policy says', async () => {
    await using env = await start();
    const failing = await env.startManager({ run: [guarded({ failurePolicy: 'fail' })] });
    const hang = env.faults.addWebhook({ webhook: 'maps' }, { hang: true }, { times: 1 });
    const before = env.clock.now();
    await expect(env.eventually(() => create(env, 'a'), { within: '1s' })).rejects.toThrow('context deadline exceeded');
    expect(env.clock.now() - before).toBeGreaterThanOrEqual(3_000);
    expect(hang.hits).toBe(1);
    using cut = env.faults.addWebhook({}, { cut: true });
    await expect(create(env, 'b')).rejects.toThrow('EOF');
    cut.remove();
    using nonsense = env.faults.addWebhook({ path: '/elsewhere' }, { answer: { body: 'hello' } });
    await create(env, 'c');
    expect(nonsense.hits).toBe(0);
    env.faults.addWebhook({ manager: failing.name }, { answer: { body: 'hello' } }, { times: 1 });
    await expect(create(env, 'd')).rejects.toThrow('failed calling webhook');
    env.faults.addWebhook({}, { answer: { status: 503 } }, { times: 1 });
    await expect(create(env, 'e')).rejects.toThrow('failed calling webhook');
    await create(env, 'f');
    await failing.stop();

    await env.startManager({ run: [guarded({ failurePolicy: 'ignore' })] });
    env.faults.addWebhook({}, { cut: true });
    await create(env, 'g');
  });

  test('a slow one takes its time, on the clock of the test', async () => {
    await using env = await start();
    await env.startManager({ run: [guarded({ failurePolicy: 'fail' })] });
    env.faults.addWebhook({}, { delay: '2s' });
    const before = env.clock.now();
    await env.eventually(() => create(env, 'a'));
    expect(env.clock.now() - before).toBeGreaterThanOrEqual(2_000);
    await env.reset();
  });

  test('a fault that says nothing, or two things, is refused', async () => {
    await using env = await start();
    expect(() => env.faults.addWebhook({}, {})).toThrow('give exactly one of delay, hang, cut and answer');
    expect(() => env.faults.addWebhook({}, { hang: true, cut: true })).toThrow('got hang, cut');
    expect(() => env.faults.addWebhook({ name: 'x' } as never, { hang: true })).toThrow('unknown option "name"');
  });
});
