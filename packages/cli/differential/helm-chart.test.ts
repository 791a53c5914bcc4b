import { execFile } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { adminKubeconfig } from '@riata/apiserver';
import { Sandbox } from '@riata/sandbox';
import { createClient, loadConfig, silentLogger } from 'riata';
import type { ConnectedClient, WriteObject } from 'riata/client';
import { ConfigMap, CustomResourceDefinition, Deployment, ResourceQuota } from 'riata/kinds';
import { objectsFromYaml } from 'riata/patterns';
import { afterAll, test as anyTest, beforeAll, describe, expect } from 'vitest';
import { z } from 'zod';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';
import { goTool } from '../../../tools/go-tools/go-tool.mjs';
import { exampleNames, exampleOperator } from '../behaviour/example-operators.js';
import { type ChartConfig, chart } from '../src/chart/chart.js';
import { chartFiles } from '../src/chart/chart-files.js';
import { defaultChart } from '../src/chart/default-chart.js';
import { comparable } from '../src/chart/evaluate-objects.js';
import { onlyIf } from '../src/chart/placeholder.js';
import { defaultValues, readValuesSchema } from '../src/chart/values-schema.js';
import { marked } from '../src/command/generated-files.js';
import { type Operator, resolveOperator } from '../src/config/resolve-operator.js';
import { deployment } from '../src/manifests/deployment.js';

const run = promisify(execFile);
const helmPath = await goTool('helm');
const test = anyTest.skipIf(helmPath === undefined);

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-helm-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

/** Helm, with nothing of the user's own. */
async function helm(...args: readonly string[]): Promise<string> {
  const env = { ...process.env, HELM_CACHE_HOME: folder, HELM_CONFIG_HOME: folder, HELM_DATA_HOME: folder };
  const { stdout } = await run(helmPath as string, args, { env, maxBuffer: 64 * 1024 * 1024 });
  return stdout;
}

/** Writes a chart to a folder of its own. */
async function write(name: string, config: ChartConfig, operator: Operator): Promise<string> {
  const place = join(folder, name);
  for (const file of await chartFiles(config, operator)) {
    await mkdir(dirname(join(place, file.path)), { recursive: true });
    await writeFile(join(place, file.path), marked(file, 'chart'));
  }
  return place;
}

async function valuesFile(name: string, values: object): Promise<string> {
  const path = join(folder, `${name}.json`);
  await writeFile(path, JSON.stringify(values));
  return path;
}

/** Objects by name, as they compare. */
function byName(objects: readonly WriteObject[]) {
  const entries = objects
    .filter(({ kind }) => kind !== 'Namespace')
    .map((object) => {
      const { kind, metadata } = object;
      const { annotations = {} } = metadata as { readonly annotations?: Readonly<Record<string, string>> };
      const { 'helm.sh/resource-policy': _, ...rest } = annotations;
      const plain = { ...object, metadata: { ...metadata, annotations: rest } };
      return [`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, comparable(JSON.parse(JSON.stringify(plain)))];
    });
  return Object.fromEntries(entries);
}

/** Values that differ from every default. */
const others = {
  replicas: 1,
  image: { repository: 'registry.example.com/other', tag: '2.0.0-rc.1', pullPolicy: 'Always' },
  imagePullSecrets: [{ name: 'registry' }],
  resources: { requests: { cpu: '2', memory: '1Gi' }, limits: { cpu: '2', memory: '1Gi' } },
  nodeSelector: { 'kubernetes.io/os': 'linux', on: 'yes' },
  tolerations: [{ key: 'dedicated', operator: 'Exists', tolerationSeconds: 1_000_000 }],
  affinity: { nodeAffinity: { preferredDuringSchedulingIgnoredDuringExecution: [] } },
  podAnnotations: { 'example.com/text': '{{ .Values }} "x"\ny' },
  env: [{ name: 'LOG_LEVEL', value: 'debug' }],
  networkPolicy: false,
  crds: { install: true },
};

const site = { release: { name: 'sample', namespace: 'shop' } };

test.each(exampleNames)('the default chart of %s renders as its objects', async (name) => {
  const config = exampleOperator(name);
  const operator = await resolveOperator(config);
  const made = await defaultChart(config, operator);
  const place = await write(name, made, operator);
  await helm('lint', '--strict', place);
  const render = async (...args: readonly string[]) =>
    byName(await objectsFromYaml(await helm('template', 'sample', place, '--namespace', 'shop', ...args)));
  const defaults = defaultValues(readValuesSchema(made.schema));
  expect(await render()).toEqual(byName(await made.objects(defaults, { ...site, operator })));
  const values = 'metrics' in operator.options ? { ...others, monitoring: true } : others;
  expect(await render('--values', await valuesFile(name, values))).toEqual(
    byName(await made.objects(values, { ...site, operator })),
  );
  await expect(helm('template', 'sample', place, '--set', 'replicas=many')).rejects.toThrow(/replicas/);
});

test('a chart of values of every type renders as its objects', async () => {
  const config = exampleOperator('sample-controller');
  const operator = await resolveOperator(config);
  const values = z.object({
    text: z.string().default('a'),
    count: z.int().default(1_000_000),
    ratio: z.number().default(0.5),
    flag: z.boolean().default(false),
    list: z.array(z.string()).default([]),
    map: z.record(z.string(), z.string()).optional(),
    maybe: z.int().optional(),
    group: z.object({ name: z.string().default('g'), 'odd-name': z.string().default('o') }),
    far: z.object({ deep: z.string().optional() }).optional(),
  });
  const made = chart(config, {
    values,
    objects: (v, { release }) => [
      ConfigMap({
        metadata: { name: 'x', namespace: release.namespace, labels: { ...v.map, own: release.name } },
        data: {
          ...{ text: v.text, count: v.count, ratio: v.ratio, flag: v.flag, list: v.list, map: v.map, maybe: v.maybe },
          ...{ longer: ['first', ...v.list, 'last'], group: v.group, odd: v.group['odd-name'], deep: v.far?.deep },
          items: [v.text, { maybe: v.maybe, always: 1 }, { first: 1, second: [] }, [v.count, [v.text]]],
          onlyMaybe: { maybe: v.maybe, map: v.map },
          url: `https://${v.group.name}:${v.count}/100%?x={{ .y }}`,
          braces: '{{ $labels.pod }} "quoted" }}',
          words: [
            'on',
            'true',
            '1',
            '',
            'a: b',
            'two\nlines',
            'plain/text',
            '#',
            "it's",
            '- x',
            '~',
            '0x1F',
            '1e3',
            '😀',
          ],
          [`key-${v.text}`]: 'y',
        } as never,
      }),
      ...onlyIf(v.flag, [ResourceQuota({ metadata: { name: 'q', namespace: release.namespace } })]),
    ],
  });
  const place = await write('types', made, operator);
  const samples = [
    { group: {} },
    { text: 'b"c\\d: #', count: 3, ratio: 1e-7, flag: true, list: ['', 'x: y'], map: { a: 'true', own: 'no' } },
    { maybe: 0, far: {}, group: { name: 'h' } },
    { maybe: 5, far: { deep: 'sea' }, map: {} },
  ];
  for (const [index, given] of samples.entries()) {
    const file = await valuesFile(`types-${index}`, given);
    const rendered = await objectsFromYaml(
      await helm('template', 'sample', place, '--namespace', 'shop', '--values', file),
    );
    const parsed = values.parse({ group: {}, ...given });
    expect(byName(rendered)).toEqual(byName(await made.objects(parsed, { ...site, operator })));
  }
});

/** A cluster, and the path of its kubeconfig. */
type Cluster = { readonly kubeconfig: string; stop(): Promise<void> };

async function sandboxCluster(): Promise<Cluster> {
  const sandbox = await Sandbox.start({ nodes: 3 });
  const { url, ca } = await sandbox.listen({ port: 0 });
  const kubeconfig = join(folder, 'sandbox.yaml');
  await writeFile(kubeconfig, adminKubeconfig({ url, token: sandbox.server.token, ca }), { mode: 0o600 });
  return { kubeconfig, stop: () => sandbox.stop() };
}

const clusters = {
  'the sandbox': sandboxCluster,
  'kube-apiserver': async (): Promise<Cluster> => ({
    kubeconfig: controlPlaneFromEnv().kubeconfigPath,
    stop: async () => {},
  }),
};

describe.each(Object.entries(clusters))('Helm on %s', (title, start) => {
  let cluster: Cluster;
  let client: ConnectedClient;
  beforeAll(async () => {
    cluster = await start();
    client = createClient(await loadConfig({ path: cluster.kubeconfig }), { runtime: { log: silentLogger } });
  });
  afterAll(async () => {
    await client?.close();
    await cluster?.stop();
  });

  test('installs, upgrades and uninstalls; definitions are upgraded and stay', async () => {
    const name = 'guarded-sites';
    const config = exampleOperator(name);
    const operator = await resolveOperator(config);
    const place = await write('installed', await defaultChart(config, operator), operator);
    const release = (...args: readonly string[]) =>
      helm(...args, '--kubeconfig', cluster.kubeconfig, '--namespace', 'helm-sites');
    // Only the sandbox has someone who makes Pods run.
    const wait = title === 'the sandbox' ? ['--wait'] : [];
    const notes = await release('install', 'sample', place, '--create-namespace', '--set', 'replicas=1', ...wait);
    expect(notes).toContain('guarded-sites 1.0.0 was installed in namespace helm-sites.');
    const key = { namespace: 'helm-sites', name };
    expect((await client.get(Deployment, key)).spec.replicas).toBe(1);
    const crd = { name: 'sites.guarded-sites.riata.dev' };
    expect((await client.get(CustomResourceDefinition, crd)).spec.versions.map((version) => version.name)).toEqual([
      'v2',
      'v1',
    ]);

    // The next version has another description in its definition.
    const [kind] = operator.kinds;
    const next = {
      ...operator,
      version: '1.1.0',
      kinds: [
        { ...kind, crd: () => ({ ...kind?.crd(), metadata: { ...kind?.crd().metadata, labels: { next: 'yes' } } }) },
      ],
    } as unknown as Operator;
    await rm(place, { recursive: true });
    await write('installed', await defaultChart(config, next), next);
    await release('upgrade', 'sample', place, '--set', 'replicas=2', ...wait);
    const upgraded = await client.get(Deployment, key);
    expect([upgraded.spec.replicas, upgraded.spec.template.spec?.containers[0]?.image]).toEqual([
      2,
      'registry.example.com/guarded-sites:1.1.0',
    ]);
    expect((await client.get(CustomResourceDefinition, crd)).metadata.labels).toMatchObject({ next: 'yes' });

    await release('uninstall', 'sample', ...wait);
    expect(
      await client.find(Deployment, key).then((found) => found?.metadata.deletionTimestamp ?? found),
    ).not.toMatchObject({
      kind: 'Deployment',
    });
    await client.get(CustomResourceDefinition, crd);
    await client.delete(CustomResourceDefinition, crd);
  });
});

test("deployment keeps a chart of one's own short", async () => {
  const config = exampleOperator('sample-controller');
  const operator = await resolveOperator(config);
  const made = chart(config, {
    values: z.object({ replicas: z.int().default(2), nodeSelector: z.record(z.string(), z.string()).optional() }),
    objects: (v, { release }) =>
      deployment(config, { namespace: release.namespace, replicas: v.replicas, pod: { nodeSelector: v.nodeSelector } }),
  });
  const place = await write('short', made, operator);
  await helm('lint', '--strict', place);
  const args = ['template', 'sample', place, '--namespace', 'shop', '--set', 'nodeSelector.disk=ssd'];
  const rendered = byName(await objectsFromYaml(await helm(...args)));
  expect(rendered).toEqual(
    byName(await made.objects({ replicas: 2, nodeSelector: { disk: 'ssd' } }, { ...site, operator })),
  );
});
