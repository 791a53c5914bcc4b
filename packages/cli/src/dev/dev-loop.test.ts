import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { TestEnvironment } from '@riata/testing';
import { ConfigMap } from 'riata/kinds';
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { memoryIo } from '../command/command-io.fixture.js';
import { DevLoop } from './dev-loop.js';
import { type DevProject, makeDevProject, Widget, widgetOperator, widgetSource } from './dev-project.fixture.js';
import { RunningOperator } from './running-operator.js';
import { TypeChecker, type TypeMode } from './types/type-checker.js';

const names = ['a', 'b', 'c', 'd'];
const inDefault = (name: string) => ({ namespace: 'default', name });
const patience = { timeout: 60_000, interval: 5 };

let project: DevProject;
beforeAll(async () => {
  project = await makeDevProject(widgetOperator);
});
afterAll(() => project?.[Symbol.dispose]());

/** The loop in a project, on a server that counts requests. */
async function developing(given: { readonly types?: TypeMode } = {}) {
  const env = await TestEnvironment.start({ server: 'in-process', time: 'real' });
  const stop = new AbortController();
  const lines: string[] = [];
  const note = (line: string) => void lines.push(line);
  const io = { ...memoryIo({ cwd: project.folder }), out: note, note, signal: stop.signal };
  const { config } = env.connect({ name: 'operator' });
  const running = new RunningOperator({
    optionsFor: ({ options }) => ({ ...options, config, runtime: io.runtime, webhooks: { port: 0 } }),
    onEnd: ({ reason }) => note(`ended: ${reason}`),
  });
  const { types = 'off' } = given;
  const checker = types === 'off' ? undefined : TypeChecker.of(project.folder);
  const ended = new DevLoop({ io, project: {}, running, types, checker }).run();
  const close = async () => {
    stop.abort();
    await ended;
    await running[Symbol.asyncDispose]();
    await checker?.[Symbol.asyncDispose]();
    await env[Symbol.asyncDispose]();
  };
  const saw = (text: string | RegExp) => vi.waitFor(() => expect(lines.join('\n')).toMatch(text), patience);
  return { env, lines, running, saw, [Symbol.asyncDispose]: close };
}

/** The version of the code that has last reconciled an object, with the size that it saw. */
const stateOf = async (env: TestEnvironment, name: string) => {
  const { data } = (await env.client.find(ConfigMap, inDefault(name))) ?? {};
  return `${data?.version} ${data?.size}`;
};

test('fifty edits while objects change: the newest code that works always runs, and no cache is filled again', async () => {
  project.write('src/widgets.ts', widgetSource(0));
  await using dev = await developing();
  const { env, lines } = dev;
  await dev.saw(/started widget in/);
  for (const name of names) await env.client.create(Widget({ metadata: inDefault(name), spec: {} }));
  await vi.waitFor(async () => expect(await stateOf(env, 'a')).toBe('0 1'), patience);
  const reads = (kind: string) =>
    env.requests.all.filter(({ verb, object }) => (verb === 'list' || verb === 'watch') && object.startsWith(kind))
      .length;
  const before = { widgets: reads('Widget'), maps: reads('ConfigMap') };
  let newest = 0;
  for (let version = 1; version <= 50; version += 1) {
    const name = names[version % names.length] ?? '';
    const changed = env.client.patch(Widget, inDefault(name), { type: 'merge', body: { spec: { size: version } } });
    lines.length = 0;
    if (version % 7 === 3) {
      project.write('src/widgets.ts', `${widgetSource(version)}\nconst = ;\n`);
      await dev.saw('the code before runs on');
      expect(lines.join('\n')).toMatch(/src\/widgets\.ts:16:7: .*\n[\s\S]*const = ;/);
    } else if (version % 11 === 5) {
      project.write(
        'src/widgets.ts',
        `${widgetSource(version)}\nif (widgets.name !== '') throw new Error('broken ${version}');\n`,
      );
      await dev.saw('the code before runs on');
      expect(lines.join('\n')).toMatch(`broken ${version}`);
    } else {
      project.write('src/widgets.ts', widgetSource(version));
      newest = version;
    }
    await changed;
    await vi.waitFor(async () => expect(await stateOf(env, name)).toBe(`${newest} ${version}`), patience);
  }
  project.write('src/widgets.ts', widgetSource(51));
  for (const name of names) {
    const { spec } = await env.client.get(Widget, inDefault(name));
    await vi.waitFor(async () => expect(await stateOf(env, name)).toBe(`51 ${spec.size}`), patience);
  }
  expect({ widgets: reads('Widget'), maps: reads('ConfigMap') }).toEqual(before);
  expect(dev.running.manager?.explain.filter(({ outcome }) => outcome === 'error')).toEqual([]);
}, 300_000);

test('definitions come and go, a changed kind is installed, and changed options start the manager anew', async () => {
  project.write('src/widgets.ts', widgetSource(1));
  await using dev = await developing();
  const { env } = dev;
  await dev.saw(/started widget in/);
  const main = widgetOperator['src/main.ts'] ?? '';
  project.write(
    'src/main.ts',
    main
      .replace('definitions = [widgets]', "definitions = [widgets, { ...widgets, name: 'second' }]")
      .replace('import { isMain', "import './other.js';\nimport { isMain"),
  );
  await dev.saw(/src\/main\.ts:1:8: .*other\.js/);
  project.write('src/other.ts', 'export {};\n');
  await dev.saw(/started second; replaced widget in/);
  const kind = widgetOperator['src/widget.ts'] ?? '';
  project.write('src/widget.ts', kind.replace('z.int().default(1)', 'z.int().default(7)'));
  await vi.waitFor(async () => {
    await env.client.create(Widget({ metadata: inDefault('e'), spec: {} }));
    await env.client.delete(Widget, inDefault('e'));
  }, patience);
  await vi.waitFor(async () => {
    const { spec } = await env.client.create(Widget({ metadata: inDefault('f'), spec: {} }), { dryRun: true });
    expect(spec.size).toBe(7);
  }, patience);
  dev.lines.length = 0;
  project.write('src/main.ts', `${main}export const options = { gracefulTimeout: '5s' } as const;\n`);
  await dev.saw(/manager started anew, as its options have changed; started widget in/);
  project.write('src/widget.ts', kind);
}, 180_000);

test('the build has source maps that lead to the files of the project', async () => {
  project.write('src/main.ts', widgetOperator['src/main.ts'] ?? '');
  project.write('src/widgets.ts', widgetSource(2));
  await using dev = await developing();
  await dev.saw(/started widget in/);
  const { bundleSource } = await import('../config/bundle-source.js');
  const cacheDir = join(project.folder, 'node_modules/.cache/riata/config');
  const { file } = await bundleSource({ entry: join(project.folder, 'riata.config.ts'), cacheDir });
  const folder = join(file, '..');
  const chunk = readFileSync(file, 'utf8').match(/import\("\.\/([^"]+)"\)/)?.[1] ?? '';
  const code = readFileSync(join(folder, chunk), 'utf8');
  const map = JSON.parse(readFileSync(join(folder, code.match(/sourceMappingURL=(.+)/)?.[1] ?? ''), 'utf8'));
  expect((map.sources as string[]).map((path) => join(folder, path))).toContain(join(project.folder, 'src/widgets.ts'));
}, 180_000);

test.each(['hold', 'revert', 'show'] as const)(
  'type errors are shown; --types %s',
  async (types) => {
    const tsconfig = {
      compilerOptions: { strict: true, noLib: true, types: [], noResolve: true },
      files: ['src/library.d.ts', 'src/checked.ts', 'src/checked.test.ts'],
    };
    project.write('tsconfig.json', JSON.stringify(tsconfig));
    // Without a library, as that takes a second to check.
    const globals = ['Array<T>', 'Boolean', 'CallableFunction', 'Function', 'IArguments', 'NewableFunction', 'Number'];
    const library = [...globals, 'Object', 'RegExp', 'String'].map((name) => `interface ${name} {}`);
    project.write('src/library.d.ts', library.join('\n'));
    project.write('src/checked.ts', `export const text: string = 'one';\n`);
    project.write('src/checked.test.ts', `export const text: string = 'one';\n`);
    project.write('src/main.ts', `import './checked.js';\n${widgetOperator['src/main.ts']}`);
    project.write('src/widgets.ts', widgetSource(1));
    await using dev = await developing({ types });
    const { env, lines } = dev;
    await dev.saw(/started widget in/);
    await env.client.create(Widget({ metadata: inDefault('a'), spec: {} }));
    await vi.waitFor(async () => expect(await stateOf(env, 'a')).toBe('1 1'), patience);
    lines.length = 0;
    project.write('src/checked.ts', `export const text: string = 1;\n`);
    project.write('src/widgets.ts', widgetSource(2));
    await dev.saw(
      /src\/checked\.ts:1:14 - error TS2322: Type 'number' is not assignable to type 'string'\.\n {2}export const text: string = 1;\n {15}~~~~/,
    );
    const runs = { revert: '1 1', hold: '1 1', show: '2 1' }[types];
    await vi.waitFor(async () => expect(await stateOf(env, 'a')).toBe(runs), patience);
    if (types === 'hold') {
      expect(lines.join('\n')).not.toMatch('replaced');
      project.write('src/widgets.ts', widgetSource(1));
      project.write('src/checked.ts', `export const text: string = 'one';\n`);
      await dev.saw('no errors; the code that runs is up to date');
      project.write('src/widgets.ts', widgetSource(2));
    }
    project.write('src/checked.ts', `export const text: string = 'two';\n`);
    await vi.waitFor(async () => expect(await stateOf(env, 'a')).toBe('2 1'), patience);
    // Tests are no part of the operator.
    project.write('src/checked.test.ts', `export const text: string = 2;\n`);
    project.write('src/widgets.ts', widgetSource(3));
    await dev.saw(/src\/checked\.test\.ts:1:14 - error TS2322[\s\S]*type errors in tests alone: the new code runs/);
    await vi.waitFor(async () => expect(await stateOf(env, 'a')).toBe('3 1'), patience);
  },
  180_000,
);
