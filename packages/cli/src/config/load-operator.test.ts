import { join } from 'node:path';
import { expect, test } from 'vitest';
import { memoryIo } from '../command/command-io.fixture.js';
import { loadOperator, loadProjectConfig } from './load-operator.js';
import { conditions, makeProject, siteOperator } from './project.fixture.js';

const load = (cwd: string, config?: string) =>
  loadOperator(memoryIo({ cwd }), { conditions, ...(config && { config }) });

test('an operator, from a folder below its config', async () => {
  using project = makeProject(siteOperator);
  const { operator, folder, sources } = await load(join(project.folder, 'src'));
  expect(folder).toBe(project.folder);
  expect(operator).toMatchObject({
    name: 'site-operator',
    image: 'registry.example.com/site-operator',
    version: '1.2.3',
    namespace: 'site-operator',
    description: 'Runs sites.',
    controllers: [{ name: 'site' }],
    webhooks: [],
    rights: [],
  });
  expect(operator.kinds.map((kind) => kind.crd().metadata?.name)).toEqual(['sites.sites.example.com']);
  const own = sources.filter((path) => path.startsWith(`${project.folder}/`));
  expect(own.map((path) => path.slice(project.folder.length + 1))).toEqual([
    'riata.config.ts',
    'src/main.ts',
    'src/site.ts',
    'src/sites.ts',
  ]);
});

test('the config alone does not import the operator', async () => {
  using project = makeProject({ ...siteOperator, 'src/main.ts': `throw new Error('imported');` });
  const { config } = await loadProjectConfig(memoryIo({ cwd: project.folder }), { conditions });
  expect(config.name).toBe('site-operator');
  await expect(load(project.folder)).rejects.toThrow('imported');
});

test.each([
  ['a syntax error', { 'riata.config.ts': 'export default operator({' }, /riata\.config\.ts: cannot be loaded: /],
  ['another default export', { 'riata.config.ts': 'export default {}' }, /must be made by operator\(/],
  ['a module without definitions', { 'src/main.ts': 'export {};' }, /run\(\) gives no definitions; export const/],
  ['no definitions', { 'src/main.ts': 'export const definitions = [];' }, /definitions is empty/],
  [
    'options by another name',
    { 'src/main.ts': `${siteOperator['src/main.ts']}\nexport const managerOptions = {};` },
    /exports "managerOptions", which is not read; did you mean "options"\?/,
  ],
  ['a wrong one', { 'src/main.ts': 'export const definitions = [{}];' }, /definitions\[0\] is neither/],
])('%s is reported', async (_, files, message) => {
  using project = makeProject({ ...siteOperator, ...files });
  await expect(load(project.folder)).rejects.toThrow(message);
});

test('a folder without a config', async () => {
  await expect(load('/')).rejects.toThrow('no riata.config.ts in / or a folder above');
  await expect(load('/', 'other.ts')).rejects.toThrow('/other.ts: not found');
});
