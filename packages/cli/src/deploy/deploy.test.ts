import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { adminKubeconfig } from '@riata/apiserver';
import { type PodFate, Sandbox } from '@riata/sandbox';
import { defineKind } from 'riata';
import {
  ClusterRole,
  ClusterRoleBinding,
  ConfigMap,
  CustomResourceDefinition,
  Deployment,
  Namespace,
  Node,
  ResourceQuota,
  ServiceAccount,
  ValidatingWebhookConfiguration,
} from 'riata/kinds';
import { installCrds } from 'riata/patterns';
import { type Clock, defaultRuntime, type Scheduler, silentLogger } from 'riata/runtime';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { z } from 'zod';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import type { CommandIo } from '../command/command-io.js';
import { loadOperator } from '../config/load-operator.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';
import { withImage } from './run-deploy.js';

const Backup = defineKind({ group: 'backups.example.com', version: 'v1', kind: 'Backup', spec: z.object({}) });
const site = {
  apiVersion: 'sites.example.com/v1',
  kind: 'Site',
  metadata: { namespace: 'default', name: 'blog' },
  spec: { image: 'web' },
};

/** Time that passes by waiting alone, and fast: the cluster is in this process, so each look at it is a turn for both. */
function impatientClock(): Scheduler & Clock {
  const { clock } = defaultRuntime();
  let waited = 0;
  return {
    now: () => clock.now(),
    monotonic: () => clock.monotonic() + waited,
    after: (ms, work, options) => clock.after(ms, work, options),
    sleep: (ms, options) => {
      waited += ms;
      return clock.sleep(Math.min(ms, 20), options);
    },
    yield: () => clock.yield(),
  };
}

/** What becomes of Pods from now on. */
let fate: PodFate | undefined;
let sandbox: Sandbox;
const project = makeProject(siteOperator);
const kubeconfig = join(project.folder, 'kubeconfig');

// All tests share one cluster: each continues where the previous one stopped.
beforeAll(async () => {
  sandbox = await Sandbox.start({ nodes: 1, fate: () => fate });
  const { url, ca } = await sandbox.server.listen();
  writeFileSync(kubeconfig, adminKubeconfig({ url, ca, token: sandbox.server.token }));
});
afterAll(async () => {
  await sandbox?.[Symbol.asyncDispose]();
  project[Symbol.dispose]();
});

function run(command: string, args: readonly string[] = [], io: Partial<CommandIo> = {}) {
  const runtime = { ...defaultRuntime(), log: silentLogger, clock: impatientClock() };
  const shared = ['--kubeconfig', kubeconfig, ...conditions.flatMap((each) => ['--conditions', each])];
  return runIn(project.folder, [command, ...shared, ...args], { runtime, ...io });
}

const key = { namespace: 'site-operator', name: 'site-operator' };
const crd = { name: 'sites.sites.example.com' };
const image = (tag: string) => ['--image', `registry.example.com/site-operator:${tag}`];

describe('riata deploy', () => {
  test('shows a plan and changes nothing without an answer', async () => {
    const dry = await run('deploy', ['--dry-run']);
    expect(dry).toMatchObject({ code: 0, out: expect.stringMatching(/\d+ to create$/) });
    expect(dry.out.split('\n')).toEqual(
      expect.arrayContaining([
        '+ create Namespace site-operator',
        '+ create CustomResourceDefinition sites.sites.example.com',
        '+ create Deployment site-operator/site-operator',
      ]),
    );
    expect(await run('deploy')).toMatchObject({
      code: 2,
      notes: 'riata: needs a confirmation, and there is no terminal to ask; give --yes',
    });
    const input = new PassThrough();
    const output = new PassThrough();
    output.on('data', (text) => {
      // Not while it is written: then there is no reader yet.
      if (String(text).includes('● No')) setImmediate(() => input.write('n'));
    });
    const refused = await run('deploy', [], { terminal: { input, output, columns: 80 } });
    expect(refused).toMatchObject({ code: 130, notes: 'riata: nothing was changed' });
    expect(await sandbox.client.find(Namespace, { name: 'site-operator' })).toBeUndefined();
  });

  test('applies it, waits, and has nothing to do the second time', async () => {
    expect(await run('deploy', ['--yes'])).toMatchObject({
      code: 0,
      notes: expect.stringMatching(/site-operator is ready$/),
    });
    expect((await sandbox.client.get(Deployment, key)).status.availableReplicas).toBe(1);
    await sandbox.client.create(site); // the definition is served
    expect(await run('deploy')).toMatchObject({ code: 0, out: 'nothing to change', notes: 'site-operator is ready' });
    const json = await run('deploy', ['--yes', '--json', ...image('2')]);
    expect(JSON.parse(json.out)).toMatchObject({
      ...{ applied: true, ready: true, namespace: 'site-operator', problems: [] },
      changes: [
        {
          ...{ action: 'update', object: 'Deployment site-operator/site-operator' },
          diff: [
            expect.stringMatching(
              /image: "registry.example.com\/site-operator:1\.2\.3" → "registry.example.com\/site-operator:2"/,
            ),
          ],
        },
      ],
    });
  });

  test.each([
    [
      'an image that does not exist',
      { pullFails: 'registry.example.com/site-operator:3: not found' },
      /cannot pull the image "registry.example.com\/site-operator:3": ErrImagePull: .*not found\n {2}push it first: riata image --push/,
    ],
    [
      'a program that crashes',
      { endsAfter: '0s', exitCode: 3 } as const,
      /container operator crashes: it exited with code 3\n {2}correct what its log says/,
    ],
    [
      'a probe that fails',
      { readyAfter: 'never' } as const,
      /runs, but is not ready\n {2}its \/readyz lists what it waits for/,
    ],
  ])('explains %s', async (_, next, expected) => {
    fate = next;
    const { code, notes } = await run('deploy', [
      '--yes',
      '--timeout',
      '60s',
      ...image('pullFails' in next ? '3' : 'exitCode' in next ? '4' : '5'),
    ]);
    expect(notes).toMatch(
      /riata: site-operator is deployed, but not ready\nPod site-operator\/site-operator-\w+-\w+: /,
    );
    expect(notes).toMatch(expected);
    expect(code).toBe(1);
  });

  test('explains a quota that is exceeded', async () => {
    fate = undefined;
    const quota = { namespace: 'site-operator', name: 'small' };
    await sandbox.client.create(ResourceQuota({ metadata: quota, spec: { hard: { pods: '0' } } }));
    const { notes } = await run('deploy', ['--yes', '--timeout', '60s', ...image('6')]);
    expect(notes).toMatch(/its Pods cannot be created: .*exceeded quota: small.*\n {2}raise the ResourceQuota small/);
    await sandbox.client.delete(ResourceQuota, quota);
  });

  test('explains Pods that fit on no node', async () => {
    const { items } = await sandbox.client.list(Node);
    const cordon = (unschedulable: boolean) =>
      Promise.all(
        items.map(({ metadata }) =>
          sandbox.client.patch(Node, metadata, { type: 'merge', body: { spec: { unschedulable } } }),
        ),
      );
    await cordon(true);
    const { notes } = await run('deploy', ['--yes', '--timeout', '60s', ...image('7')]);
    expect(notes).toMatch(/cannot be scheduled: .*\n {2}add nodes, or change resources/);
    await cordon(false);
    expect(await run('deploy', ['--yes', ...image('7')])).toMatchObject({ code: 0 });
  });

  test('deletes what is no longer part of it, but no definition and no namespace', async () => {
    using slim = makeProject({
      ...siteOperator,
      'riata.config.ts': `import { deployment, operator } from '@riata/cli';
export default operator({
  name: 'site-operator', image: 'registry.example.com/site-operator', run: () => import('./src/main.js'),
  objects: (operator) => deployment(operator, { crds: false, createNamespace: false, networkPolicy: false }),
});`,
    });
    const again = await run('deploy', ['--yes', ...image('7'), '--config', join(slim.folder, 'riata.config.ts')]);
    expect(again).toMatchObject({ code: 0, out: '- delete NetworkPolicy site-operator/site-operator\n1 to delete' });
    expect(await sandbox.client.find(Namespace, { name: 'site-operator' })).toBeDefined();
    expect(await sandbox.client.find(CustomResourceDefinition, crd)).toBeDefined();
  });

  test('refuses a malformed timeout, and an image that is for no container', async () => {
    expect(await run('deploy', ['--timeout', 'soon'])).toMatchObject({
      ...{ code: 2, notes: 'riata: --timeout must be a duration such as 90s or 5m, got "soon"' },
    });
    expect(() => withImage([], 'registry.example.com/site-operator', 'x')).toThrow(
      '--image: no container of a Deployment has the image registry.example.com/site-operator',
    );
  });
});

describe('riata undeploy', () => {
  test('leaves the operator in place while finalizers wait for it', async () => {
    const finalized = {
      ...site,
      metadata: { ...site.metadata, name: 'kept', finalizers: ['sites.example.com/cleanup'] },
    };
    await sandbox.client.create(finalized);
    const { code, notes } = await run('undeploy', ['--yes', '--crds', '--timeout', '10s']);
    expect(code).toBe(1);
    expect(notes).toContain(
      'objects have finalizers: default/kept (sites.example.com/cleanup); the operator still runs',
    );
    expect(await sandbox.client.find(Deployment, key)).toBeDefined();
    // What the operator does.
    const [Site] = (await loadOperator(memoryIo({ cwd: project.folder }), { conditions })).operator.kinds;
    await sandbox.client.patch(Site as never, finalized.metadata as never, {
      type: 'merge',
      body: { metadata: { finalizers: null } },
    });
    await run('undeploy', ['--yes', '--crds']);
    expect(await sandbox.client.find(CustomResourceDefinition, crd)).toBeUndefined();
    expect(await run('undeploy')).toMatchObject({
      code: 0,
      out: 'site-operator is not deployed to the namespace site-operator',
    });
  });

  test('removes the operator and nothing else', async () => {
    // The namespace of the test before may still be on its way out.
    while ((await sandbox.client.find(Namespace, { name: 'site-operator' })) !== undefined)
      await defaultRuntime().clock.sleep(20);
    await sandbox.client.create(ConfigMap({ metadata: { namespace: 'default', name: 'other' } }));
    expect(await run('deploy', ['--yes'])).toMatchObject({ code: 0 });
    await sandbox.client.create(site);
    await sandbox.client.create(ConfigMap({ metadata: { namespace: 'site-operator', name: 'mine' } }));
    // Of a kind that nothing here knows.
    await installCrds(sandbox.client, [Backup]);
    await sandbox.client.create(Backup({ metadata: { namespace: 'site-operator', name: 'mine' }, spec: {} }));
    const dry = await run('undeploy', ['--dry-run', '--crds']);
    const lines = dry.out.split('\n');
    const first = lines.indexOf('- delete CustomResourceDefinition sites.sites.example.com with 1 object');
    expect(first).toBeGreaterThanOrEqual(0);
    expect(first).toBeLessThan(lines.indexOf('- delete Deployment site-operator/site-operator'));
    const { code, out } = await run('undeploy', ['--yes', '--json']);
    expect(code).toBe(0);
    expect(JSON.parse(out)).toMatchObject({
      applied: true,
      objects: { 'sites.sites.example.com': 1 },
      kept: [
        'CustomResourceDefinition sites.sites.example.com with 1 object',
        'Namespace site-operator: it still holds Backup mine, ConfigMap mine',
      ],
    });
    expect(await sandbox.client.find(Deployment, key)).toBeUndefined();
    expect(await sandbox.client.find(ServiceAccount, key)).toBeUndefined();
    expect(await sandbox.client.find(ConfigMap, { namespace: 'default', name: 'other' })).toBeDefined();
    expect((await sandbox.client.get(Namespace, { name: 'site-operator' })).metadata.deletionTimestamp).toBeUndefined();
  });

  test('says which kinds cannot be listed, keeps a namespace that may hold some, and refuses to miss its own', async () => {
    const role = { metadata: { name: 'undeployer' } };
    const rule = (apiGroups: readonly string[], resources: readonly string[]) => ({
      apiGroups,
      resources,
      verbs: ['*'],
    });
    const core = ['namespaces', 'services', 'serviceaccounts', 'pods', 'configmaps', 'persistentvolumeclaims'];
    const groups = (await sandbox.client.mapper.resources()).groups
      .map(({ name }) => name)
      .filter((name) => name !== '');
    const rules = [rule([''], core), rule(groups, ['*'])];
    await sandbox.client.create(ClusterRole({ ...role, rules }));
    await sandbox.client.create(
      ClusterRoleBinding({
        ...role,
        roleRef: { apiGroup: 'rbac.authorization.k8s.io', kind: 'ClusterRole', name: 'undeployer' },
        subjects: [{ apiGroup: 'rbac.authorization.k8s.io', kind: 'User', name: 'ann' }],
      }),
    );
    const asAnn = join(project.folder, 'ann');
    const config = JSON.parse(readFileSync(kubeconfig, 'utf8'));
    config.users[0].user.as = 'ann';
    writeFileSync(asAnn, JSON.stringify(config));
    await sandbox.client.delete(ConfigMap, { namespace: 'site-operator', name: 'mine' });
    await sandbox.client.delete(Backup, { namespace: 'site-operator', name: 'mine' });
    expect(await run('deploy', ['--yes'])).toMatchObject({ code: 0 });
    // A later --kubeconfig replaces the first.
    const { code, notes, out } = await run('undeploy', ['--yes', '--json', '--kubeconfig', asAnn]);
    expect({ code, notes }).toMatchObject({
      code: 0,
      notes: expect.stringMatching(
        /^cannot look for .*limitranges.* and \d+ more: you may not list them; if the operator has any, they stay$/m,
      ),
    });
    expect(JSON.parse(out)).toMatchObject({
      unlisted: { secrets: 'you may not list them' },
      kept: expect.arrayContaining([
        expect.stringMatching(/^Namespace site-operator: it may hold .*and \d+ more: you may not list them$/),
      ]),
    });
    expect(await sandbox.client.find(Deployment, key)).toBeUndefined();

    await run('deploy', ['--yes']);
    const fewer = [
      rule([''], core),
      rule(
        groups.filter((name) => name !== 'apps'),
        ['*'],
      ),
    ];
    await sandbox.client.patch(ClusterRole, role.metadata, { type: 'merge', body: { rules: fewer } });
    const blind = await run('undeploy', ['--yes', '--kubeconfig', asAnn]);
    expect(blind).toMatchObject({ code: 1, out: '' });
    expect(blind.notes).toMatch(/list Deployment \*: you have no right to list deployments/);
    expect(await sandbox.client.find(Deployment, key)).toBeDefined();
  });

  test('takes webhook configurations first; those that nobody answers are explained before', async () => {
    const main = `import { admit } from 'riata/webhook';
import { Site } from './site.js';
import { sites } from './sites.js';
export const definitions = [sites, admit(Site).validates(() => {})];
`;
    using checked = makeProject({ ...siteOperator, 'src/main.ts': main });
    const config = ['--config', join(checked.folder, 'riata.config.ts')];
    const { code, notes } = await run('deploy', ['--yes', '--timeout', '60s', ...config]);
    // In the sandbox no operator runs that could write its certificate.
    expect(notes).toMatch(
      /ValidatingWebhookConfiguration \S+: webhook \S+ has no caBundle, so that API servers cannot trust it\n {2}the operator or cert-manager writes it/,
    );
    expect(code).toBe(1);
    const { out } = await run('undeploy', ['--yes', '--json', ...config]);
    expect(JSON.parse(out).deleted[0]).toMatch(/^ValidatingWebhookConfiguration /);
    expect((await sandbox.client.list(ValidatingWebhookConfiguration)).items).toEqual([]);
  });
});
