import { type keyId, parseKeyId } from '../../object/key.js';

/** Takes out what is noted, by {@link keyId}, of keys of one cluster. */
export function forgetCluster(noted: Set<string> | Map<string, unknown>, cluster: string): void {
  for (const id of [...noted.keys()]) if (parseKeyId(id).cluster === cluster) noted.delete(id);
}
