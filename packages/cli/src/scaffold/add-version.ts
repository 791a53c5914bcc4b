import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { type KindNames, renderTemplate } from 'create-riata';
import { CommandError, exitCodes } from '../command/command-error.js';
import { addDefinitions } from './add-definition.js';
import type { AddOptions, AddPlan } from './add-options.js';
import type { ProjectLayout } from './project-layout.js';
import {
  applyEdits,
  lineBreakOf,
  moduleConstants,
  moduleImports,
  parseModule,
  type SyntaxNode,
  type TextEdit,
} from './source-edit.js';

/** What tests of conversions generate objects with. */
const fastCheck = { name: 'fast-check', range: '^4.10.2' };

/** Why a text is no version that Kubernetes sorts by. */
export function versionProblem(version: string): string | undefined {
  if (/^v[1-9]\d*(?:(?:alpha|beta)[1-9]\d*)?$/.test(version)) return undefined;
  return `version "${version}" must have the form v1, v1beta1 or v2alpha3`;
}

/** The files that give a kind another version: the module of the kind, its conversion webhook and a test. */
export async function addVersion(names: KindNames, layout: ProjectLayout, options: AddOptions): Promise<AddPlan> {
  const { version } = options;
  const { folder, sourceFolder, main } = layout;
  const usage = { exitCode: exitCodes.usage };
  if (version === undefined) throw new CommandError('the new version is missing; give it: --version v2', usage);
  const problem = versionProblem(version);
  if (problem !== undefined) throw new CommandError(problem, usage);
  const path = `${sourceFolder}/${names.file}.ts`;
  if (!existsSync(join(folder, path))) {
    throw new CommandError(`${path} does not exist; add the kind first: riata add kind ${names.kind}`);
  }
  const changed = new Map([[path, withVersionText(path, await readFile(join(folder, path), 'utf8'), names, version)]]);
  const templates = await renderTemplate('add-version', { kind: names, group: 'example.com', project: names.file });
  const created = new Map<string, string>();
  for (const name of [`${names.file}-versions.ts`, `${names.file}-versions.test.ts`]) {
    created.set(`${sourceFolder}/${name}`, templates.get(name) as string);
  }
  if (options.wire !== false) {
    const definition = { name: `${names.variable}Versions`, from: `./${names.file}-versions.js` };
    changed.set(main, addDefinitions(main, await readFile(join(folder, main), 'utf8'), [definition]));
  }
  const notes = [
    `change the schema of ${version} and its functions up and down in ${path}; all versions are the same now`,
  ];
  const packageJson = existsSync(join(folder, 'package.json'))
    ? await readFile(join(folder, 'package.json'), 'utf8')
    : '{}';
  const withPackage = withFastCheck(packageJson);
  if (withPackage !== undefined) {
    changed.set('package.json', withPackage);
    notes.push('run npm install: the test needs fast-check, which was added to package.json');
  }
  return { created, changed, notes };
}

/**
 * The module of a kind, with `withVersion` around it. The new version starts with the schema of the stored one. Throws, with
 * what to do by hand, if the kind is not defined by a literal.
 */
function withVersionText(path: string, text: string, { kind }: KindNames, version: string): string {
  const body = parseModule(path, text);
  const refuse = (problem: string) =>
    new CommandError(
      `${path}: cannot add ${version}: ${problem}. Wrap the kind by hand: export const ${kind} = withVersion(stored, '${version}', { spec, up, down })`,
    );
  const constants = moduleConstants(body);
  const found = constants.get(kind);
  if (found === undefined || !found.isExported) throw refuse(`it has no export const ${kind}`);
  const { callee, arguments: given } = found.value as SyntaxNode & { callee?: SyntaxNode; arguments?: SyntaxNode[] };
  if (callee?.name === 'withVersion') throw refuse(`${kind} has a converted version already`);
  const [options] = given ?? [];
  if (callee?.name !== 'defineKind' || options?.type !== 'ObjectExpression') {
    throw refuse(`${kind} is not made by defineKind({ … })`);
  }
  if (constants.has('stored')) throw refuse('it has a constant named stored already');
  const property = (name: string) =>
    (options.properties as readonly SyntaxNode[]).find((each) => (each.key as SyntaxNode | undefined)?.name === name);
  const spec = property('spec')?.value as SyntaxNode | undefined;
  if (spec === undefined) throw refuse('defineKind has no spec of its own');
  if ((property('version')?.value as SyntaxNode | undefined)?.value === version)
    throw refuse(`${kind} is of that version`);
  const lineBreak = lineBreakOf(text);
  const added = [
    ...['', '', `/** Served as ${version}, too: the webhook converts it to the version that is stored, and back. */`],
    `export const ${kind} = withVersion(stored, '${version}', {`,
    `  spec: ${text.slice(spec.start, spec.end)},`,
    ...['  up: ({ spec }) => ({ spec }),', '  down: ({ spec }) => ({ spec }),', '});'],
  ].join(lineBreak);
  const declarator = text.indexOf(kind, found.statement.start);
  return applyEdits(text, [
    { at: found.statement.start, end: declarator + kind.length, text: 'const stored' },
    { at: found.statement.end, text: added },
    importWithVersion(text, body),
  ]);
}

/** Adds `withVersion` to the names that come from riata. */
function importWithVersion(text: string, body: readonly SyntaxNode[]): TextEdit {
  const riata = moduleImports(body).find(({ source, isTypeOnly }) => source === 'riata' && !isTypeOnly);
  const last = riata?.specifiers.at(-1);
  if (riata?.names.includes('withVersion')) return { at: 0, text: '' };
  if (last === undefined) return { at: 0, text: `import { withVersion } from 'riata';${lineBreakOf(text)}` };
  return { at: last.end, text: ', withVersion' };
}

/** A package.json with the package that tests of conversions need; undefined if it has it. */
function withFastCheck(text: string): string | undefined {
  const parsed = JSON.parse(text) as Record<string, Record<string, string> | undefined>;
  const { name, range } = fastCheck;
  if (parsed.devDependencies?.[name] !== undefined || parsed.dependencies?.[name] !== undefined) return undefined;
  const all = Object.entries({ ...parsed.devDependencies, [name]: range }).sort(([a], [b]) => (a < b ? -1 : 1));
  const indent = /\n([ \t]+)"/.exec(text)?.[1] ?? '  ';
  return `${JSON.stringify({ ...parsed, devDependencies: Object.fromEntries(all) }, undefined, indent)}\n`;
}
