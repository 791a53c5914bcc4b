import { ConfigMap, MutatingWebhookConfiguration, Secret, ValidatingWebhookConfiguration } from 'riata/kinds';
import { equal } from 'riata/object';
import { expect, test } from 'vitest';
import { describeServers, rejection, uniqueName, until } from './servers.js';
import { onLoopback, reviewing, startGuarded } from './webhooks-play.js';

describeServers('webhooks of a manager', (server) => {
  test('guard, mutate, deny and warn, once the manager is ready', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const rules = reviewing('rules', { kind: ConfigMap, namespace }, ({ object }) =>
      object?.data?.color === 'red' ? { message: 'red is taken' } : { warnings: ['think of blue'] },
    );
    const defaults = reviewing('defaults', { kind: ConfigMap, namespace, type: 'mutating' }, () => ({
      patch: [{ op: 'add', path: '/data/size', value: 'large' }],
    }));
    await using started = await startGuarded(server(), onLoopback(name, namespace), [rules, defaults]);
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { color: 'green' } }));
    expect(made.data).toEqual({ color: 'green', size: 'large' });
    const red = ConfigMap({ metadata: { namespace, name: 'b' }, data: { color: 'red' } });
    expect((await rejection(client.create(red))).message).toContain(
      'admission webhook "rules.play.riata.dev" denied the request: red is taken',
    );
    const { webhookCalls } = started.manager;
    expect(webhookCalls.map(({ webhook, outcome, object }) => [webhook, outcome, object?.name])).toEqual([
      ['defaults', 'allowed', 'a'],
      ['rules', 'allowed', 'a'],
      ['defaults', 'allowed', 'b'],
      ['rules', 'denied', 'b'],
    ]);
  });

  test('that are removed are neither called nor configured any more', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const deny = (word: string) =>
      reviewing(word, { kind: ConfigMap, namespace }, ({ object }) =>
        object?.metadata.name?.startsWith(word) ? { message: `no ${word}` } : {},
      );
    await using started = await startGuarded(server(), onLoopback(name, namespace), [deny('one')]);
    const added = started.manager.add(deny('two'));
    const entries = async () => {
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, { name: `${name}.${namespace}` });
      return (webhooks ?? []).map((entry) => entry.name);
    };
    const both = ['one.play.riata.dev', 'probe.webhooks.riata.dev', 'two.play.riata.dev'];
    await until('both are configured', async () => (await entries()).length === 3);
    expect([...(await entries())].sort()).toEqual(both);
    const create = (prefix: string) =>
      client.create(ConfigMap({ metadata: { namespace, name: uniqueName(`${prefix}-`) } })).then(
        () => 'made',
        (error: Error) => error.message,
      );
    await until('it is called', async () => (await create('two')).includes('no two'));
    await added.remove();
    await until('one is configured', async () => (await entries()).length === 2);
    await until('it is not called', async () => (await create('two')) === 'made');
    expect(await create('one')).toContain('no one');
  });

  test('are configured again after someone has emptied the bundle, changed an entry, or deleted all', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const rules = reviewing('rules', { kind: ConfigMap, namespace }, () => ({ message: 'never' }));
    await using _ = await startGuarded(server(), onLoopback(name, namespace), [rules]);
    const key = { name: `${name}.${namespace}` };
    const entry = async () => {
      const found = await client.find(ValidatingWebhookConfiguration, key);
      return found?.webhooks?.find((each) => each.name === 'rules.play.riata.dev');
    };
    const before = await entry();
    if (before === undefined) throw new Error('no entry');
    expect(before.clientConfig.caBundle).not.toBe('');
    const index = async () => {
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, key);
      return webhooks?.findIndex((each) => each.name === 'rules.play.riata.dev');
    };
    const patch = async (path: string, value: unknown) => {
      const body = [{ op: 'replace', path: `/webhooks/${await index()}/${path}`, value }];
      await client.patch(ValidatingWebhookConfiguration, key, { type: 'json', body } as never);
    };
    const isRestored = async () => equal(await entry(), before);
    await patch('clientConfig/caBundle', '');
    await until('the bundle is restored', isRestored);
    await patch('failurePolicy', 'Ignore');
    await until('the policy is restored', isRestored);
    await client.patch(ValidatingWebhookConfiguration, key, { type: 'merge', body: { webhooks: null } } as never);
    await until('the entries are restored', isRestored);
    await client.delete(ValidatingWebhookConfiguration, key);
    await until('the configuration is restored', isRestored);
    await until('it is called again', async () => {
      const creation = client.create(ConfigMap({ metadata: { namespace, name: uniqueName('c-') } }));
      return creation.then(
        () => false,
        (error: Error) => error.message.includes('never'),
      );
    });
  });

  test('take their configurations away when the program stops outside a cluster', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const name = uniqueName('hooks-');
    const rules = reviewing('rules', { kind: ConfigMap, namespace }, () => ({ message: 'never' }));
    const defaults = reviewing('defaults', { kind: ConfigMap, namespace, type: 'mutating' }, () => ({}));
    const started = await startGuarded(server(), onLoopback(name, namespace), [rules, defaults]);
    const key = { name: `${name}.${namespace}` };
    expect(await client.find(MutatingWebhookConfiguration, key)).toBeDefined();
    // In the server's own process they are called without certificates.
    const isHttps = started.manager.urls.webhooks !== undefined;
    await started.stop();
    expect(await client.find(MutatingWebhookConfiguration, key)).toBeUndefined();
    expect(await client.find(ValidatingWebhookConfiguration, key)).toBeUndefined();
    // The certificate stays: the next start serves with it.
    expect((await client.find(Secret, { namespace, name: `${name}-tls` })) !== undefined).toBe(isHttps);
  });
});
