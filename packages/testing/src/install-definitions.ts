import type { ConnectedClient } from 'riata';
import { CustomResourceDefinition } from 'riata/kinds';
import type { CrdManifest } from 'riata/object';
import { isAlreadyExists, isNotFound } from 'riata/rest';

/**
 * Has the server serve what the definitions say; those that are there already are brought up to date. Resolves to those
 * that were not there.
 */
export async function installDefinitions(
  client: ConnectedClient,
  crds: readonly CrdManifest[],
  eventually: (probe: () => Promise<boolean>) => Promise<unknown>,
): Promise<readonly CrdManifest[]> {
  const made: CrdManifest[] = [];
  for (const crd of crds) {
    const manifest = CustomResourceDefinition(crd as never);
    try {
      await client.create(manifest);
      made.push(crd);
    } catch (error) {
      if (!isAlreadyExists(error)) throw error;
      await client.apply(manifest, { fieldManager: 'riata-testing', force: true });
    }
  }
  // A definition that is established is not served in the same moment: the objects are asked for.
  for (const { spec } of crds) {
    const served = spec.versions.find((version) => version.served);
    if (served === undefined) continue;
    const path = `/apis/${spec.group}/${served.name}/${spec.names.plural}`;
    await eventually(async () => {
      try {
        await client.rest.get().absPath(path).do();
        return true;
      } catch (error) {
        if (isNotFound(error)) return false;
        throw error;
      }
    });
  }
  return made;
}
