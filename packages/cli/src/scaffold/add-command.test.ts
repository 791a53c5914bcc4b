import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { runIn } from '../command/command-io.fixture.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';

const project = () => makeProject(siteOperator);
const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');
const add = (folder: string, ...words: string[]) => {
  const found = words[0] === 'kind' || words[0] === 'version' ? [] : ['--conditions', ...conditions];
  return runIn(folder, ['add', ...words, ...found]);
};

// That all of it compiles and passes its tests is shown with the packed packages: tools/packed/create.check.ts.
test('all parts are written and wired in', async () => {
  using made = project();
  const { folder } = made;
  expect(await add(folder, 'kind', 'CronBackup', '--version', 'v1beta1')).toEqual({
    code: 0,
    out: [
      ...['created src/cron-backup.ts', 'created src/cron-backups.ts', 'created src/cron-backups.test.ts'],
      'changed src/main.ts',
    ].join('\n'),
    notes: '',
  });
  expect(await add(folder, 'kind', 'Tenant', '--group', 'tenants.example.com', '--cluster-scoped')).toMatchObject({
    code: 0,
  });
  const webhook = await add(folder, 'webhook', 'Site', '--json');
  expect(webhook).toMatchObject({ code: 0, notes: '' });
  expect(JSON.parse(webhook.out)).toEqual({
    created: ['src/site-rules.ts', 'src/site-rules.test.ts'],
    changed: ['src/main.ts'],
    notes: [],
  });
  expect(await add(folder, 'controller', 'Namespace')).toMatchObject({
    code: 0,
    notes: 'Namespace is built in, so its required fields are not known here and no test was written',
  });
  expect((await add(folder, 'version', 'Site', '--version', 'v2')).notes).toContain('run npm install');

  expect(read(folder, 'src/main.ts')).toBe(`import { isMain, run } from 'riata';
import { cronBackups } from './cron-backups.js';
import { namespaces } from './namespaces.js';
import { siteRules } from './site-rules.js';
import { siteVersions } from './site-versions.js';
import { sites } from './sites.js';
import { tenants } from './tenants.js';

export const definitions = [sites, cronBackups, tenants, siteRules, namespaces, siteVersions];

if (isMain(import.meta.url)) await run(...definitions);
`);
  expect(read(folder, 'src/cron-backup.ts')).toContain("group: 'sites.example.com',\n  version: 'v1beta1',");
  expect(read(folder, 'src/tenant.ts')).toContain("kind: 'Tenant',\n  scope: 'Cluster',");
  expect(read(folder, 'src/tenants.test.ts')).toContain("const key = { name: 'example' };");
  expect(read(folder, 'src/site-rules.test.ts')).toContain("spec: { image: 'example' } }");
  expect(JSON.parse(read(folder, 'package.json')).devDependencies).toEqual({ 'fast-check': '^4.10.2' });
  expect(read(folder, 'src/site.ts')).toBe(`import { defineKind, type KindOf, withVersion } from 'riata';
import { z } from 'zod';

/** A web site. */
const stored = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
});

/** Served as v2, too: the webhook converts it to the version that is stored, and back. */
export const Site = withVersion(stored, 'v2', {
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  up: ({ spec }) => ({ spec }),
  down: ({ spec }) => ({ spec }),
});
export interface Site extends KindOf<typeof Site> {}
`);
});

test('nothing is written if a file is in the way, or the main module has another shape', async () => {
  using made = project();
  const { folder } = made;
  const before = readdirSync(join(folder, 'src'));
  writeFileSync(join(folder, 'src/shops.ts'), 'export {};');
  expect(await add(folder, 'kind', 'Shop')).toEqual({
    code: 1,
    out: '',
    notes: 'riata: src/shops.ts exists already; nothing was written; rename or remove it first, or choose another name',
  });
  writeFileSync(join(folder, 'src/main.ts'), 'export const definitions = await load();');
  const refused = await add(folder, 'kind', 'Tenant');
  expect(refused.code).toBe(1);
  expect(refused.notes).toContain("import { tenants } from './tenants.js';");
  expect(readdirSync(join(folder, 'src')).filter((name) => name !== 'shops.ts')).toEqual(before);
  expect(await add(folder, 'kind', 'Tenant', '--no-wire')).toMatchObject({ code: 0 });
  expect(read(folder, 'src/main.ts')).toBe('export const definitions = await load();');
});

test.each([
  [['kind', 'shop'], 2, 'kind "shop" must be in PascalCase: letters and digits; e.g. "Shop"'],
  [['kind', 'Shop', '--version', '2'], 2, 'version "2" must have the form v1, v1beta1 or v2alpha3'],
  [['kind', 'Shop', '--group', 'shop'], 2, 'group "shop" must be a domain with a dot, e.g. "shop.example.com"'],
  [
    ['controller', 'Shop'],
    1,
    'kind "Shop" is neither defined in src/shop.ts nor built in; add it first: riata add kind Shop',
  ],
  [['version', 'Site'], 2, 'the new version is missing; give it: --version v2'],
  [['version', 'Site', '--version', 'v1'], 1, 'src/site.ts: cannot add v1: Site is of that version'],
  [['version', 'Shop', '--version', 'v2'], 1, 'src/shop.ts does not exist; add the kind first: riata add kind Shop'],
  [['kin', 'Shop'], 2, 'Allowed choices are kind, controller, webhook, version'],
])('%j is refused', async (words, code, message) => {
  using made = project();
  const run = await add(made.folder, ...words);
  expect(run).toMatchObject({ code, out: '' });
  expect(run.notes).toContain(message);
});

test('without a project, a config that cannot be followed, and without a group', async () => {
  using made = makeProject({ 'riata.config.ts': 'export default make();' });
  expect((await add(made.folder, 'kind', 'Shop')).notes).toContain(
    "cannot find the main module; import it as run: () => import('./src/main.js')",
  );
  expect((await runIn('/', ['add', 'kind', 'Shop'])).notes).toContain('create a project: npm create riata');
  using empty = makeProject({ ...siteOperator, 'src/site.ts': '' });
  expect((await add(empty.folder, 'kind', 'Shop')).notes).toContain(
    'the API group of Shop is missing (the project defines no kind yet); give it: --group example.com',
  );
  expect(existsSync(join(empty.folder, 'src/shop.ts'))).toBe(false);
});

test('help', async () => {
  const { code, out } = await runIn('/', ['add', '--help']);
  expect(code).toBe(0);
  expect(out).toContain('riata add kind Backup --group backups.example.com');
});
