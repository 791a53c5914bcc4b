import { isJsonObject, type Json, type JsonObject, splitApiVersion } from 'riata/object';
import { writeJson } from '../../http/body/write-json.js';
import { withConversions } from '../../resource/custom/stored-conversions.js';
import { metaOf, textOf, withMeta } from '../../resource/metadata.js';
import { otherKind } from '../../resource/other-kind.js';
import { UnreadableError } from '../../resource/read-object.js';
import { type Resource, withDefaults } from '../../resource/resource.js';
import type { ResourceTable } from '../../resource/resource-table.js';
import { builtInSchema } from '../../schema/built-in/built-in-schema.js';
import { decodeTyped, IllTypedError } from '../../schema/built-in/decode-typed.js';
import { invalid } from '../../status/field-error.js';
import { goKind } from '../../status/go-kind.js';
import { goQuote } from '../../status/go-quote.js';
import { internal, invalidObject, Refusal } from '../../status/refusal.js';
import type { Steps } from '../../steps.js';
import { mismatch } from '../../webhook-client/read-review.js';
import { converted } from '../matching/objects-in.js';

/**
 * Decodes and defaults an object that a webhook has patched. A webhook may write another served version of the kind;
 * any other kind is refused. Throws a `Refusal` with kube-apiserver's message.
 */
export function* readPatched(served: ResourceTable, resource: Resource, patched: JsonObject): Steps<JsonObject> {
  const { apiVersion, kind } = typeOf(patched);
  const named = resource.builtIn
    ? { apiVersion: apiVersion || resource.apiVersion, kind: kind || resource.kind }
    : { apiVersion, kind };
  if (named.kind === '') throw internal(`Object 'Kind' is missing in '${writeJson(sorted(patched))}'`);
  if (named.apiVersion === resource.apiVersion && named.kind === resource.kind) return yield* read(resource, patched);
  const { group, version } = splitApiVersion(named.apiVersion);
  const other = group === resource.group ? served.find(group, version, resource.plural) : undefined;
  if (other?.kind === named.kind && other.table === resource.table) {
    const object = yield* read(other, patched);
    return yield* withConversions(() => converted(object, other, resource));
  }
  throw resource.builtIn
    ? builtInRefusal(resource, named, patched)
    : customRefusal(resource, named, textOf(metaOf(patched).name));
}

/** What an object says it is. */
interface NamedType {
  readonly apiVersion: string;
  readonly kind: string;
}

function typeOf({ apiVersion = '', kind = '' }: JsonObject): NamedType {
  for (const [name, value] of Object.entries({ apiVersion, kind })) {
    if (typeof value === 'string' || value === null) continue;
    throw internal(`couldn't get version/kind; json parse error: ${mismatch(value, '', name, 'string')}`);
  }
  if (textOf(apiVersion).split('/').length > 2) {
    throw internal(`unexpected GroupVersion string: ${textOf(apiVersion)}`);
  }
  return { apiVersion: textOf(apiVersion), kind: textOf(kind) };
}

/** The object is decoded as what it says it is before its type is compared. */
function builtInRefusal(resource: Resource, { apiVersion, kind }: NamedType, patched: JsonObject): Refusal {
  const message = otherKind(resource, apiVersion, kind);
  const schema = builtInSchema({ ...splitApiVersion(apiVersion), kind });
  if (schema === undefined || message.startsWith('no kind ')) return internal(message);
  try {
    decodeTyped(patched, schema);
  } catch (error) {
    if (error instanceof IllTypedError) return internal(error.message);
    throw error;
  }
  return new Refusal(500, '', message);
}

function customRefusal(resource: Resource, { apiVersion, kind }: NamedType, name: string): Refusal {
  if (apiVersion === resource.apiVersion) {
    return invalidObject({ ...resource, kind }, name, [invalid('kind', kind, `must be ${resource.kind}`)]);
  }
  const what = `${goKind(apiVersion, kind)} is unstructured`;
  return new Refusal(500, '', `${what} and is not suitable for converting to ${goQuote(resource.apiVersion)}`);
}

function* read(resource: Resource, patched: JsonObject): Steps<JsonObject> {
  const { apiVersion, kind } = resource;
  try {
    const { managedFields } = metaOf(patched);
    // Of a custom object, upstream reads it apart, and forgets what it can't read.
    const odd = !resource.builtIn && managedFields !== undefined && !Array.isArray(managedFields);
    const { metadata } = odd ? withMeta(patched, { managedFields: undefined }) : patched;
    const { object } = yield* resource.schema.read({ ...patched, ...(odd && { metadata }), apiVersion, kind });
    return withDefaults(resource, object);
  } catch (error) {
    if (error instanceof UnreadableError) throw internal(error.message);
    throw error;
  }
}

/** The value with the members of all objects in the order of their names, as Go writes maps. */
function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (!isJsonObject(value)) return value;
  const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(entries.map(([name, one]) => [name, sorted(one ?? null)]));
}
