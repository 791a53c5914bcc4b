import { createClient } from 'riata/client';
import { control } from 'riata/controller';
import { ConfigMap, Role, Secret, Service, ServiceAccount, ValidatingWebhookConfiguration } from 'riata/kinds';
import { Manager } from 'riata/manager';
import {
  Apply,
  Controllers,
  collectRbac,
  needACertAnnotations,
  rbacManifests,
  registerGeneratingHandler,
  registerNeedACert,
} from 'riata/patterns';
import { isForbidden } from 'riata/rest';
import { memoryLogger, silentLogger } from 'riata/runtime';
import { SharedControllerFactory } from 'riata/shared';
import { expect, test } from 'vitest';
import { describeServers, uniqueName, until } from './servers.js';

describeServers('collected rights', (server) => {
  test('suffice for controllers of every style, and those that were not named are missed', async () => {
    const { client, config } = server();
    const namespace = await server().namespace();
    const name = uniqueName('collected-');
    const log = memoryLogger('warn');
    const impersonate = { user: `system:serviceaccount:${namespace}:${name}`, groups: ['system:authenticated'] };
    await using manager = await Manager.create({
      config: { ...config, impersonate },
      cache: { namespaces: [namespace] },
      runtime: { log },
    });
    const secrets = control(Secret)
      .owns(ConfigMap)
      .finalize(() => {}, { name: 'riata.dev/clean' })
      .reconcile(async ({ object, apply, event }) => {
        if (object.metadata.labels?.copy !== 'yes') return;
        await apply(ConfigMap({ metadata: { name: object.metadata.name } }));
        event({ type: 'Normal', reason: 'Copied', message: 'it has a ConfigMap' });
      });
    const controllers = new Controllers(SharedControllerFactory.fromManager(manager));
    const apply = new Apply(manager.leaderClient, { lookup: 'given', runtime: { log } });
    const options = { name: 'accounts', writes: [ServiceAccount] };
    registerGeneratingHandler(controllers.for(Service), apply, options, ({ metadata }) => ({
      objects: [ServiceAccount({ metadata: { name: metadata.name } })],
    }));
    registerNeedACert(controllers);
    for (const object of rbacManifests(collectRbac([secrets, controllers]), { name, namespace })) {
      await client.create(object as never);
    }
    const me = createClient({ ...config, impersonate }, { runtime: { log: silentLogger } });
    const may = (kind: typeof Secret | typeof Role) =>
      me.list(kind as typeof Secret, { namespace }).then(
        () => true,
        (error: unknown) => {
          if (isForbidden(error)) return false;
          throw error;
        },
      );
    await until('the rights are in force', () => may(Secret));
    const stop = new AbortController();
    manager.add(secrets);
    manager.add({ name: 'handlers', run: ({ signal }) => controllers.run({ signal }) });
    const ended = manager.run({ signal: stop.signal });

    const annotations = { [needACertAnnotations.secretName]: 'hook-tls' };
    await client.create(Secret({ metadata: { namespace, name: 'a', labels: { copy: 'yes' } } }));
    await client.create(
      Service({ metadata: { namespace, name: 'hook', annotations }, spec: { ports: [{ port: 443 }] } }),
    );
    const hook = { namespace, name: 'hook' };
    await client.create(
      ValidatingWebhookConfiguration({
        metadata: { name },
        webhooks: [
          {
            ...{ name: 'hook.riata.dev', sideEffects: 'None', admissionReviewVersions: ['v1'] },
            ...{ failurePolicy: 'Ignore', clientConfig: { service: hook } },
            rules: [{ apiGroups: ['riata.dev'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['none'] }],
          },
        ],
      }),
    );
    await until('the definition works', () => client.find(ConfigMap, { namespace, name: 'a' }));
    await until('the generating handler works', () => client.find(ServiceAccount, hook));
    await until('certificates are made and told', async () => {
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, { name });
      return webhooks?.[0]?.clientConfig.caBundle !== undefined;
    });
    await client.delete(Secret, { namespace, name: 'a' });
    await until('finalizers are removed', async () => !(await client.find(Secret, { namespace, name: 'a' })));
    stop.abort();
    await ended;
    expect(log.records.filter(({ fields }) => isForbidden(fields.error))).toEqual([]);
    expect(await may(Role)).toBe(false);
    await me.close();
    await client.delete(ValidatingWebhookConfiguration, { name });
  });
});
