import { readFileSync } from 'node:fs';
import { pluralOf } from 'riata/object';
import { expect, test } from 'vitest';
import { kindNames, kindRefusal } from './kind-names.js';
import { projectFiles, type Template, templates } from './project-files.js';

const all = Object.keys(templates) as Template[];
const root = new URL('../../../', import.meta.url);

test.each(all)(
  '%s: the template is an operator for Sites, and has no name left in one for others',
  async (template) => {
    const same = await projectFiles(
      { name: 'site-operator', template, kind: 'Site', group: 'example.com', ci: 'github' },
      '1.0.0',
    );
    const own = (path: string) => new URL(`packages/create-riata/templates/${template}/${path}`, root);
    expect(same.get('src/sites.ts')).toBe(readFileSync(own('src/sites.ts'), 'utf8'));
    expect(same.get('README.md')).toBe(readFileSync(own('README.md'), 'utf8'));

    const other = await projectFiles(
      { name: 'shop', template, kind: 'HTTPApp', group: 'shop.dev', ci: 'none' },
      '1.0.0',
    );
    for (const [path, text] of other) {
      expect(`${path}\n${text}`).not.toMatch(/sites?(?![a-z])/i);
      expect(text).not.toMatch(/(?<!registry\.)example\.com|\ba HTTPApp\b.*\ba App\b/);
    }
    expect([...other.keys()]).toEqual(expect.arrayContaining(['http-app.yaml', 'src/http-app.ts', 'src/http-apps.ts']));
    expect(other.get('src/http-apps.test.ts')).toContain("from './http-apps.js'");
  },
);

test('an article before a vowel', async () => {
  const files = await projectFiles(
    { name: 'apps', template: 'minimal', kind: 'App', group: 'example.com', ci: 'none' },
    '1.0.0',
  );
  expect(files.get('src/apps.test.ts')).toContain("test('an App gets a Deployment");
});

test('names of a kind', () => {
  expect(kindNames('CronBackup')).toEqual({
    ...{ kind: 'CronBackup', kinds: 'CronBackups', variable: 'cronBackup', variables: 'cronBackups' },
    ...{ file: 'cron-backup', files: 'cron-backups', resource: 'cronbackups' },
  });
  expect(kindNames('HTTPProxy')).toMatchObject({ variables: 'httpProxies', files: 'http-proxies' });
  for (const kind of ['Site', 'Proxy', 'Key', 'Box', 'Bus', 'Batch', 'HTTPS']) {
    expect(kindNames(kind).resource).toBe(pluralOf(kind));
  }
});

test.each(['Class', 'Deployment', 'Definition', 'Z', 'Promise', 'Test'])('kind %s collides', (kind) => {
  expect(kindRefusal(kind)).toMatch(/is taken; choose another/);
});

test('packages of the templates have the versions that this repository tests with', async () => {
  const files = await projectFiles(
    { name: 'shop', template: 'minimal', kind: 'Site', group: 'example.com', ci: 'none' },
    '1.0.0',
  );
  const made = JSON.parse(files.get('package.json') as string);
  const own = JSON.parse(readFileSync(new URL('package.json', root), 'utf8'));
  const others = Object.entries({ ...made.dependencies, ...made.devDependencies }).filter(
    ([name]) => !/^(?:@riata\/.+|riata)$/.test(name),
  );
  expect(Object.fromEntries(others)).toEqual(
    Object.fromEntries(others.map(([name]) => [name, own.devDependencies[name]])),
  );
});
