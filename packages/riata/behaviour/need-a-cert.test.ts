import { X509Certificate } from 'node:crypto';
import { Secret, Service, ValidatingWebhookConfiguration } from 'riata/kinds';
import { needACertAnnotations, registerNeedACert } from 'riata/patterns';
import { expect, test } from 'vitest';
import { startPatterns } from './patterns-play.js';
import { describeServers, uniqueName, until } from './servers.js';

describeServers('certificates for Services that ask for one', (server) => {
  test('a Secret is made and renewed, and webhooks trust its authority', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    await using play = startPatterns(server(), namespace);
    const { controllers, signal } = play;
    registerNeedACert(controllers, { signal });
    await controllers.start({ signal });
    const service = { namespace, name: 'hook' };
    const name = uniqueName('hook-');
    await client.create(
      ValidatingWebhookConfiguration({
        metadata: { name },
        webhooks: [
          {
            ...{
              name: 'hook.riata.dev',
              sideEffects: 'None',
              admissionReviewVersions: ['v1'],
              failurePolicy: 'Ignore',
            },
            clientConfig: { service },
            rules: [{ apiGroups: ['riata.dev'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['nothing'] }],
          },
        ],
      }),
    );
    const annotations = {
      [needACertAnnotations.secretName]: 'hook-tls',
      [`${needACertAnnotations.dnsName}-more`]: 'hook.example.com',
    };
    await client.create(Service({ metadata: { ...service, annotations }, spec: { ports: [{ port: 443 }] } }));
    const secret = await until('there is a Secret', () => client.find(Secret, { namespace, name: 'hook-tls' }));
    expect(secret).toMatchObject({ type: 'kubernetes.io/tls', metadata: { ownerReferences: [{ name: 'hook' }] } });
    const bundle = await until('the webhook trusts it', async () => {
      return (await client.get(ValidatingWebhookConfiguration, { name })).webhooks?.[0]?.clientConfig.caBundle;
    });
    const leaf = (data: Secret['data']) => new X509Certificate(Buffer.from(data?.['tls.crt'] ?? '', 'base64'));
    const authority = new X509Certificate(Buffer.from(bundle, 'base64'));
    expect(leaf(secret.data).verify(authority.publicKey)).toBe(true);
    expect(leaf(secret.data).subjectAltName?.split(', ')).toEqual(
      [`hook.${namespace}.svc`, `hook.${namespace}`, `hook.${namespace}.svc.cluster.local`, 'hook.example.com'].map(
        (host) => `DNS:${host}`,
      ),
    );
    // Corrupted or deleted, it is restored.
    const body = { data: { 'tls.crt': 'bm9uZQ==' } };
    await client.patch(Secret, { namespace, name: 'hook-tls' }, { type: 'merge', body });
    await until('it is good again', async () => {
      const { data } = await client.get(Secret, { namespace, name: 'hook-tls' });
      return data?.['tls.crt'] !== body.data['tls.crt'] && leaf(data).ca === false;
    });
    await client.delete(Secret, { namespace, name: 'hook-tls' });
    const again = await until('it is there again', () => client.find(Secret, { namespace, name: 'hook-tls' }));
    await until('the webhook trusts the new one', async () => {
      const { webhooks } = await client.get(ValidatingWebhookConfiguration, { name });
      const trusted = new X509Certificate(Buffer.from(webhooks?.[0]?.clientConfig.caBundle ?? '', 'base64'));
      return leaf(again.data).verify(trusted.publicKey);
    });
    await client.delete(ValidatingWebhookConfiguration, { name });
  });
});
