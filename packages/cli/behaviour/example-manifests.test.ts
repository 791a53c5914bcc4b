import { TestEnvironment, type TestManager, usedRights } from '@riata/testing';
import type { WriteObject } from 'riata/client';
import { ConfigMap, Deployment, type Namespace as NamespaceKind, Pod, Secret } from 'riata/kinds';
import { objectsFromYaml } from 'riata/patterns';
import { isForbidden } from 'riata/rest';
import { systemRandom } from 'riata/runtime';
import { expect, test } from 'vitest';
import { App } from '../../../examples/app-platform/app.js';
import { Site } from '../../../examples/guarded-sites/site.js';
import { SharedSettings } from '../../../examples/my-kind/main.js';
import { Foo } from '../../../examples/sample-controller/main.js';
import { Ship } from '../../../examples/sharded-fleet/main.js';
import { type Operator, resolveOperator } from '../src/config/resolve-operator.js';
import { deployment } from '../src/manifests/deployment.js';
import { testedRights } from '../src/manifests/used-rights.js';
import { bundleFiles } from '../src/olm/bundle-files.js';
import { type ExampleName, exampleNames, exampleOperator, observed } from './example-operators.js';

const uniqueName = (prefix: string) => `${prefix}-${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
const ofKind = <T>(objects: readonly WriteObject[], kind: string) => objects.find((each) => each.kind === kind) as T;

test.each(exampleNames)('manifests of %s apply, and its Pods pass PodSecurity restricted', async (name) => {
  await using env = await TestEnvironment.start();
  const namespace = uniqueName(name);
  const objects = await deployment(exampleOperator(name, namespace));
  for (const kind of ['Namespace', 'ServiceAccount'])
    await env.client.create(ofKind<WriteObject>(objects, kind) as never);
  for (const object of objects) {
    await env.client.apply(object as never, { fieldManager: 'test', force: true, dryRun: true });
  }
  const { spec } = ofKind<ReturnType<typeof Deployment>>(objects, 'Deployment');
  const pod = (changes: object = {}) =>
    Pod({ metadata: { namespace, name: 'operator' }, spec: { ...spec?.template.spec, ...changes } as never });
  await env.client.create(pod(), { dryRun: true });
  await expect(env.client.create(pod({ hostNetwork: true }), { dryRun: true })).rejects.toSatisfy(isForbidden);
});

test.each(exampleNames)('the examples in the bundle of %s are valid', async (name) => {
  const operator = await resolveOperator(exampleOperator(name));
  await using env = await TestEnvironment.start({ kinds: operator.kinds as never });
  const { files } = await bundleFiles(operator, { channels: ['stable'], defaultChannel: 'stable', project: {} });
  const [csv] = await objectsFromYaml(files[0]?.text ?? '');
  const examples: readonly WriteObject[] = JSON.parse(csv?.metadata.annotations?.['alm-examples'] ?? '');
  const versions = operator.kinds.flatMap((kind) => {
    const { group, versions } = kind.crd().spec;
    return versions.map(({ name: version, served, storage }) => ({
      apiVersion: `${group}/${version}`,
      served,
      storage,
    }));
  });
  const served = versions.filter((version) => version.served).map(({ apiVersion }) => apiVersion);
  expect(examples.map(({ apiVersion }) => apiVersion).sort()).toEqual(served.sort());
  const stored = new Set(versions.filter(({ storage }) => storage).map(({ apiVersion }) => apiVersion));
  for (const { metadata, ...example } of examples) {
    // The server has another version converted, by a webhook that does not run here.
    if (!stored.has(example.apiVersion)) continue;
    const placed = { ...example, metadata: { ...metadata, namespace: 'default' } };
    await env.client.create(placed as never, { dryRun: true });
  }
});

/** Has an example do its work, and looks at the result. */
const works: Readonly<Record<ExampleName, (env: TestEnvironment, namespace: string) => Promise<void>>> = {
  'app-platform': async (env, namespace) => {
    await env.client.create(App({ metadata: { namespace, name: 'shop' }, spec: { image: 'web:1', maxReplicas: 3 } }));
    await env.settle();
    await env.client.get(Deployment, { namespace, name: 'shop' });
  },
  'configmap-watch': async (env) => {
    const name = uniqueName('seen');
    await env.client.create(ConfigMap({ metadata: { namespace: 'default', name } }));
    await env.eventually(async () => observed.has(`ConfigMap ${name}`));
  },
  'frontend-restarter': async (env) => {
    const key = { namespace: 'default', name: 'frontend' };
    await env.client.create(ConfigMap({ metadata: key, data: { color: 'red' } }));
    await env.eventually(async () => (await env.client.get(ConfigMap, key)).metadata.annotations !== undefined);
    const labels = { app: 'frontend' };
    const spec = { containers: [{ name: 'web', image: 'web:1' }], automountServiceAccountToken: false };
    const pod = { namespace: 'default', name: 'web' };
    await env.client.create(Pod({ metadata: { ...pod, labels }, spec }));
    await env.client.patch(ConfigMap, key, { type: 'merge', body: { data: { color: 'blue' } } });
    await env.eventually(async () => {
      const left = await env.client.find(Pod, pod);
      return left === undefined || left.metadata.deletionTimestamp !== undefined;
    });
    await env.client.delete(ConfigMap, key);
  },
  'guarded-sites': async (env, namespace) => {
    const image = { name: 'registry.example.com/shop' };
    const host = `${namespace}.example.com`;
    await env.client.create(Site({ metadata: { namespace, name: 'shop' }, spec: { image, host } }));
    await env.settle();
    const { spec } = await env.client.get(Deployment, { namespace, name: 'shop' });
    expect(spec.template.metadata?.labels).toMatchObject({ zone: 'a' });
  },
  'my-kind': async (env, namespace) => {
    const key = { namespace, name: 'prices' };
    await env.client.create(SharedSettings({ metadata: key, spec: { data: { apple: '1' } } }));
    await env.settle();
    await env.client.get(ConfigMap, { namespace: 'default', name: `${namespace}.prices` });
    await env.client.delete(SharedSettings, key);
    await env.settle();
    expect(await env.client.find(SharedSettings, key)).toBe(undefined);
  },
  'pod-logger': async (env, namespace) => {
    const name = uniqueName('seen');
    const containers = [{ name: 'web', image: 'web:1' }];
    const spec = { nodeName: 'node-1', containers, automountServiceAccountToken: false };
    await env.client.create(Pod({ metadata: { namespace, name }, spec }));
    await env.eventually(async () => observed.has(`Pod ${name}`));
  },
  'sample-controller': async (env, namespace) => {
    await env.client.create(Foo({ metadata: { namespace, name: 'foo' }, spec: { deploymentName: 'web' } }));
    await env.settle();
    await env.client.get(Deployment, { namespace, name: 'web' });
  },
  'sharded-fleet': async (env, namespace) => {
    await env.client.create(Ship({ metadata: { namespace, name: 'ship' }, spec: { course: 90 } }));
    await env.eventually(async () => (await env.client.get(Ship, { namespace, name: 'ship' })).status?.course === 90);
  },
};

test.each(Object.entries(works))('%s lacks nothing under its generated role', async (name, work) => {
  const example = name as ExampleName;
  const namespace = uniqueName(name);
  const config = exampleOperator(example, namespace);
  const operator = await resolveOperator(config);
  await using env = await TestEnvironment.start({ kinds: operator.kinds as never });
  const objects = await deployment(config);
  const isRight = ({ kind }: WriteObject) => /^(Namespace|ServiceAccount|(Cluster)?Role(Binding)?)$/.test(kind);
  const labels = { 'pod-security.kubernetes.io/enforce': 'privileged' };
  for (const object of objects.filter(isRight)) {
    const created = object.kind === 'Namespace' ? { ...object, metadata: { ...object.metadata, labels } } : object;
    await env.client.create(created as ReturnType<typeof NamespaceKind>);
  }
  const { health: _, metrics: __, ...options } = operator.options;
  const account = env.as({ serviceAccount: name, namespace });
  const manager: TestManager = await account.startManager({ ...options, run: operator.definitions as never });
  await work(env, namespace);
  // The probe of webhooks is refused by the webhook itself: that is how it knows that the server reaches it.
  const denied = env.requests.all.filter(({ code, path }) => code === 403 && !path.endsWith('/leases?dryRun=All'));
  expect(denied.map(({ verb, path }) => `${verb} ${path}`)).toEqual([]);
  expect(manager.exit).toBe(undefined);
  // It has its own rights and no others.
  await expect(account.client.list(Secret, { namespace })).rejects.toSatisfy(isForbidden);
});

test('an operator lacks nothing under the role that its tests gave', async () => {
  const name = 'sample-controller';
  const play = async (env: TestEnvironment, { namespace, definitions, options }: Operator, as?: string) => {
    const { metrics: _, ...rest } = options;
    const identity = as === undefined ? env : env.as({ serviceAccount: as, namespace });
    await identity.startManager({ ...rest, run: definitions as never });
    await works[name](env, namespace);
  };
  await using env = await TestEnvironment.start({ kinds: [Foo] });
  const tested = await resolveOperator(exampleOperator(name, await env.namespace()));
  await play(env, tested);
  const used = JSON.parse(JSON.stringify(usedRights(env.requests)));
  await env.reset();

  const operator = await resolveOperator(exampleOperator(name, await env.namespace()));
  const objects = await deployment({ ...operator, testedRights: testedRights([used]) });
  for (const object of objects.filter(({ kind }) => /^(ServiceAccount|(Cluster)?Role(Binding)?)$/.test(kind))) {
    await env.client.create(object as never);
  }
  await play(env, operator, name);
  expect(env.requests.all.filter(({ code }) => code === 403)).toEqual([]);
  const role = ofKind<{ readonly rules: readonly object[] }>(objects, 'ClusterRole');
  expect(JSON.stringify(role.rules)).not.toContain('delete');
});
