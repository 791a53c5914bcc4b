import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { KindNames } from 'create-riata';
import { describeError } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import { bundleSource } from '../config/bundle-source.js';
import type { CrdKind } from '../config/operator.js';
import type { ExampleSchema } from './example-spec.js';
import type { ProjectLayout } from './project-layout.js';

/** A kind that a controller or webhook is added for. */
export interface TargetKind {
  /** A kind of Kubernetes itself, from `riata/kinds`. */
  readonly isBuiltIn: boolean;
  readonly isClusterScoped: boolean;
  readonly hasStatus: boolean;
  /** Of its spec; undefined for built-in kinds. */
  readonly spec?: ExampleSchema;
}

/** Finds a kind in the project, in the module that is named after it, or among those of Kubernetes. */
export async function loadKind(
  { folder, sourceFolder }: ProjectLayout,
  { kind, file }: KindNames,
  conditions: readonly string[] = [],
): Promise<TargetKind> {
  const path = `${sourceFolder}/${file}.ts`;
  if (!existsSync(join(folder, path))) {
    const builtIn = (await import('riata/kinds')) as Readonly<Record<string, unknown>>;
    const found = builtIn[kind] as { readonly scope?: string } | undefined;
    if (found === undefined) {
      throw new CommandError(
        `kind "${kind}" is neither defined in ${path} nor built in; add it first: riata add kind ${kind}`,
      );
    }
    return { isBuiltIn: true, isClusterScoped: found.scope === 'Cluster', hasStatus: false };
  }
  const found = await importKind(folder, path, kind, conditions);
  if (typeof found?.crd !== 'function') {
    throw new CommandError(`${path}: does not export ${kind}; export it as const ${kind} = defineKind(…)`);
  }
  const { spec } = found.crd();
  const version = spec.versions.find(({ storage }) => storage);
  return {
    isBuiltIn: false,
    isClusterScoped: spec.scope === 'Cluster',
    hasStatus: version?.subresources?.status !== undefined,
    spec: (version?.schema?.openAPIV3Schema.properties?.spec ?? { type: 'object' }) as ExampleSchema,
  };
}

async function importKind(folder: string, path: string, kind: string, conditions: readonly string[]) {
  try {
    const { file } = await bundleSource({
      entry: join(folder, path),
      cacheDir: join(folder, 'node_modules/.cache/riata/kinds'),
      conditions,
    });
    const exports = (await import(pathToFileURL(file).href)) as Readonly<Record<string, CrdKind | undefined>>;
    return exports[kind];
  } catch (error) {
    throw new CommandError(`${path}: cannot be loaded: ${describeError(error)}`, { cause: error });
  }
}
