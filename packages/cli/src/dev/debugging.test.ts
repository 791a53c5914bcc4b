import { realpathSync } from 'node:fs';
import { join } from 'node:path';
import { createClient, loadConfig } from 'riata';
import { silentLogger } from 'riata/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { Debugger } from './debugger.fixture.js';
import { installCommand, startDev } from './dev-process.fixture.js';
import { type DevProject, makeDevProject, Widget, widgetOperator, widgetSource } from './dev-project.fixture.js';

let project: DevProject;
let program: string;
beforeAll(async () => {
  project = await makeDevProject(widgetOperator);
  program = await installCommand(project);
});
afterAll(() => project?.[Symbol.dispose]());

test('a breakpoint in the TypeScript of a reconciler is hit, also after a swap', async () => {
  const args = ['--types', 'off', '--no-dashboard', '--nodes', '0'];
  await using dev = startDev(project, program, args, { node: ['--inspect=127.0.0.1:0'] });
  const [, address = ''] = await dev.saw(/Debugger listening on (ws:\S+)/);
  using editor = await Debugger.connect(address);
  const [, path = ''] = await dev.saw(/^export KUBECONFIG=(.+)$/m);
  await dev.saw(/started widget in/);
  const file = join(realpathSync(project.folder), 'src/widgets.ts');
  // The line that makes `data`; the next version has another one before it.
  const lineOf = (source: string) => source.split('\n').findIndex((line) => line.includes('const data')) + 1;
  await editor.breakAt({ file, line: lineOf(widgetSource(0)) });
  await using client = createClient(await loadConfig({ path }), { runtime: { log: silentLogger } });
  const key = { namespace: 'default', name: 'a' };
  const first = await editor.stopped(() => client.create(Widget({ metadata: key, spec: { size: 3 } })));
  expect({ file: first.file, line: first.line }).toEqual({ file, line: lineOf(widgetSource(0)) });
  expect(await first.evaluate('object.spec.size')).toBe(3);
  await first.resume();

  const next = widgetSource(1).replace('    const data', '    const swapped = key.name;\n    const data');
  project.write('src/widgets.ts', next);
  await dev.saw(/replaced widget in/);
  await editor.breakAt({ file, line: lineOf(next) });
  const resize = () => client.patch(Widget, key, { type: 'merge', body: { spec: { size: 4 } } });
  const second = await editor.stopped(resize);
  expect({ file: second.file, line: second.line }).toEqual({ file, line: lineOf(widgetSource(0)) + 1 });
  expect(await second.evaluate('swapped')).toBe('a');
  await second.resume();
}, 180_000);
