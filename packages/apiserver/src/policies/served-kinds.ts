import type { JsonObject } from 'riata/object';
import { loadWriteParts } from '../load-write-parts.js';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { kindParts } from '../resource/load-kind-parts.js';
import { metaOf, textOf } from '../resource/metadata.js';
import { ServedResources } from '../resource/resource-table.js';

/** The kinds that a server with these CustomResourceDefinitions serves. */
export async function servedKinds(definitions: readonly object[] = []): Promise<ServedResources> {
  await loadWriteParts();
  const served = new ServedResources(builtInResources());
  for (const definition of definitions as readonly JsonObject[]) {
    served.setCustom(textOf(metaOf(definition).name), kindParts().customResources(definition));
  }
  return served;
}
