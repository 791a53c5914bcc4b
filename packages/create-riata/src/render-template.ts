import { readdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join, sep } from 'node:path';
import type { KindNames } from './kind-names.js';

/** What takes the place of the names in a template. */
export interface TemplateNames {
  /** Of the project and its operator; `site-operator` in templates. */
  readonly project: string;
  /** `example.com` in templates. */
  readonly group: string;
  /** `Site` in templates, with all its forms. */
  readonly kind: KindNames;
}

/** The contents of files, by their paths with slashes, relative to a project. */
export type ProjectFiles = ReadonlyMap<string, string>;

/** Found by the name of the package: this module may be part of a bundle. */
const templatesFolder = () =>
  join(dirname(createRequire(import.meta.url).resolve('create-riata/package.json')), 'templates');

/**
 * The files of a folder in `templates`, with the names of a project. Templates are programs that compile and run as they
 * are: an operator for the kind Site.
 */
export async function renderTemplate(folder: string, names: TemplateNames): Promise<ProjectFiles> {
  const files = new Map<string, string>();
  for (const [path, text] of await readTemplate(folder)) {
    files.set(renderPath(path, names), renderText(path, text, names));
  }
  return files;
}

async function readTemplate(folder: string): Promise<[path: string, text: string][]> {
  const root = join(templatesFolder(), folder);
  const found = await readdir(root, { recursive: true, withFileTypes: true });
  const paths = found
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name).slice(root.length + 1))
    .sort();
  return Promise.all(
    paths.map(async (path) => [path.split(sep).join('/'), await readFile(join(root, path), 'utf8')] as const),
  ) as Promise<[string, string][]>;
}

function renderPath(path: string, { kind }: TemplateNames): string {
  return path.replace(/(?<=^|\/)site(s?)(?=[.-])/, (_, plural) => (plural === '' ? kind.file : kind.files));
}

const names = /\b[Aa] Site(?![a-z])|Sites(?![a-z])|Site(?![a-z])|(?<![A-Za-z])sites?(?![a-z])/g;

function renderText(path: string, text: string, { project, group, kind }: TemplateNames): string {
  const isCode = path.endsWith('.ts');
  const marked = text.replaceAll('site-operator', '\0').replace(/(?<![\w.-])example\.com/g, '\x01');
  return marked
    .replace(names, (name, at: number) => {
      if (name === 'Site') return kind.kind;
      if (name.endsWith(' Site')) return `${name[0]}${/^[AEIO]/.test(kind.kind) ? 'n' : ''} ${kind.kind}`;
      if (name === 'Sites') return kind.kinds;
      const isPlural = name === 'sites';
      // Modules, as in './sites.js', `src/site.ts` and `site.yaml`.
      if (/(?:\.|src)\/$/.test(marked.slice(0, at)) || /^\.(?:ts|yaml)/.test(marked.slice(at + name.length))) {
        return isPlural ? kind.files : kind.file;
      }
      if (!isCode || /['"]$/.test(marked.slice(0, at))) return isPlural ? kind.resource : kind.kind.toLowerCase();
      return isPlural ? kind.variables : kind.variable;
    })
    .replaceAll('\0', project)
    .replaceAll('\x01', group);
}
