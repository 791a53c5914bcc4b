import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Sandbox } from '@riata/sandbox';
import { createClient, loadConfig } from 'riata';
import { ConfigMap, Deployment, Namespace } from 'riata/kinds';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { type DevProject, makeDevProject, Widget, widgetOperator } from './dev-project.fixture.js';
import { replicasAnnotation } from './take-over/give-back.js';

const patience = { timeout: 60_000, interval: 10 };

let project: DevProject;
beforeAll(async () => {
  project = await makeDevProject({
    ...widgetOperator,
    'src/main.ts': `import { admit } from 'riata/webhook';
import { Widget } from './widget.js';
import { widgets } from './widgets.js';

const rules = admit(Widget, { name: 'rules' }).validates(({ object, deny }) => {
  if (object.spec.size > 5) deny('too large');
});
export const definitions = [widgets, rules];
export const options = { leaderElection: { namespace: 'widget-operator', name: 'widget-operator' } };
`,
  });
});
afterAll(() => project?.[Symbol.dispose]());

test('riata dev: a sandbox for kubectl, with the operator and its webhooks in it, until Ctrl-C', async () => {
  const stop = new AbortController();
  const io = memoryIo({ cwd: project.folder, signal: stop.signal });
  project.write(
    'widget.yaml',
    'apiVersion: testing.riata.dev/v1\nkind: Widget\nmetadata: { name: given, namespace: default }\nspec: { size: 2 }\n',
  );
  const args = ['dev', '--types', 'off', '--nodes', '1', '--apply', 'widget.yaml', 'none.yaml'];
  const ended = runRiata(args, io, { version: '0.0.0' });
  await vi.waitFor(() => expect(io.read().out).toMatch(/started widget, rules in \d+ ms/), patience);
  await vi.waitFor(() => {
    expect(io.read().out).toContain('applied Widget default/given of widget.yaml');
    expect(io.read().out).toMatch(/^reconciled widget default\/given in \d+ ms: .*ConfigMap default\/given/m);
    expect(io.read().notes).toContain('none.yaml: cannot be applied: ');
  }, patience);
  const path = io.read().out.match(/^export KUBECONFIG=(.+)$/m)?.[1] ?? '';
  await using client = createClient(await loadConfig({ path }));
  const key = { namespace: 'default', name: 'a' };
  await vi.waitFor(async () => {
    const refused = client.create(Widget({ metadata: key, spec: { size: 6 } }), { dryRun: true });
    await expect(refused).rejects.toThrow('too large');
  }, patience);
  const main = readFileSync(`${project.folder}/src/main.ts`, 'utf8');
  project.write('src/main.ts', main.replace('too large', 'much too large'));
  await vi.waitFor(async () => {
    const refused = client.create(Widget({ metadata: key, spec: { size: 6 } }), { dryRun: true });
    await expect(refused).rejects.toThrow('much too large');
  }, patience);
  await client.create(Widget({ metadata: key, spec: {} }));
  await vi.waitFor(
    async () => expect((await client.get(ConfigMap, key)).data).toEqual({ version: '0', size: '1' }),
    patience,
  );
  stop.abort();
  expect(await ended).toBe(0);
  expect(existsSync(path)).toBe(false);
  expect(io.read().notes).not.toMatch('ended');
}, 180_000);

test('riata dev --take-over: the deployed operator rests until Ctrl-C, and --give-back starts it after a crash', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'riata-dev-'));
  await using sandbox = await Sandbox.start({ nodes: 1 });
  const admin = sandbox.server.as({ user: 'admin', groups: ['system:masters'] });
  const path = join(folder, 'kubeconfig');
  writeFileSync(path, admin.kubeconfig(await sandbox.listen()));
  const key = { namespace: 'widget-operator', name: 'widget-operator' };
  const labels = { app: 'widget-operator' };
  const containers = [{ name: 'main', image: 'registry.example.com/widget-operator' }];
  await sandbox.client.create(Namespace({ metadata: { name: key.namespace } }));
  await sandbox.client.create(
    Deployment({
      metadata: key,
      spec: {
        replicas: 2,
        selector: { matchLabels: labels },
        template: { metadata: { labels }, spec: { containers } },
      },
    }),
  );
  const replicas = async () => (await sandbox.client.get(Deployment, key)).spec?.replicas;
  const stop = new AbortController();
  const io = memoryIo({ cwd: project.folder, signal: stop.signal });
  const args = ['dev', '--types', 'off', '--kubeconfig', path, '--webhook-host', '127.0.0.1'];
  const ended = runRiata([...args, '--take-over'], io, { version: '0.0.0' });
  await vi.waitFor(() => expect(io.read().out).toMatch(/started widget, rules in \d+ ms/), patience);
  expect(await replicas()).toBe(0);
  // It leads, as nothing else does, and its webhooks are called.
  const widget = { namespace: 'default', name: 'a' };
  await vi.waitFor(async () => {
    const refused = sandbox.client.create(Widget({ metadata: widget, spec: { size: 6 } }), { dryRun: true });
    await expect(refused).rejects.toThrow('too large');
  }, patience);
  await sandbox.client.create(Widget({ metadata: widget, spec: {} }));
  await vi.waitFor(() => sandbox.client.get(ConfigMap, widget), patience);
  const refused = await runIn(project.folder, [...args, '--give-back'], { env: { RIATA_DEV_HOLDER: 'bob' } });
  expect(refused.notes).toMatch('widget-operator/widget-operator is taken over by riata dev of');
  stop.abort();
  expect(await ended).toBe(0);
  expect(await replicas()).toBe(2);
  const metadata = { annotations: { [replicasAnnotation]: '3' } };
  await sandbox.client.patch(Deployment, key, { type: 'merge', body: { metadata, spec: { replicas: 0 } } });
  const given = await runIn(project.folder, [...args, '--give-back']);
  expect(given).toMatchObject({ code: 0 });
  expect(given.out).toMatch('Deployment widget-operator/widget-operator has its replicas again');
  expect(await replicas()).toBe(3);
  rmSync(folder, { recursive: true, force: true });
}, 180_000);

test.each([
  [['--take-over'], 2, '--take-over requires --context or --kubeconfig: a sandbox has no deployed operator'],
  [['--nodes', 'many'], 2, '--nodes must be a number ≥ 0, got "many"'],
  [['--no-dashbord'], 2, 'Did you mean --no-dashboard?'],
  [['--take-over=leese', '--context', 'a'], 2, 'Allowed choices are scale, lease'],
  [['--types', 'maybe'], 2, 'Allowed choices are hold, revert, show, off'],
])('riata dev %s is refused', async (args, code, message) => {
  const run = await runIn(project.folder, ['dev', ...args]);
  expect(run.code).toBe(code);
  expect(run.notes).toContain(message);
});
