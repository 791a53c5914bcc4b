// @ts-check
/**
 * `npm run docs`: the reference of all that can be imported from the packages, into docs/api, which git does not see. Ends
 * with 1 if an exported name has no doc comment, or a link leads nowhere; the pages are written all the same.
 */
import { execFileSync } from 'node:child_process';
import { existsSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { publicEntries } from './public-entries.mjs';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'docs/api');

install();
const { Application, TSConfigReader } = await import('typedoc');
const { undocumentedNames } = await import('./undocumented-names.mjs');

const entries = publicEntries(root);
const app = await Application.bootstrap(
  {
    name: 'Riata',
    entryPoints: [...entries.keys()],
    tsconfig: join(here, 'tsconfig.json'),
    readme: join(here, 'home.md'),
    excludeInternal: true,
    excludePrivate: true,
    disableGit: true,
    searchInComments: true,
    navigation: { includeFolders: true },
    sort: ['kind', 'instance-first', 'alphabetical-ignoring-documents'],
    validation: { notExported: true, invalidLink: true, invalidPath: true, rewrittenLink: true, notDocumented: false },
  },
  [new TSConfigReader()],
);
const modules = app.getEntryPoints() ?? [];
for (const module of modules) module.displayName = entries.get(module.sourceFile.fileName) ?? module.displayName;
const project = app.converter.convert(modules);
app.validate(project);
for (const name of undocumentedNames(project)) app.logger.warn(`${name} has no doc comment`);
rmSync(out, { recursive: true, force: true });
await app.generateDocs(project, out);
console.log(`${modules.length} modules; open ${join(out, 'index.html')}`);
process.exitCode = app.logger.hasErrors() || app.logger.hasWarnings() ? 1 : 0;

/** typedoc does not take the repository's compiler yet: it has a folder of its own, with one that it takes. */
function install() {
  const installed = join(here, 'node_modules/.package-lock.json');
  if (existsSync(installed) && statSync(installed).mtimeMs >= statSync(join(here, 'package-lock.json')).mtimeMs) return;
  execFileSync('npm', ['ci', '--no-audit', '--no-fund'], {
    cwd: here,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  });
}
