import { type KindNames, kindNames } from './kind-names.js';
import { type ProjectFiles, renderTemplate } from './render-template.js';

/** The templates, with what they show. */
export const templates = {
  minimal: 'a kind and its controller',
  webhook: 'the same, and a webhook that defaults and checks its objects',
  handlers: 'handlers in the style of wrangler instead of a controller',
} as const;

/** One of {@link templates}. */
export type Template = keyof typeof templates;

/** The services that a workflow can be written for. */
export const ciServices = { github: 'a workflow of GitHub Actions', none: 'none' } as const;

/** One of {@link ciServices}. */
export type CiService = keyof typeof ciServices;

/** A project to create. Its names are valid. */
export interface ProjectOptions {
  readonly name: string;
  readonly template: Template;
  readonly kind: string;
  readonly group: string;
  readonly ci: CiService;
}

/** All files of a new project. `version`: of the packages of Riata in its package.json. */
export async function projectFiles(options: ProjectOptions, version: string): Promise<ProjectFiles> {
  const { name: project, group, template, ci } = options;
  const kind: KindNames = kindNames(options.kind);
  const names = { project, group, kind };
  const files = new Map([...(await renderTemplate('common', names)), ...(await renderTemplate(template, names))]);
  const take = (path: string) => {
    const text = files.get(path) as string;
    files.delete(path);
    return text;
  };
  // Under its own name, npm would leave it out of the package.
  files.set('.gitignore', take('gitignore'));
  const workflow = take('ci/github.yml');
  if (ci === 'github') files.set('.github/workflows/ci.yml', workflow);
  files.set('package.json', withVersions(take('package.json'), version));
  return new Map([...files].sort(([a], [b]) => (a < b ? -1 : 1)));
}

/** Packages of Riata have `*` in the template. */
function withVersions(packageJson: string, version: string): string {
  return packageJson.replace(/("(?:riata|@riata\/[a-z]+)": )"\*"/g, `$1"^${version}"`);
}
