import { TestEnvironment } from '@riata/testing';
import { ConfigMap } from 'riata/kinds';
import { admit } from 'riata/webhook';
import { expect, test } from 'vitest';

test('webhooks of a manager guard a real server over HTTPS, and break on purpose', async () => {
  await using env = await TestEnvironment.start();
  const namespace = await env.namespace();
  const create = (name: string, data = {}) => env.client.create(ConfigMap({ metadata: { namespace, name }, data }));
  const rules = admit(ConfigMap, {
    name: 'maps',
    timeout: '1s',
    namespaceSelector: { matchLabels: { 'kubernetes.io/metadata.name': namespace } },
  })
    .mutates((draft) => {
      draft.data = { ...draft.data, seen: 'yes' };
    })
    .validates(({ object, deny, path }) => {
      if (object.data?.price === '0') deny(path.data, 'must not be for free');
    });
  const manager = await env.startManager({ run: [rules], webhooks: { name: 'testing-webhooks' } });
  expect((await create('a')).data).toEqual({ seen: 'yes' });
  await expect(create('b', { price: '0' })).rejects.toThrow('must not be for free');

  const faults = [{ cut: true }, { hang: true }, { answer: { body: 'hello' } }, { answer: { status: 503 } }] as const;
  for (const [at, fault] of faults.entries()) {
    using rule = env.faults.addWebhook({ webhook: 'maps' }, fault);
    await expect(create(`broken-${at}`)).rejects.toThrow('failed calling webhook');
    expect(rule.hits).toBeGreaterThan(0);
  }
  await create('c');
  await manager.stop();
  expect((await env.eventually(() => create('d'))).data).toBeUndefined();
});
