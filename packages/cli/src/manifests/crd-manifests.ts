import { type CrdManifest, encodeJson } from 'riata/object';
import { crdsToYaml, objectsFromYaml } from 'riata/patterns';
import type { CrdKind } from '../config/operator.js';

/** `kubectl apply` keeps the object in an annotation, and these have a limit. */
const limit = 256 * 1024;

/**
 * The CustomResourceDefinitions of kinds, sorted by name. Those past 256 KiB come without descriptions: `kubectl apply`
 * could not apply them otherwise (kubebuilder#1140).
 */
export async function crdManifests(kinds: readonly CrdKind[]): Promise<CrdManifest[]> {
  const made = await Promise.all(kinds.map((kind) => crdManifest(kind)));
  return made.sort((a, b) => (a.metadata.name < b.metadata.name ? -1 : 1));
}

/** The names of the definitions that {@link crdManifests} leaves descriptions out of, and their sizes with them. */
export function shortenedCrds(kinds: readonly CrdKind[]): { readonly name: string; readonly bytes: number }[] {
  return kinds.flatMap((kind) => {
    const crd = kind.crd();
    const bytes = sizeOf(crd);
    return bytes > limit ? [{ name: crd.metadata.name, bytes }] : [];
  });
}

async function crdManifest(kind: CrdKind): Promise<CrdManifest> {
  const crd = kind.crd();
  if (sizeOf(crd) <= limit) return crd;
  const [bare] = await objectsFromYaml(await crdsToYaml([kind], { descriptions: false }));
  return bare as unknown as CrdManifest;
}

function sizeOf(crd: CrdManifest): number {
  return Buffer.byteLength(encodeJson(crd));
}
