import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { withVersion } from 'riata';
import { defineKind } from 'riata/object';
import { objectsFromYaml } from 'riata/patterns';
import { conversion } from 'riata/webhook';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { runIn } from '../command/command-io.fixture.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { resolveOperator } from '../config/resolve-operator.js';
import { fullOptions, Site, siteConfig, siteRules, sites } from '../manifests/site-operator.fixture.js';
import { bundleFiles } from './bundle-files.js';
import { schemaExample } from './schema-example.js';

const options = { channels: ['stable', 'candidate'], defaultChannel: 'stable', project: {} };

/** A ClusterServiceVersion, as far as tests look at it. */
interface Csv {
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly annotations: Readonly<Record<string, string>> };
  readonly spec: {
    readonly installModes: readonly { readonly type: string; readonly supported: boolean }[];
    readonly customresourcedefinitions: { readonly owned: readonly object[] };
    readonly install: {
      readonly strategy: string;
      readonly spec: {
        readonly permissions?: readonly { readonly rules: readonly { readonly resources: readonly string[] }[] }[];
        readonly clusterPermissions?: readonly {
          readonly rules: readonly { readonly resources: readonly string[] }[];
        }[];
        readonly deployments: readonly { readonly name: string; readonly spec: object }[];
      };
    };
    readonly webhookdefinitions?: readonly object[];
  };
}

async function bundleOf(config: ReturnType<typeof siteConfig>, more: object = {}) {
  const made = await bundleFiles(await resolveOperator(config), { ...options, ...more });
  const text = (path: string) => made.files.find((file) => file.path === path)?.text ?? '';
  const [csv] = await objectsFromYaml(text('manifests/site-operator.clusterserviceversion.yaml'));
  return { ...made, text, csv: csv as unknown as Csv };
}

const full = siteConfig({ definitions: [sites, siteRules], options: fullOptions });

test('a bundle of an operator with webhooks', async () => {
  const { files, leftOut, text, csv } = await bundleOf(full, { replaces: '1.2.2' });
  expect(files.map(({ path }) => path)).toEqual([
    'manifests/site-operator.clusterserviceversion.yaml',
    'manifests/sites.sites.example.com.crd.yaml',
    'manifests/site-operator-site-viewer.clusterrole.yaml',
    'manifests/site-operator-site-editor.clusterrole.yaml',
    'manifests/site-operator-site-admin.clusterrole.yaml',
    'manifests/site-operator-metrics.service.yaml',
    'manifests/site-operator-metrics-reader.clusterrole.yaml',
    'manifests/site-operator.poddisruptionbudget.yaml',
    'metadata/annotations.yaml',
    'bundle.Dockerfile',
  ]);
  expect(leftOut.map(({ kind }) => kind)).toEqual(['NetworkPolicy']);
  expect(csv).toMatchObject({
    kind: 'ClusterServiceVersion',
    metadata: {
      name: 'site-operator.v1.2.3',
      annotations: { containerImage: 'registry.example.com/site-operator:1.2.3' },
    },
    spec: {
      ...{ displayName: 'Site Operator', version: '1.2.3', replaces: 'site-operator.v1.2.2' },
      install: { strategy: 'deployment', spec: { deployments: [{ name: 'site-operator' }] } },
    },
  });
  expect(csv.spec.installModes.filter(({ supported }) => supported)).toEqual([
    { type: 'AllNamespaces', supported: true },
  ]);
  expect(JSON.parse(csv.metadata.annotations['alm-examples'] as string)).toEqual([
    {
      apiVersion: 'sites.example.com/v1',
      kind: 'Site',
      metadata: { name: 'site-sample' },
      spec: { image: 'example', replicas: 1 },
    },
  ]);
  expect(csv.spec.customresourcedefinitions.owned).toMatchInlineSnapshot(`
    [
      {
        "description": "A Site.",
        "displayName": "Site",
        "kind": "Site",
        "name": "sites.sites.example.com",
        "specDescriptors": [
          {
            "displayName": "Image",
            "path": "image",
            "x-descriptors": [
              "urn:alm:descriptor:com.tectonic.ui:text",
            ],
          },
          {
            "displayName": "Replicas",
            "path": "replicas",
            "x-descriptors": [
              "urn:alm:descriptor:com.tectonic.ui:podCount",
            ],
          },
        ],
        "statusDescriptors": [
          {
            "displayName": "Available Replicas",
            "path": "availableReplicas",
            "x-descriptors": [
              "urn:alm:descriptor:text",
            ],
          },
          {
            "displayName": "Observed Generation",
            "path": "observedGeneration",
            "x-descriptors": [
              "urn:alm:descriptor:text",
            ],
          },
          {
            "displayName": "Conditions",
            "path": "conditions",
            "x-descriptors": [
              "urn:alm:descriptor:io.kubernetes.conditions",
            ],
          },
        ],
        "version": "v1",
      },
    ]
  `);
  expect(csv.spec.webhookdefinitions).toMatchInlineSnapshot(`
    [
      {
        "admissionReviewVersions": [
          "v1",
        ],
        "containerPort": 443,
        "deploymentName": "site-operator",
        "failurePolicy": "Fail",
        "generateName": "validate.site.sites.example.com",
        "matchPolicy": "Equivalent",
        "rules": [
          {
            "apiGroups": [
              "sites.example.com",
            ],
            "apiVersions": [
              "v1",
            ],
            "operations": [
              "CREATE",
              "UPDATE",
            ],
            "resources": [
              "sites",
            ],
            "scope": "*",
          },
        ],
        "sideEffects": "None",
        "targetPort": 9443,
        "timeoutSeconds": 10,
        "type": "ValidatingAdmissionWebhook",
        "webhookPath": "/validate-sites-example-com-v1-site",
      },
    ]
  `);
  expect(text('metadata/annotations.yaml')).toMatchInlineSnapshot(`
    "annotations:
      operators.operatorframework.io.bundle.mediatype.v1: registry+v1
      operators.operatorframework.io.bundle.manifests.v1: manifests/
      operators.operatorframework.io.bundle.metadata.v1: metadata/
      operators.operatorframework.io.bundle.package.v1: site-operator
      operators.operatorframework.io.bundle.channels.v1: stable,candidate
      operators.operatorframework.io.bundle.channel.default.v1: stable
    "
  `);
  expect(text('bundle.Dockerfile')).toContain(
    'LABEL operators.operatorframework.io.bundle.channels.v1=stable,candidate\n',
  );
  expect(text('manifests/site-operator-metrics.service.yaml')).not.toContain('namespace:');
});

test('rights are split, and those that OLM makes needless are left out', async () => {
  const { csv } = await bundleOf(full);
  const { permissions = [], clusterPermissions = [] } = csv.spec.install.spec;
  const resources = (list: typeof permissions) => list.flatMap(({ rules }) => rules.flatMap((rule) => rule.resources));
  expect(resources(permissions)).toContain('leases');
  expect(resources(permissions)).not.toContain('secrets');
  expect(resources(clusterPermissions)).toContain('sites/status');
  expect(resources(clusterPermissions)).not.toContain('validatingwebhookconfigurations');
});

test('conversions, and an operator of one namespace', async () => {
  const Both = withVersion(Site, 'v1beta1', {
    spec: z.object({ image: z.string() }),
    up: ({ spec }) => ({ spec: { ...spec, replicas: 1 } }),
    down: ({ spec }) => ({ spec: { image: spec.image } }),
  });
  const { csv } = await bundleOf(siteConfig({ definitions: [sites, conversion(Both)], config: { kinds: [Both] } }));
  expect(csv.spec.webhookdefinitions).toEqual([
    expect.objectContaining({ type: 'ConversionWebhook', conversionCRDs: ['sites.sites.example.com'] }),
  ]);
  const own = await bundleOf(siteConfig({ options: { cache: { namespaces: ['site-operator'] } } }));
  expect(own.csv.spec.installModes.filter(({ supported }) => supported)).toEqual([
    { type: 'OwnNamespace', supported: true },
  ]);
});

test('examples fit their schemas', () => {
  const Fussy = defineKind({
    ...{ group: 'x.example.com', version: 'v1', kind: 'Fussy' },
    spec: z.object({
      size: z.enum(['small', 'large']),
      host: z.string().regex(/^[a-z]+\.[a-z]+$/),
      count: z.int().min(3).max(7),
      names: z.array(z.string().min(10)).min(1),
      left: z.string().optional(),
      deep: z.object({ on: z.boolean() }),
    }),
  });
  const schema = Fussy.crd().spec.versions[0]?.schema.openAPIV3Schema.properties?.spec;
  expect(schemaExample(schema as never)).toEqual({
    ...{ size: 'small', host: 'example.com', count: 3, names: ['example.com'], deep: { on: false } },
  });
});

test('the command writes and checks it', async () => {
  using site = makeProject(siteOperator);
  const bundle = (...args: readonly string[]) =>
    runIn(site.folder, ['bundle', ...conditions.flatMap((each) => ['--conditions', each]), ...args]);
  const wrote = await bundle('--channels', 'stable');
  expect(wrote).toMatchObject({ code: 0, out: '', notes: expect.stringContaining('NetworkPolicy site-operator: ') });
  expect(readdirSync(join(site.folder, 'bundle')).sort()).toEqual(['bundle.Dockerfile', 'manifests', 'metadata']);
  expect(readFileSync(join(site.folder, 'bundle/bundle.Dockerfile'), 'utf8')).toMatch(
    /^# Generated by `riata bundle`.*\nFROM scratch\n/,
  );
  expect((await bundle('--check')).code).toBe(0);
  expect(await bundle('--default-channel', 'other')).toMatchObject({
    ...{ code: 2, notes: 'riata: --default-channel must be one of stable, got "other"' },
  });
});
