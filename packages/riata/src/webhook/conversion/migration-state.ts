import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';

/** On a CustomResourceDefinition whose objects are being migrated: where that started. */
export const startedAnnotation = 'migration.riata.dev/started';

/** Where a migration started. Objects that were written after it are in the storage version. */
export interface MigrationStart {
  /** The storage version. */
  readonly storage: string;
  /** The generation of the definition: another one may have had another storage version in between. */
  readonly generation: number;
  /** The revision of the server at that moment. */
  readonly revision: string;
}

/** As much of a CustomResourceDefinition as a migration reads. */
export interface MigratedCrd extends KubeObject {
  readonly spec: { readonly versions: readonly { readonly name: string; readonly storage: boolean }[] };
  readonly status?: { readonly storedVersions?: readonly string[] };
}

export function storageOf(crd: MigratedCrd): string | undefined {
  return crd.spec.versions.find(({ storage }) => storage)?.name;
}

/** Whether all objects are known to be stored in the storage version. */
export function isMigrated(crd: MigratedCrd): boolean {
  const stored = crd.status?.storedVersions ?? [];
  return stored.length === 1 && stored[0] === storageOf(crd);
}

/** The start that a definition remembers, if it is still the start of the migration that it needs. */
export function startOf(crd: MigratedCrd): MigrationStart | undefined {
  const text = crd.metadata.annotations?.[startedAnnotation];
  if (text === undefined) return undefined;
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isJsonObject(parsed)) return undefined;
  const { storage, generation, revision } = parsed;
  if (storage !== storageOf(crd) || generation !== crd.metadata.generation || typeof revision !== 'string') {
    return undefined;
  }
  return { storage: storage as string, generation: generation as number, revision };
}
