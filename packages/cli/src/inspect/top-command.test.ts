import { PassThrough } from 'node:stream';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { memoryIo, runIn } from '../command/command-io.fixture.js';
import { runRiata } from '../command/run-riata.js';
import { type RunningOperator, reconcileSite, startOperator, until } from './running-operator.fixture.js';
import { topCommand } from './top-command.js';

const commands = [topCommand];
let operator: RunningOperator;
beforeAll(async () => {
  operator = await startOperator();
  await reconcileSite(operator, 'web');
  await reconcileSite(operator, 'bad', 'broken');
});
afterAll(() => operator[Symbol.asyncDispose]());

test('one frame', async () => {
  const { code, out } = await runIn('/', ['top', '--once', '--url', operator.url], { commands });
  expect(code).toBe(0);
  const lines = out.split('\n');
  for (const line of lines) expect([...line].length, line).toBeLessThanOrEqual(80);
  expect(lines[0]).toMatch(/1 replica, up \S+, riata \d/);
  expect(lines[1]).toMatch(/^memory \d+ MB, heap \d+ MB {2}\d\d:\d\d:\d\dZ$/);
  expect(out).toMatch(/^ {2}site +\d+\.\d +\d+\.\d/m);
  expect(out).toMatch(/^ {2}site default\/bad +\d+ +\S+ {2}Error: the title is broken/m);
  expect(out).toMatch(/^ {2}Site\.sites\.example\.com +2 +yes/m);
  expect(out).toMatch(/site +default\/web \(for Site Added\) → /);
});

test('JSON', async () => {
  const { out } = await runIn('/', ['top', '--json', '--url', operator.url], { commands });
  expect(JSON.parse(out)).toMatchObject({
    ...{ replicas: 1, controllers: [{ name: 'site', phase: 'running' }] },
    failing: [{ controller: 'site', key: 'default/bad', error: 'Error: the title is broken' }],
  });
});

test('without a terminal', async () => {
  const { code, notes } = await runIn('/', ['top', '--url', operator.url], { commands });
  expect({ code, notes }).toEqual({
    code: 1,
    notes: 'riata: riata top needs a terminal; print one frame with --once, or as JSON with --json',
  });
});

test('on a terminal: frames each second, arrows choose a controller, q quits', async () => {
  const input = new PassThrough();
  const output = new PassThrough();
  let written = '';
  output.setEncoding('utf8').on('data', (text: string) => {
    written += text;
  });
  const frames = () => written.split('\x1b[H').slice(1);
  const io = memoryIo({ cwd: '/', env: { NO_COLOR: '1' }, terminal: { input, output, columns: 80 } });
  const run = runRiata(['top', '--url', operator.url], io, { version: '0.0.0', commands });
  const frame = (count: number) => until(() => frames()[count - 1]);
  expect(await frame(1)).toContain('q quits');
  expect(written.startsWith('\x1b[?1049h')).toBe(true);
  // Drawn again by the clock alone.
  await frame(2);
  input.write('\x1b[B');
  await until(() => frames().find((each) => each.includes('› site')));
  input.write('\x1b[A');
  await until(() => (frames().at(-1)?.includes('› site') ? undefined : true));
  input.write('q');
  expect(await run).toBe(0);
  expect(written.endsWith('\x1b[?1049l\x1b[?25h')).toBe(true);
});
