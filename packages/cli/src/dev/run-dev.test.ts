import { existsSync, readFileSync } from 'node:fs';
import { createClient, defineKind, loadConfig } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { type DevProject, makeDevProject, widgetOperator } from './dev-project.fixture.js';

const patience = { timeout: 60_000, interval: 10 };
const Widget = defineKind({
  group: 'testing.riata.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ size: z.int() }),
});

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
  const ended = runRiata(['dev', '--types', 'off', '--nodes', '1'], io, { version: '0.0.0' });
  await vi.waitFor(() => expect(io.read().out).toMatch(/started widget, rules in \d+ ms/), patience);
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

test.each([
  [['--take-over'], 2, '--take-over requires --context or --kubeconfig: a sandbox has no deployed operator'],
  [['--nodes', 'many'], 2, '--nodes must be a number ≥ 0, got "many"'],
  [['--types', 'maybe'], 2, 'Allowed choices are revert, hold, show, off'],
])('riata dev %s is refused', async (args, code, message) => {
  const run = await runIn(project.folder, ['dev', ...args]);
  expect(run.code).toBe(code);
  expect(run.notes).toContain(message);
});
