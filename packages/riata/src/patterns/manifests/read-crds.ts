import type { Client } from '../../client/interfaces.js';
import { CustomResourceDefinition } from '../../kinds/index.js';
import { compareStrings } from '../../object/compare-strings.js';
import type { CrdManifest } from '../../object/schema/crd-manifest.js';
import { optionNames, refuseUnknownOptions } from '../../runtime/option-names.js';
import { cleanForExport, objectsFromYaml, objectsToYaml } from './yaml.js';

/** The CustomResourceDefinitions in a text of YAML or JSON; other objects are left out. Rejects as `objectsFromYaml`. */
export async function crdsFromYaml(text: string): Promise<CrdManifest[]> {
  const objects = await objectsFromYaml(text);
  return objects.flatMap((object) => {
    if (object.kind !== 'CustomResourceDefinition') return [];
    if (object.apiVersion !== 'apiextensions.k8s.io/v1') {
      throw new TypeError(
        `${object.metadata.name}: expected a CustomResourceDefinition of apiextensions.k8s.io/v1, got ${object.apiVersion}`,
      );
    }
    return [object as unknown as CrdManifest];
  });
}

/** Those in all files of a directory and those below it that end in `.yaml`, `.yml` or `.json`; in the order of names. */
export async function crdsFromDirectory(path: string): Promise<CrdManifest[]> {
  const [{ readdir, readFile }, { join }] = await Promise.all([import('node:fs/promises'), import('node:path')]);
  const files = (await readdir(path, { recursive: true }))
    .filter((name) => /\.(ya?ml|json)$/.test(name))
    .sort(compareStrings);
  const found: CrdManifest[] = [];
  for (const name of files) {
    try {
      found.push(...(await crdsFromYaml(await readFile(join(path, name), 'utf8'))));
    } catch (cause) {
      throw new Error(`${join(path, name)}: ${cause instanceof Error ? cause.message : String(cause)}`, { cause });
    }
  }
  return found;
}

/** Those of a server, without the server's own fields; sorted by name. */
export async function crdsFromCluster(
  client: Client,
  options: {
    /** @default all groups */
    readonly groups?: readonly string[];
    readonly signal?: AbortSignal;
  } = {},
): Promise<CrdManifest[]> {
  const { groups, signal } = options;
  const { items } = await client.list(CustomResourceDefinition, { signal, cutManagedFields: true });
  return items
    .filter(({ spec }) => groups === undefined || groups.includes(spec.group))
    .map((crd) => cleanForExport(crd) as CrdManifest)
    .sort((a, b) => compareStrings(a.metadata.name, b.metadata.name));
}

/** Options of {@link crdsToYaml}. */
export interface CrdsToYamlOptions {
  /**
   * Leaves descriptions out: a definition past 256 KiB cannot be applied by `kubectl apply` without `--server-side`
   * (kubebuilder#1140). @default true: they are there
   */
  readonly descriptions?: boolean;
}

export const crdsToYamlOptionNames = optionNames<CrdsToYamlOptions>({ descriptions: true });

/** The CustomResourceDefinitions of kinds made by `defineKind` as YAML, a document each. */
export async function crdsToYaml(
  kinds: Iterable<{ crd(): CrdManifest }>,
  options: CrdsToYamlOptions = {},
): Promise<string> {
  refuseUnknownOptions('crdsToYaml', options, crdsToYamlOptionNames);
  const { descriptions = true } = options;
  const crds = [...kinds].map((kind) => kind.crd());
  return objectsToYaml(descriptions ? crds : crds.map(withoutDescriptions));
}

function withoutDescriptions({ spec, ...rest }: CrdManifest): CrdManifest {
  const versions = spec.versions.map((version) => {
    return { ...version, schema: { openAPIV3Schema: bare(version.schema.openAPIV3Schema, false) as never } };
  });
  return { ...rest, spec: { ...spec, versions } };
}

/** `description` is a keyword in a schema, and a field's name among properties. */
function bare(value: unknown, isNames: boolean): unknown {
  if (Array.isArray(value)) return value.map((item) => bare(item, false));
  if (typeof value !== 'object' || value === null) return value;
  const kept = Object.entries(value).filter(([name]) => isNames || name !== 'description');
  return Object.fromEntries(
    kept.map(([name, item]) => [
      name,
      name === 'default' || name === 'enum' ? item : bare(item, !isNames && name === 'properties'),
    ]),
  );
}
