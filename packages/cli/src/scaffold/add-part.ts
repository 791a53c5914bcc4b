import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { groupProblem, type KindNames, kindNames, kindRefusal, type ProjectFiles, renderTemplate } from 'create-riata';
import { CommandError, exitCodes } from '../command/command-error.js';
import { addDefinitions, type NewDefinition } from './add-definition.js';
import type { AddOptions, AddPlan } from './add-options.js';
import { addVersion, versionProblem } from './add-version.js';
import { exampleOf, literalOf } from './example-spec.js';
import { loadKind, type TargetKind } from './load-kind.js';
import { definedGroups, type ProjectLayout } from './project-layout.js';

/** What can be added to a project. */
export const parts = ['kind', 'controller', 'webhook', 'version'] as const;

/** One of {@link parts}. */
export type Part = (typeof parts)[number];

/** The files that add a part to a project. Writes nothing. */
export async function planPart(
  part: Part,
  kind: string,
  layout: ProjectLayout,
  options: AddOptions = {},
): Promise<AddPlan> {
  // Built-in kinds take part in controllers and webhooks, where no name collides with them.
  const problem = part === 'kind' ? kindRefusal(kind) : undefined;
  if (problem !== undefined) throw usage(problem);
  const names = kindNames(kind);
  if (part === 'kind') return planKind(names, layout, options);
  if (part === 'version') return addVersion(names, layout, options);
  const target = await loadKind(layout, names, options.conditions);
  const files = await renderAll(names, layout);
  const wanted = part === 'controller' ? names.files : `${names.file}-rules`;
  const definition = part === 'controller' ? names.variables : `${names.variable}Rules`;
  const created = new Map([[`${wanted}.ts`, forTarget(files.get(`${wanted}.ts`) as string, names, target)]]);
  if (!target.isBuiltIn) created.set(`${wanted}.test.ts`, testFor(files.get(`${wanted}.test.ts`) as string, target));
  const notes = target.isBuiltIn
    ? [`${kind} is built in, so its required fields are not known here and no test was written`]
    : [];
  return wired(layout, created, [{ name: definition, from: `./${wanted}.js` }], options, notes);
}

async function planKind(names: KindNames, layout: ProjectLayout, options: AddOptions): Promise<AddPlan> {
  const { version = 'v1', clusterScoped = false } = options;
  const problem = versionProblem(version);
  if (problem !== undefined) throw usage(problem);
  const files = await renderAll(names, layout, groupFor(names, layout, options.group));
  const created = new Map<string, string>();
  for (const name of [`${names.file}.ts`, `${names.files}.ts`, `${names.files}.test.ts`]) {
    created.set(name, files.get(name) as string);
  }
  const scope = clusterScoped ? "\n  scope: 'Cluster'," : '';
  const kindText = (created.get(`${names.file}.ts`) as string)
    .replace("version: 'v1'", `version: '${version}'`)
    .replace(`kind: '${names.kind}',`, `kind: '${names.kind}',${scope}`);
  created.set(`${names.file}.ts`, kindText);
  const target = { isBuiltIn: false, isClusterScoped: clusterScoped, hasStatus: true, spec: { type: 'object' } };
  const test = `${names.files}.test.ts`;
  created.set(test, testFor(created.get(test) as string, target));
  return wired(layout, created, [{ name: names.variables, from: `./${names.files}.js` }], options, []);
}

/** The group that was given, or that of the kinds that are there. */
function groupFor({ kind }: KindNames, layout: ProjectLayout, given: string | undefined): string {
  const groups = definedGroups(layout);
  const group = given ?? (groups.length === 1 ? groups[0] : undefined);
  if (group === undefined) {
    const seen = groups.length === 0 ? 'the project defines no kind yet' : `the project has ${groups.join(' and ')}`;
    throw usage(`the API group of ${kind} is missing (${seen}); give it: --group example.com`);
  }
  const problem = groupProblem(group);
  if (problem !== undefined) throw usage(problem);
  return group;
}

/** The templates with the names of a kind, by the names of their files. */
async function renderAll(kind: KindNames, { folder }: ProjectLayout, group = 'example.com'): Promise<ProjectFiles> {
  return renderTemplate('add', { kind, group, project: folder });
}

/** A controller or webhook of the template, for a kind that may be built in or have no status. */
function forTarget(text: string, { file }: KindNames, { isBuiltIn, hasStatus }: TargetKind): string {
  const imported = isBuiltIn ? text.replace(`from './${file}.js'`, "from 'riata/kinds'") : text;
  const placed = isBuiltIn ? sortImports(imported) : imported;
  if (hasStatus) return placed;
  return placed
    .replace(', status, log }', ', log }')
    .replace('  await status({});\n', '')
    .replace('reconcile(async (', 'reconcile((');
}

/** Imports of packages, in the order of their names. */
function sortImports(text: string): string {
  const lines = text.split('\n');
  const count = lines.findIndex((line) => !line.startsWith('import '));
  const source = (line: string) => line.slice(line.indexOf(" from '"));
  const sorted = lines.slice(0, count).sort((a, b) => (source(a) < source(b) ? -1 : 1));
  return [...sorted, ...lines.slice(count)].join('\n');
}

/** A test of the template, with an object that the kind's schema takes. */
function testFor(text: string, { isClusterScoped, spec = {} }: TargetKind): string {
  const example = literalOf(exampleOf(spec));
  const scoped = isClusterScoped
    ? text.replace("{ namespace: 'default', name: 'example' }", "{ name: 'example' }")
    : text;
  return scoped.replaceAll('spec: {} }', `spec: ${example} }`);
}

/** Puts files into the source folder, and definitions into the main module. */
export async function wired(
  { folder, main, sourceFolder }: ProjectLayout,
  files: ProjectFiles,
  definitions: readonly NewDefinition[],
  { wire = true }: AddOptions,
  notes: readonly string[],
): Promise<AddPlan> {
  const created = new Map(
    [...files].map(([name, text]) => [sourceFolder === '.' ? name : `${sourceFolder}/${name}`, text]),
  );
  if (!wire) return { created, notes };
  const text = await readFile(join(folder, main), 'utf8');
  return { created, changed: new Map([[main, addDefinitions(main, text, definitions)]]), notes };
}

/** An error in what the user typed. */
export const usage = (message: string) => new CommandError(message, { exitCode: exitCodes.usage });
