import { type KindNames, kindNames } from 'create-riata';
import type { GoController, GoType } from './go-source.js';

/** The kinds of the operator itself, and those of Kubernetes. */
export interface KnownKinds {
  /** By kind, those whose modules were written. */
  readonly own: ReadonlySet<string>;
  /** Whether `riata/kinds` has a kind of that group and version. */
  isBuiltIn(type: GoType): boolean;
}

/** The module of a controller that is to be ported. */
export interface ControllerModule {
  readonly names: KindNames;
  readonly text: string;
  /** Kinds that are neither the operator's nor built in. */
  readonly unknown: readonly string[];
}

/** A controller with the watches of one in Go, and no code yet. Undefined if the kind that it is for is not known. */
export function controllerModule(
  controller: GoController,
  kinds: KnownKinds,
  source: string,
): ControllerModule | undefined {
  const { for: root, owns, watches, name, path, line } = controller;
  const isKnown = (type: GoType) => kinds.own.has(type.kind) || kinds.isBuiltIn(type);
  if (root === undefined || !isKnown(root)) return undefined;
  const names = kindNames(root.kind);
  const [owned, watched] = [owns.filter(isKnown), watches.filter(isKnown)];
  const used = [...new Map([root, ...owned, ...watched].map((type) => [type.kind, type])).values()];
  const builtIn = used
    .filter(({ kind }) => !kinds.own.has(kind))
    .map(({ kind }) => kind)
    .sort();
  const own = used.filter(({ kind }) => kinds.own.has(kind)).map(({ kind }) => kindNames(kind));
  const imports = [
    "import { control } from 'riata';",
    ...(builtIn.length === 0 ? [] : [`import { ${builtIn.join(', ')} } from 'riata/kinds';`]),
    ...own.map(({ kind, file }) => `import { ${kind} } from './${file}.js';`).sort(),
  ];
  const chain = [
    ...owned.map(({ kind }) => `  .owns(${kind})`),
    ...watched.flatMap(({ kind }) => [
      `  // Port the handler that maps a ${kind} to the ${names.kinds} that it concerns.`,
      `  .watches(${kind}, () => [])`,
    ]),
  ];
  const body = (indent: string) => `.reconcile(({ object: ${names.variable}, log }) => {
${indent}  log.warn('not ported yet', { generation: ${names.variable}.metadata.generation });
${indent}});`;
  const text = `${imports.join('\n')}

/** To be ported from ${name}: ${`${source}/${path}:${line}`.replaceAll('*/', '* /')} */
export const ${names.variables} = control(${names.kind})${chain.length === 0 ? body('') : `\n${chain.join('\n')}\n  ${body('  ')}`}
`;
  const unknown = [...owns, ...watches]
    .filter((type) => !isKnown(type))
    .map(({ kind, importPath }) => `${importPath}.${kind}`);
  return { names, text, unknown };
}
