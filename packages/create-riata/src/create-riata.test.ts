import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createIn, emptyFolder, readText } from './create-io.fixture.js';
import { writeProject } from './write-project.js';

test('a project by flags', async () => {
  using place = emptyFolder();
  const flags = ['--template', 'webhook', '--kind', 'CronBackup', '--group', 'b.example.com', '--ci', 'github'];
  const { code, out, notes, ran } = await createIn(place.folder, ['my-operator', ...flags]);
  expect({ code, notes, ran }).toEqual({ code: 0, notes: '', ran: ['npm install in my-operator'] });
  expect(out).toContain('Next:\n  cd my-operator\n  npm run dev');
  const files = place.files('my-operator');
  expect(files).toEqual([
    ...['.github/workflows/ci.yml', '.gitignore', 'README.md', 'cron-backup.yaml', 'package.json', 'riata.config.ts'],
    ...['src/cron-backup-rules.test.ts', 'src/cron-backup-rules.ts', 'src/cron-backup.ts'],
    ...['src/cron-backups.test.ts', 'src/cron-backups.ts', 'src/main.ts', 'tsconfig.build.json', 'tsconfig.json'],
  ]);
  // Nothing else: the folder that it was written to first is gone.
  expect(place.files().length).toBe(files.length);
  expect(JSON.parse(readText(place.folder, 'my-operator/package.json'))).toMatchObject({
    name: 'my-operator',
    dependencies: { riata: '^1.2.3' },
    devDependencies: { '@riata/cli': '^1.2.3', '@riata/dashboard': '^1.2.3', '@riata/testing': '^1.2.3' },
  });
});

test('defaults, without installing, in the current folder, which may be a repository', async () => {
  using place = emptyFolder();
  const folder = join(place.folder, 'shop-operator');
  mkdirSync(join(folder, '.git'), { recursive: true });
  const { code, out, ran } = await createIn(folder, ['.', '--yes', '--no-install'], {
    env: { npm_config_user_agent: 'pnpm/10.0.0 npm/? node/v24.0.0 linux x64' },
  });
  expect({ code, ran }).toEqual({ code: 0, ran: [] });
  expect(out).toContain('Next:\n  pnpm install\n  pnpm run dev');
  expect(readText(folder, 'src/site.ts')).toContain("group: 'example.com'");
  expect(place.files('shop-operator')).not.toContain('.github/workflows/ci.yml');
});

test('a folder that is not empty is left alone', async () => {
  using place = emptyFolder();
  mkdirSync(join(place.folder, 'shop'));
  for (const name of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) writeFileSync(join(place.folder, 'shop', name), 'mine');
  expect(await createIn(place.folder, ['shop'])).toMatchObject({
    code: 1,
    notes:
      'create-riata: folder shop is not empty; it contains a, b, c, d, e and 2 more; choose another name, or remove these first',
  });
  expect(place.files()).toHaveLength(7);
  expect(await createIn(place.folder, ['shop/a'])).toMatchObject({
    code: 1,
    notes: 'create-riata: shop/a is a file; choose another name, or remove it',
  });
});

test('a project that cannot be written leaves nothing behind', async () => {
  using place = emptyFolder();
  const folder = join(place.folder, 'shop');
  mkdirSync(join(folder, '.git'), { recursive: true });
  const files = new Map(['.git', 'a', 'b', 'y', 'z'].map((name) => [name, '']));
  await expect(writeProject(folder, files)).rejects.toThrow(/EISDIR|ENOTEMPTY|EEXIST/);
  expect(readdirSync(folder)).toEqual(['.git']);
  expect(readdirSync(place.folder)).toEqual(['shop']);
});

test.each([
  [[], 'the name of the project is missing: npm create riata@latest my-operator'],
  [
    ['My_Operator'],
    'name "My_Operator" must be a DNS label: lower-case letters, digits and "-" inside; e.g. "my-operator"',
  ],
  [['x', '--kind', 'cron-job'], 'kind "cron-job" must be in PascalCase: letters and digits; e.g. "CronJob"'],
  [
    ['x', '--kind', 'Status'],
    'kind "Status" would give a variable the name "status", which is taken; choose another, e.g. "MyStatus"',
  ],
  [['x', '--kind', 'Main'], 'kind "Main" would replace src/main.ts; choose another, e.g. "MyMain"'],
  [['x', '--group', 'shop'], 'group "shop" must be a domain with a dot, e.g. "shop.example.com"'],
  [['x', '--group', 'Shop.io'], 'group "Shop.io" must be a DNS subdomain in lower case, e.g. "example.com"'],
  [
    ['x', '--group', 'x.k8s.io'],
    'group "x.k8s.io" is reserved for Kubernetes; choose a domain of yours, e.g. "example.com"',
  ],
  [
    ['x', '--template', 'webhok'],
    '--template must be one of minimal, webhook, handlers, got "webhok"; did you mean webhook?',
  ],
  [['x', '--ci', 'jenkins'], '--ci must be one of github, none, got "jenkins"'],
  [['x', '--tempalte', 'webhook'], 'unknown option --tempalte; did you mean --template?'],
  [['x', '--frobnicate'], 'unknown option --frobnicate; see --help'],
  [['x', '--kind'], "Option '--kind <value>' argument missing; see --help"],
  [
    ['x', 'webhook'],
    'unexpected argument "webhook"; npm takes options before "--" for its own, so write: npm create riata@latest x -- --template webhook',
  ],
])('%j is refused, and nothing is written', async (args, message) => {
  using place = emptyFolder();
  expect(await createIn(place.folder, args)).toEqual({ code: 2, out: '', notes: `create-riata: ${message}`, ran: [] });
  expect(place.files()).toEqual([]);
});

test('dependencies that cannot be installed', async () => {
  using place = emptyFolder();
  expect(await createIn(place.folder, ['shop'], { installCode: 7 })).toMatchObject({
    code: 1,
    notes: 'create-riata: the project is complete, but npm install failed: it exited with code 7; run it again in shop',
  });
  expect(place.files('shop')).toContain('package.json');
});

test('help and version', async () => {
  const shown = await createIn('/', ['--help']);
  expect(shown.code).toBe(0);
  expect(shown.out).toContain('npm create riata@latest backup-operator -- --template webhook');
  expect(await createIn('/', ['-v'])).toMatchObject({ code: 0, out: '1.2.3' });
});
