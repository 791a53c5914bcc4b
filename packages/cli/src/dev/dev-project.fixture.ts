import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { defineKind } from 'riata';
import { rolldown } from 'rolldown';
import { z } from 'zod';

const repository = fileURLToPath(new URL('../../../../', import.meta.url));
const entries = [
  ...['index', 'client', 'controller', 'kinds', 'manager', 'object', 'patterns', 'rest', 'runtime', 'shared'],
  'webhook',
];

/** The kind of {@link widgetOperator}, as clients of the tests see it. */
export const Widget = defineKind({
  group: 'testing.riata.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ size: z.int() }),
});

/** A project beside installed packages, on disk; removed when it is disposed of. */
export interface DevProject extends Disposable {
  readonly folder: string;
  write(path: string, text: string): void;
}

/**
 * Makes a project as a user has it: `riata` and `@riata/cli` are packages in `node_modules`, so that builds of the project
 * leave them outside.
 */
export async function makeDevProject(files: Readonly<Record<string, string>>): Promise<DevProject> {
  const cache = join(repository, 'node_modules/.cache');
  mkdirSync(cache, { recursive: true });
  const root = mkdtempSync(join(cache, 'dev-project-'));
  const folder = join(root, 'project');
  const write = (path: string, text: string) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    writeFileSync(file, text);
  };
  const source = (name: string) =>
    join(repository, 'packages/riata/src', name === 'index' ? 'index.ts' : `${name}/index.ts`);
  await install(
    join(root, 'node_modules/riata'),
    'riata',
    Object.fromEntries(entries.map((name) => [name, source(name)])),
  );
  await install(join(root, 'node_modules/@riata/cli'), '@riata/cli', {
    index: join(repository, 'packages/cli/src/config/operator.ts'),
  });
  for (const [path, text] of Object.entries(files)) write(path, text);
  return { folder, write, [Symbol.dispose]: () => rmSync(root, { recursive: true, force: true }) };
}

async function install(folder: string, name: string, input: Readonly<Record<string, string>>): Promise<void> {
  const build = await rolldown({
    input,
    platform: 'node',
    external: name === 'riata' ? [/^(?:yaml|zod|prom-client)/] : [/^riata(?:\/|$)/],
    transform: { target: 'node20' },
    logLevel: 'silent',
  });
  await build.write({ dir: folder, format: 'esm', entryFileNames: '[name].mjs', chunkFileNames: '[name]-[hash].mjs' });
  await build.close();
  const paths = Object.keys(input).map((each) => [each === 'index' ? '.' : `./${each}`, `./${each}.mjs`]);
  const exports = { ...Object.fromEntries(paths), './package.json': './package.json' };
  writeFileSync(join(folder, 'package.json'), JSON.stringify({ name, version: '0.1.0', type: 'module', exports }));
}

/** A controller for Widgets that writes down which version of it has run; others have other watches and indexes. */
export function widgetSource(version: number): string {
  const watch = `.watches(Secret, ({ metadata }) => [{ namespace: metadata.namespace, name: metadata.name }])`;
  const field = `by-${version % 3}`;
  return `import { control } from 'riata';
import { ConfigMap, Secret } from 'riata/kinds';
import { Widget } from './widget.js';

export const widgets = control(Widget)
  .owns(ConfigMap)
  .indexes(ConfigMap, '${field}', ({ metadata }) => [metadata.name])
  ${version % 5 === 2 ? watch : ''}
  .reconcile(async ({ key, object, client, apply }) => {
    const data = { version: '${version}', size: String(object.spec.size) };
    await apply(ConfigMap({ metadata: { name: key.name }, data }));
    const { items } = await client.list(ConfigMap, { fieldSelector: { '${field}': key.name } });
    if (items.length !== 1) throw new Error('the index misses ' + key.name);
  });
`;
}

/** An operator for Widgets. */
export const widgetOperator: Readonly<Record<string, string>> = {
  'package.json': JSON.stringify({ name: 'widget-operator', version: '1.0.0', type: 'module' }),
  'riata.config.ts': `import { operator } from '@riata/cli';

export default operator({
  name: 'widget-operator',
  image: 'registry.example.com/widget-operator',
  run: () => import('./src/main.js'),
});
`,
  'src/main.ts': `import { isMain, run } from 'riata';
import { widgets } from './widgets.js';

export const definitions = [widgets];

if (isMain(import.meta.url)) await run(...definitions);
`,
  'src/widget.ts': `import { defineKind } from 'riata';
import { z } from 'zod';

export const Widget = defineKind({
  group: 'testing.riata.dev',
  version: 'v1',
  kind: 'Widget',
  spec: z.object({ size: z.int().default(1) }),
  status: z.object({ size: z.int() }),
});
`,
  'src/widgets.ts': widgetSource(0),
};
