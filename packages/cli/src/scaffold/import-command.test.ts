import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { CrdManifest } from 'riata/object';
import { crdsFromDirectory, exportYaml } from 'riata/patterns';
import { expect, test } from 'vitest';
import { runIn } from '../command/command-io.fixture.js';
import { bundleSource } from '../config/bundle-source.js';
import { conditions, makeProject, siteOperator } from '../config/project.fixture.js';

const goOperator = fileURLToPath(new URL('../../fixtures/go-operator', import.meta.url));
const read = (folder: string, path: string) => readFileSync(join(folder, path), 'utf8');

// That the result compiles is shown with the packed packages: tools/packed/create.check.ts.
test('kinds, controllers and what is left to port', async () => {
  using made = makeProject(siteOperator);
  const { folder } = made;
  const run = await runIn(folder, ['import', goOperator, '--json']);
  expect(run).toMatchObject({ code: 0, notes: '' });
  expect(JSON.parse(run.out)).toEqual({
    created: ['src/backup.ts', 'src/vault.ts', 'src/backups.ts', 'src/nodes.ts', 'PORTING.md'],
    changed: ['src/main.ts'],
    notes: [
      expect.stringMatching(/^charts\/backup-operator\/templates\/crd\.yaml: is a template of a chart/),
      'no controller is for Vault; add them to kinds in riata.config.ts to install their definitions',
      'read PORTING.md: it lists what is left to port',
    ],
  });
  expect(read(folder, 'src/main.ts')).toContain('export const definitions = [sites, backups, nodes];');
  const [source] = /\S+\/internal\//.exec(read(folder, 'src/backups.ts')) ?? [];
  expect(read(folder, 'src/backups.ts')).toBe(`import { control } from 'riata';
import { CronJob, Secret } from 'riata/kinds';
import { Backup } from './backup.js';

/** To be ported from BackupReconciler: ${source}controller/backup_controller.go:26 */
export const backups = control(Backup)
  .owns(CronJob)
  // Port the handler that maps a Secret to the Backups that it concerns.
  .watches(Secret, () => [])
  .reconcile(({ object: backup, log }) => {
    log.warn('not ported yet', { generation: backup.metadata.generation });
  });
`);

  const porting = read(folder, 'PORTING.md');
  expect(porting).toContain(
    'BackupReconciler also uses `github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1.Certificate`',
  );
  expect(porting).toContain('Validating, for backups: `api/v1beta1/backup_webhook.go:3`');
  expect(porting).toContain('Backup is also served as v1alpha1');
  const [, had = ''] = porting.split('The Go operator also had these');
  expect(had).toContain(`| group | resources | verbs |
|---|---|---|
| data.example.com | backups | create, delete |
| snapshot.storage.k8s.io | volumesnapshots | create, delete |
`);
  // Roles for people are none of the operator's.
  expect(porting).not.toContain('everything.example.com');
});

test('an imported kind has the definition of the original', async () => {
  using made = makeProject(siteOperator);
  const { folder } = made;
  await runIn(folder, ['import', goOperator]);
  const cacheDir = join(folder, 'node_modules/.cache/riata/test');
  const { file } = await bundleSource({ entry: join(folder, 'src/backup.ts'), cacheDir, conditions });
  const { Backup } = (await import(pathToFileURL(file).href)) as { Backup: { crd(): CrdManifest } };
  const [original] = (await crdsFromDirectory(join(goOperator, 'config/crd'))) as [CrdManifest];
  const parts = ({ spec }: CrdManifest) => ({
    names: spec.names,
    versions: spec.versions.map(({ name, served, storage, schema, additionalPrinterColumns }) => ({
      ...{ name, served, storage, additionalPrinterColumns },
      spec: schema.openAPIV3Schema.properties?.spec,
      lastBackup: schema.openAPIV3Schema.properties?.status?.properties?.lastBackup,
    })),
  });
  expect(parts(Backup.crd())).toEqual(parts(original));
});

test('rare forms of Go, and of schemas', async () => {
  using made = makeProject(siteOperator);
  const go = join(made.folder, 'go');
  const write = (path: string, text: string) => {
    mkdirSync(join(go, path, '..'), { recursive: true });
    writeFileSync(join(go, path), text);
  };
  const schema = {
    type: 'object',
    required: ['spec'],
    properties: {
      spec: {
        type: 'object',
        properties: {
          'odd-name': { type: 'string', oneOf: [{ pattern: 'a' }] },
          ratio: { type: 'number', minimum: 0, exclusiveMinimum: true },
          level: { type: 'integer', enum: [1, 2] },
          anything: { 'x-kubernetes-preserve-unknown-fields': true },
          text: { type: 'string', description: 'it\'s */ `$\u007bprocess.exit()}` "quoted" \\ \u2028' },
        },
      },
      data: { type: 'object' },
    },
  };
  const crd = (kind: string) => ({
    ...{ apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' },
    metadata: { name: `${kind.toLowerCase()}s.a.dev` },
    spec: {
      ...{ group: 'a.dev', scope: 'Namespaced', names: { kind, plural: `${kind.toLowerCase()}s` } },
      versions: [{ name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: schema } }],
    },
  });
  write('crds/odd.yaml', await exportYaml([crd('Odd'), crd('Test')] as never));
  write('crds/broken.yaml', 'kind: CustomResourceDefinition\n{}');
  write(
    'main.go',
    'package main\nimport appsv1 "k8s.io/api/apps/v1"\nimport v1 "a.dev/api/v1"\nfunc main() {\n\tctrl.NewControllerManagedBy(mgr).\n\t\tFor(new(v1.Odd)).\n\t\tWatches(&source.Kind{Type: &appsv1.Deployment{}}, nil).Complete(x)\n\tctrl.NewControllerManagedBy(mgr).For(&unstructured.Unstructured{}).Complete(y)\n}\n',
  );
  const run = await runIn(made.folder, ['import', 'go', '--no-wire']);
  expect(run).toMatchObject({ code: 0 });
  expect(run.notes).toContain('crds/odd.yaml: was left out: kind "Test" would give a variable the name "test"');
  expect(run.notes).toContain('crds/broken.yaml: ');
  const text = read(made.folder, 'src/odd.ts');
  expect(text).toContain("'odd-name': z.string().optional(),");
  expect(text).toContain('ratio: z.number().meta({ minimum: 0, exclusiveMinimum: true }).optional(),');
  expect(text).toContain('level: z.int().meta({ enum: [1, 2] }).optional(),');
  const cacheDir = join(made.folder, 'node_modules/.cache/riata/test');
  const { file } = await bundleSource({ entry: join(made.folder, 'src/odd.ts'), cacheDir, conditions });
  const { Odd } = (await import(pathToFileURL(file).href)) as { Odd: { crd(): CrdManifest } };
  const fields = Odd.crd().spec.versions[0]?.schema.openAPIV3Schema.properties?.spec?.properties;
  expect(fields?.text).toEqual(schema.properties.spec.properties.text);
  expect(read(made.folder, 'src/odds.ts')).toContain('.watches(Deployment, () => [])');
  const porting = read(made.folder, 'PORTING.md');
  expect(porting).toContain('- Odd v1: fields beside spec and status were left out: data.');
  expect(porting).toContain('- Odd v1: left out: spec.odd-name: oneOf.');
  expect(porting).toContain('main.go was left out');
});

test('refusals', async () => {
  using made = makeProject({ ...siteOperator, 'src/backup.ts': '// mine' });
  const { folder } = made;
  const refused = await runIn(folder, ['import', goOperator]);
  expect(refused).toMatchObject({ code: 1, out: '' });
  expect(refused.notes).toContain('src/backup.ts exists already; nothing was written');
  expect((await runIn(folder, ['import', 'none'])).notes).toContain(
    'none: not found; give the folder of the Go operator',
  );
  expect((await runIn(folder, ['import', 'src'])).notes).toContain(
    'has neither CustomResourceDefinitions nor controllers',
  );
  expect((await runIn('/', ['import', goOperator])).notes).toContain('create a project: npm create riata');
  expect((await runIn('/', ['import', '--help'])).out).toContain('npx riata import ../backup-operator-go');
});
