import { readFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { kindNames, kindRefusal } from 'create-riata';
import type { KindRef } from 'riata';
import { kindFromCrd } from 'riata/patterns';
import { describeError } from 'riata/runtime';
import { CommandError } from '../../command/command-error.js';
import type { CommandIo } from '../../command/command-io.js';
import { addDefinitions, type NewDefinition } from '../add-definition.js';
import type { AddPlan } from '../add-options.js';
import type { ProjectLayout } from '../project-layout.js';
import { compareRights, type PortedController } from './compare-rights.js';
import { controllerModule } from './controller-module.js';
import type { GoController, GoType } from './go-source.js';
import { kindModule } from './kind-module.js';
import { portingNotes } from './porting-notes.js';
import { readGoOperator } from './read-go-operator.js';

/** Where the list of what is left to do goes. */
const notesPath = 'PORTING.md';

/** The files that bring the kinds and controllers of a Go operator into a project. Writes nothing. */
export async function planImport(
  io: CommandIo,
  source: string,
  layout: ProjectLayout,
  { wire = true }: { readonly wire?: boolean },
): Promise<AddPlan> {
  const folder = resolve(io.cwd, source);
  const operator = await readGoOperator(folder);
  const shown = relative(layout.folder, folder);
  const inSource = (file: string) => `${layout.sourceFolder}/${file}.ts`;
  const created = new Map<string, string>();
  const notes: string[] = [...operator.skipped];

  const kinds = new Map<string, { path: string; notes: readonly string[]; ref: KindRef }>();
  for (const { crd, path } of operator.crds) {
    const { kind } = crd.spec.names;
    const problem = kindRefusal(kind) ?? (kinds.has(kind) ? `kind "${kind}" is defined in two groups` : undefined);
    if (problem !== undefined) {
      notes.push(`${path}: was left out: ${problem}`);
      continue;
    }
    const module = attempt(path, () => kindModule(crd));
    const target = inSource(kindNames(kind).file);
    created.set(target, module.text);
    kinds.set(kind, { path: target, notes: module.notes, ref: kindFromCrd(crd) });
  }

  const builtIn = (await import('riata/kinds')) as unknown as Readonly<Record<string, KindRef | undefined>>;
  const refOf = (type: GoType) => kinds.get(type.kind)?.ref ?? builtInKind(builtIn, type);
  const own = new Set(kinds.keys());
  const isBuiltIn = (type: GoType) => builtInKind(builtIn, type) !== undefined;
  const controllers = new Map<GoController, { path: string; unknown: readonly string[] }>();
  const definitions: NewDefinition[] = [];
  const ported: PortedController[] = [];
  for (const controller of operator.controllers) {
    const module = controllerModule(controller, { own, isBuiltIn }, shown);
    const path = module === undefined ? '' : inSource(module.names.files);
    if (module === undefined || created.has(path)) continue;
    created.set(path, module.text);
    controllers.set(controller, { path, unknown: module.unknown });
    definitions.push({ name: module.names.variables, from: `./${module.names.files}.js` });
    const refs = (types: readonly GoType[]) => types.flatMap((type) => refOf(type) ?? []);
    const [kind] = refs([controller.for as GoType]) as [KindRef];
    ported.push({ kind, owns: refs(controller.owns), watches: refs(controller.watches) });
  }
  const rights = compareRights(operator.rules, ported);
  created.set(notesPath, portingNotes({ operator, source: shown, kinds, controllers, rights }));
  const idle = [...own].filter((kind) => !operator.controllers.some((each) => each.for?.kind === kind));
  if (idle.length > 0)
    notes.push(
      `no controller is for ${idle.join(', ')}; add them to kinds in riata.config.ts to install their definitions`,
    );
  notes.push(`read ${notesPath}: it lists what is left to port`);
  if (!wire || definitions.length === 0) return { created, notes };
  const text = await readFile(join(layout.folder, layout.main), 'utf8');
  return { created, changed: new Map([[layout.main, addDefinitions(layout.main, text, definitions)]]), notes };
}

function attempt<T>(path: string, make: () => T): T {
  try {
    return make();
  } catch (error) {
    throw new CommandError(`${path}: ${describeError(error)}`, { cause: error });
  }
}

/** The kind of Kubernetes that a Go type is, by the path of its package: `k8s.io/api/networking/v1`. */
function builtInKind(kinds: Readonly<Record<string, KindRef | undefined>>, type: GoType): KindRef | undefined {
  const [, folder] = /^k8s\.io\/api\/([^/]+)\/[^/]+$/.exec(type.importPath) ?? [];
  const found = Object.hasOwn(kinds, type.kind) ? kinds[type.kind] : undefined;
  if (folder === undefined || found === undefined) return undefined;
  const { group } = found;
  return group === folder || group.startsWith(`${folder}.`) || (folder === 'core' && group === '') ? found : undefined;
}
