import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { AuditStream, admissionWebhook } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap, MutatingWebhookConfiguration, Pod } from 'riata/kinds';
import { expect, test } from 'vitest';
import { TestEnvironment } from './test-environment.js';
import { inDefault, Widget, widget, widgets } from './widget.fixture.js';

const url = 'https://hooks.default.svc/label';
const labels = admissionWebhook(() => ({
  allowed: true,
  patch: [{ op: 'add', path: '/metadata/labels', value: { by: 'hook' } }],
}));
const configuration = MutatingWebhookConfiguration({
  metadata: { name: 'labels' },
  webhooks: [
    {
      name: 'labels.example.com',
      clientConfig: { service: { namespace: 'default', name: 'hooks', path: '/label' } },
      rules: [{ operations: ['CREATE'], apiGroups: [''], apiVersions: ['v1'], resources: ['configmaps'] }],
      admissionReviewVersions: ['v1'],
      sideEffects: 'None',
    },
  ],
});
const settings = (name: string) => ConfigMap({ metadata: inDefault(name) });

test.each(['in-process', 'https'])('environments start from a snapshot: %s', async (server) => {
  await using first = await TestEnvironment.start({ kinds: [Widget], server: 'in-process' });
  await first.run(widgets);
  await first.client.create(widget('w', 3));
  await first.settle();
  const from = await first.snapshot();
  const start = () => TestEnvironment.start({ kinds: [Widget], server, embedded: { from } });
  await using second = await start();
  expect(await second.client.get(ConfigMap, inDefault('w'))).toEqual(await first.client.get(ConfigMap, inDefault('w')));
  await second.client.create(settings('own'));
  await second.client.delete(ConfigMap, inDefault('w'));
  // A reset keeps what came with the snapshot, and changes to it.
  await second.reset();
  expect(await second.client.find(ConfigMap, inDefault('own'))).toBeUndefined();
  expect(await second.client.find(ConfigMap, inDefault('w'))).toBeUndefined();
  await using third = await start();
  expect(await third.client.find(ConfigMap, inDefault('w'))).toBeDefined();
  await third.run(widgets);
  await third.settle();
  await third.expectConverged();
});

test('objects in a data directory are there for the next environment', async () => {
  const dataDir = await mkdtemp(join(tmpdir(), 'riata-testing-'));
  try {
    const start = () => TestEnvironment.start({ server: 'in-process', time: 'real', embedded: { dataDir } });
    {
      await using env = await start();
      await env.client.create(settings('kept'));
    }
    await using env = await start();
    expect(await env.client.find(ConfigMap, inDefault('kept'))).toBeDefined();
    await env.client.create(settings('own'));
    await env.reset();
    expect(await env.client.find(ConfigMap, inDefault('own'))).toBeUndefined();
    expect(await env.client.find(ConfigMap, inDefault('kept'))).toBeDefined();
  } finally {
    await rm(dataDir, { recursive: true });
  }
});

test.each(['in-process', 'https'])('handlers answer for webhooks until a reset: %s', async (server) => {
  await using env = await TestEnvironment.start({ server });
  env.handle(url, labels);
  await env.client.create(configuration);
  expect((await env.client.create(settings('a'))).metadata.labels).toEqual({ by: 'hook' });
  await env.reset();
  await env.client.create(configuration);
  await expect(env.client.create(settings('a'))).rejects.toThrow('failed calling webhook');
  using handling = env.handle(url, labels);
  await env.client.create(settings('a'));
  handling[Symbol.dispose]();
  await expect(env.client.create(settings('b'))).rejects.toThrow('failed calling webhook');
});

test('handlers of the options stay after a reset', async () => {
  await using env = await TestEnvironment.start({ server: 'in-process', embedded: { handlers: { [url]: labels } } });
  for (const name of ['a', 'b']) {
    await env.client.create(configuration);
    expect((await env.client.create(settings(name))).metadata.labels).toEqual({ by: 'hook' });
    await env.reset();
  }
});

test('admission plugins and the audit log can be chosen', async () => {
  const sink = new AuditStream();
  const audit = { policy: { omitStages: ['RequestReceived'] as const, rules: [{ level: 'Metadata' as const }] }, sink };
  const embedded = { admission: { disable: ['ServiceAccount'] }, audit };
  await using env = await TestEnvironment.start({ server: 'in-process', embedded });
  const pod = await env.client.create(
    Pod({ metadata: inDefault('p'), spec: { containers: [{ name: 'c', image: 'i' }] } }),
  );
  expect(pod.spec.volumes).toBeUndefined();
  for await (const { verb, objectRef } of sink) {
    if (verb !== 'create') continue;
    expect(objectRef?.name).toBe('p');
    break;
  }
});

test('what only an embedded server can do is refused on others', async () => {
  await using env = await TestEnvironment.start({ server: 'https' });
  await using client = createClient(env.config);
  expect(await client.find(ConfigMap, inDefault('none'))).toBeUndefined();
  const own = { config: env.config, isThrownAway: true };
  const embedded = { from: await env.snapshot(), handlers: { [url]: labels } };
  await expect(TestEnvironment.start({ server: own, embedded })).rejects.toThrow(
    "embedded.from and embedded.handlers: the server must be an embedded one ('in-process' or 'https')",
  );
  await expect(TestEnvironment.start({ server: 'in-process', embedded: { dataDir: 'x' } })).rejects.toThrow(
    "embedded.dataDir requires time: 'real', as the disk works in real time",
  );
  await using other = await TestEnvironment.start({ server: own });
  expect(() => other.handle(url, labels)).toThrow('TestEnvironment.handle: the server must be an embedded one');
  await expect(other.snapshot()).rejects.toThrow('TestEnvironment.snapshot: the server must be an embedded one');
});
