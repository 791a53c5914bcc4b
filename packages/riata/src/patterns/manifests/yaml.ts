import type { WriteObject } from '../../client/interfaces.js';
import { isJsonObject, type Json, type JsonObject } from '../../object/json.js';

/** Types of YAML 1.1 that JSON has no word for, and `1:30` as a number, which Kubernetes never took it for. */
const excluded: ReadonlySet<string> = new Set(
  ['timestamp', 'binary', 'set', 'omap', 'pairs'].map((name) => `tag:yaml.org,2002:${name}`),
);

/**
 * The objects in a text of YAML or JSON, as Kubernetes reads them (`yaml.ToObjects` of wrangler): any number of documents,
 * empty ones left out, lists taken apart; `0644` is octal and `on` is true. Rejects with a `SyntaxError` that names the
 * document, and the line where there is one; the text itself is not quoted, as it may hold secrets.
 */
export async function objectsFromYaml(text: string): Promise<WriteObject[]> {
  const { LineCounter, parseAllDocuments } = await import('yaml');
  const lineCounter = new LineCounter();
  const documents = parseAllDocuments(text, {
    ...{ version: '1.1', intAsBigInt: true, logLevel: 'silent', prettyErrors: false, lineCounter },
    customTags: (tags) => tags.filter((t) => typeof t === 'string' || !(excluded.has(t.tag) || t.format === 'TIME')),
  });
  return (Array.isArray(documents) ? documents : []).flatMap((document, index) => {
    const where = `YAML document ${index + 1}`;
    const [error] = document.errors;
    if (error !== undefined) {
      const { line } = lineCounter.linePos(error.pos[0]);
      throw new SyntaxError(`${where}: not valid YAML at line ${line} (${error.code})`);
    }
    return objectsOf(plain(document.toJS({ maxAliasCount: 1000 }), where), where);
  });
}

/** The objects as YAML, a document each, keys as they are (`yaml.ToBytes` of wrangler). */
export async function objectsToYaml(objects: Iterable<object>): Promise<string> {
  const { stringify } = await import('yaml');
  const options = { indentSeq: false, aliasDuplicateObjects: false, lineWidth: 0, version: '1.1' } as const;
  // Through JSON: undefined fields are dropped, and only JSON stays.
  return [...objects].map((object) => stringify(JSON.parse(JSON.stringify(object)), options)).join('---\n');
}

/**
 * The objects as YAML that can be applied elsewhere (`yaml.Export` of wrangler): without status, without what servers
 * write into the metadata, and without marks of tools in labels and annotations.
 */
export async function exportYaml(objects: Iterable<object>): Promise<string> {
  return objectsToYaml([...objects].map(cleanForExport));
}

const serverMetadata: ReadonlySet<string> = new Set(
  [
    'creationTimestamp',
    'deletionGracePeriodSeconds',
    'deletionTimestamp',
    'finalizers',
    'generateName',
    'generation',
  ].concat(['managedFields', 'ownerReferences', 'resourceVersion', 'selfLink', 'uid']),
);

/** An object without what belongs to the server or the set it is in (`yaml.CleanObjectForExport`). */
export function cleanForExport(object: object): object {
  const { status: _status, metadata, ...rest } = object as { readonly status?: unknown; readonly metadata?: unknown };
  if (!isJsonObject(metadata)) return rest;
  const kept = metadataWithout(metadata, serverMetadata, isToolMark);
  const { apiVersion, kind, ...body } = rest as { readonly apiVersion?: unknown; readonly kind?: unknown };
  return { apiVersion, kind, metadata: kept, ...body };
}

/** Metadata without some fields, and without the labels and annotations that `isMark` knows. */
export function metadataWithout(
  metadata: JsonObject,
  fields: ReadonlySet<string>,
  isMark: (key: string) => boolean,
): JsonObject {
  const kept = Object.entries(metadata).flatMap(([name, value]): [string, Json | undefined][] => {
    if (fields.has(name)) return [];
    if (name !== 'labels' && name !== 'annotations') return [[name, value]];
    const own = Object.entries(isJsonObject(value) ? value : {}).filter(([key]) => !isMark(key));
    return own.length === 0 ? [] : [[name, Object.fromEntries(own)]];
  });
  return Object.fromEntries(kept);
}

function isToolMark(key: string): boolean {
  return key.startsWith('kubectl.kubernetes.io/') || key.includes('cattle.io/');
}

/** Whole numbers come as bigint, so that none is rounded unseen. */
function plain(value: unknown, where: string): Json {
  if (typeof value === 'bigint') {
    if (Number.isSafeInteger(Number(value))) return Number(value);
    throw new SyntaxError(`${where}: contains an integer above 2^53, which would lose precision; write it as a string`);
  }
  if (Array.isArray(value)) return value.map((item) => plain(item, where));
  if (!isJsonObject(value)) return (value ?? null) as Json;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, plain(item, where)]));
}

function objectsOf(value: Json, where: string): WriteObject[] {
  if (value === null) return [];
  if (!isJsonObject(value)) throw new SyntaxError(`${where}: expected an object with apiVersion and kind`);
  if (Object.keys(value).length === 0) return [];
  const { kind, items } = value;
  if (typeof kind === 'string' && kind.endsWith('List') && Array.isArray(items)) {
    return (items as readonly Json[]).flatMap((item, index) =>
      objectsOf(withType(item, value), `${where}, item ${index}`),
    );
  }
  const { apiVersion, metadata } = value;
  const missing = [
    ...(typeof apiVersion === 'string' ? [] : ['apiVersion']),
    ...(typeof kind === 'string' ? [] : ['kind']),
    ...(isJsonObject(metadata) ? [] : ['metadata']),
  ];
  if (missing.length > 0) throw new SyntaxError(`${where}: not a Kubernetes object, ${missing.join(', ')} is missing`);
  return [value as unknown as WriteObject];
}

/** Items of a typed list need not say what they are. */
function withType(item: Json, list: JsonObject): Json {
  if (!isJsonObject(item) || list.kind === 'List') return item;
  return { apiVersion: list.apiVersion, kind: String(list.kind).slice(0, -'List'.length), ...item };
}
