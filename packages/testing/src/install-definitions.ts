import type { ConnectedClient } from 'riata/client';
import { CustomResourceDefinition } from 'riata/kinds';
import { isConditionTrue } from 'riata/object';
import { isAlreadyExists, isNotFound } from 'riata/rest';

/** A CustomResourceDefinition: as `defineKind` gives it, as the kind of this name builds it, or as read from a file. */
export interface Definition {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name?: string };
  readonly spec: {
    readonly group: string;
    readonly names: { readonly kind: string; readonly plural: string };
    readonly versions: readonly { readonly name: string; readonly served: boolean }[];
  };
}

/** The one name that a definition can have. */
export function definitionName({ spec: { group, names } }: Definition): string {
  return `${names.plural}.${group}`;
}

/** Makes the server serve the definitions; existing ones are updated. Resolves to the new ones. */
export async function installDefinitions(
  client: ConnectedClient,
  crds: readonly Definition[],
  eventually: (probe: () => Promise<boolean>) => Promise<unknown>,
): Promise<readonly Definition[]> {
  const made: Definition[] = [];
  for (const crd of crds) {
    const manifest = CustomResourceDefinition(crd as never);
    const name = definitionName(crd);
    let failure: { readonly error: unknown } | undefined;
    const isPlaced = async () => {
      try {
        await client.create(manifest);
        made.push(crd);
      } catch (error) {
        if (!isAlreadyExists(error)) throw error;
        const stored = await client.find(CustomResourceDefinition, { name });
        // One that an earlier test has deleted goes in its own time.
        if (stored === undefined || stored.metadata.deletionTimestamp !== undefined) return false;
        await client.apply(manifest, { fieldManager: 'riata-testing', force: true });
      }
      return true;
    };
    await eventually(() =>
      isPlaced().catch((error: unknown) => {
        failure = { error };
        return true;
      }),
    );
    if (failure !== undefined) throw failure.error;
  }
  // An established definition is not served at the same moment: this lists its objects until it is.
  for (const crd of crds) {
    const { spec } = crd;
    const served = spec.versions.find((version) => version.served);
    if (served === undefined) continue;
    const path = `/apis/${spec.group}/${served.name}/${spec.names.plural}`;
    await eventually(async () => {
      const { status } = await client.get(CustomResourceDefinition, { name: definitionName(crd) });
      if (!isConditionTrue(status?.conditions, 'Established')) return false;
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
