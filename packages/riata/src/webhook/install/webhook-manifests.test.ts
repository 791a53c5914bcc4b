import { expect, test } from 'vitest';
import { ConfigMap } from '../../kinds/index.js';
import { defineKind } from '../../object/index.js';
import type { WebhookDefinition } from '../webhook-definition.js';
import { webhookManifests } from './webhook-manifests.js';
import { webhookRights } from './webhook-rights.js';
import { resolveSite } from './webhook-site.js';

const Site = defineKind({ group: 'example.com', version: 'v1', kind: 'Site', spec: { type: 'object' } });
const webhook = {
  rules: [{ apiGroups: ['example.com'], apiVersions: ['v1'], operations: ['CREATE'], resources: ['sites'] }],
  sideEffects: 'None',
  admissionReviewVersions: ['v1'],
};
const rules: Pick<WebhookDefinition, 'name' | 'targets' | 'readKinds'> = {
  name: 'sites',
  readKinds: [ConfigMap],
  targets: [
    {
      ...{ type: 'validating', path: '/validate' },
      webhook: { ...webhook, name: 'z.example.com', namespaceSelector: { matchLabels: { team: 'a' } } },
    },
    { type: 'validating', path: '/validate-2', webhook: { ...webhook, name: 'a.example.com' } },
    { type: 'conversion', path: '/convert', kind: Site },
  ],
};
const place = { name: 'sites', namespace: 'site-system' };

test('entries are sorted, lead to the Service, and leave out the namespace of the program', () => {
  const [service, configuration, crd] = webhookManifests([rules], { ...place, crds: [Site.crd()] });
  expect(service).toMatchObject({
    metadata: place,
    spec: { selector: { 'app.kubernetes.io/name': 'sites' }, ports: [{ port: 443, targetPort: 9443 }] },
  });
  const own = { key: 'kubernetes.io/metadata.name', operator: 'NotIn', values: ['site-system'] };
  const clientConfig = (path: string) => ({ service: { ...place, path, port: 443 } });
  expect(configuration).toMatchObject({
    kind: 'ValidatingWebhookConfiguration',
    metadata: { name: 'sites.site-system' },
    webhooks: [
      {
        ...{ name: 'a.example.com', clientConfig: clientConfig('/validate-2') },
        namespaceSelector: { matchExpressions: [own] },
      },
      { name: 'probe.webhooks.riata.dev' },
      { name: 'z.example.com', namespaceSelector: { matchLabels: { team: 'a' }, matchExpressions: [own] } },
    ],
  });
  expect(crd).toMatchObject({ spec: { conversion: { webhook: { clientConfig: clientConfig('/convert') } } } });
  expect(() => webhookManifests([rules], place)).toThrow(
    'webhookManifests: crds must include sites.example.com, which a webhook converts; add Kind.crd()',
  );
});

test('with cert-manager there are a Certificate and its Issuer, and annotations', () => {
  const options = { ...place, certificates: 'cert-manager', crds: [Site.crd()] } as const;
  const objects = webhookManifests([rules], options);
  expect(objects.map(({ kind }) => kind)).toEqual([
    ...['Service', 'Issuer', 'Certificate', 'ValidatingWebhookConfiguration', 'CustomResourceDefinition'],
  ]);
  const annotations = { 'cert-manager.io/inject-ca-from': 'site-system/sites' };
  expect(objects[3]).toMatchObject({ metadata: { annotations } });
  expect(objects[4]).toMatchObject({ metadata: { annotations } });
  expect(objects[2]).toMatchObject({ spec: { secretName: 'sites-tls', issuerRef: { kind: 'Issuer', name: 'sites' } } });
});

test('rights are as narrow as the way of serving allows', () => {
  const rights = (options: object) =>
    webhookRights([rules], { ...place, ...options }).rbacNeeds.map(
      ({ kind, verbs, names, ownNamespace }) =>
        `${ownNamespace ? 'own ' : ''}${kind.plural} ${names?.join(',') ?? '*'}: ${verbs.join(' ')}`,
    );
  const configured = (verbs: string) => [
    `mutatingwebhookconfigurations sites.site-system: ${verbs}`,
    `validatingwebhookconfigurations sites.site-system: ${verbs}`,
    'customresourcedefinitions sites.example.com: get list watch patch',
  ];
  const secret = ['own secrets *: create', 'own secrets sites-tls: get list watch update'];
  const reads = 'configmaps *: get list watch';
  expect(rights({})).toEqual([
    ...[reads, ...secret, 'own leases *: create', 'own leases sites-webhooks: get update'],
    ...configured('get list watch patch create delete'),
  ]);
  expect(rights({ install: false })).toEqual([
    ...[reads, ...secret, 'own leases *: create', ...configured('get list watch patch')],
  ]);
  expect(rights({ install: false, certificates: 'cert-manager' })).toEqual([reads, 'own leases *: create']);
});

test('a Pod is reached by its Service, other programs by a URL', async () => {
  const pod = await resolveSite({}, { name: 'sites', env: { KUBERNETES_SERVICE_HOST: 'x', POD_NAMESPACE: 'shop' } });
  expect(pod).toMatchObject({ name: 'sites', namespace: 'shop', isBehindService: true, host: undefined });
  expect(pod.hosts).toEqual(['sites.shop.svc', 'sites.shop', 'sites.shop.svc.cluster.local']);
  expect(pod.clientConfig('/a', 9443)).toEqual({
    service: { namespace: 'shop', name: 'sites', path: '/a', port: 443 },
  });
  const laptop = await resolveSite({}, { namespace: 'shop', env: {} });
  expect(laptop).toMatchObject({ isBehindService: false, host: '127.0.0.1', hosts: ['127.0.0.1'] });
  expect(laptop.clientConfig('/a', 1234)).toEqual({ url: 'https://127.0.0.1:1234/a' });
  const tunnel = await resolveSite({ url: 'https://[fd00::1]:8443/' }, { env: { KUBERNETES_SERVICE_HOST: 'x' } });
  expect(tunnel.hosts).toEqual(['fd00::1']);
  expect(tunnel.clientConfig('/a', 1)).toEqual({ url: 'https://[fd00::1]:8443/a' });
});
