import { Buffer } from 'node:buffer';
import { isJsonObject, type Json, type JsonObject, splitApiVersion } from 'riata/object';
import type { Scheduler } from 'riata/runtime';
import type { PatchKind } from '../../resource/patch-object.js';
import { badRequest, Refusal, tooLarge, unsupportedMediaType } from '../../status/refusal.js';
import { inSlices } from '../../steps.js';
import { goTypeOf } from '../options/delete-options.js';
import { maxBodyBytes, type ServerRequest } from '../server-request.js';
import { bodyTypes, mediaTypeOf, protobufType } from './media-type.js';
import { readJson, readJsonSteps, TextError } from './read-json.js';
import { readYaml } from './read-yaml.js';
import { writeJson } from './write-json.js';
import { yamlDuplicates } from './yaml-duplicates.js';

/** A patch as it was sent. */
export interface PatchBody {
  readonly kind: PatchKind;
  /** The patch. Read on first use, after the object was found, as kube-apiserver does: throws 400. */
  read(): Json;
  /** The JSON text of it; undefined if it is YAML. */
  text(): string | undefined;
  /** The errors of a strict decoding of the YAML text; undefined if there are none, or if it is JSON. */
  readonly yamlComplaint: string | undefined;
}

/**
 * The object in the body of a create or an update. A null is an empty object; a custom one must say what it is. Throws
 * 400, 413 and 415.
 */
export async function readObjectBody(
  request: ServerRequest,
  expected: Expected,
  custom: boolean,
  clock: Scheduler,
): Promise<JsonObject> {
  const type = bodyTypeOf(request);
  // Custom objects have no messages.
  if (custom && type === protobufType) throw unsupportedMediaType(bodyTypes.slice(0, 2));
  checkSize(request);
  const { kind } = expected;
  try {
    if (type === protobufType) return await readProtobuf(request.body, expected);
    const object = await readTyped(request.body, type, clock);
    if (custom) checkNamed(object);
    return object;
  } catch (error) {
    if (!(error instanceof TextError)) throw error;
    const shown = excerpt(request.body);
    throw badRequest(`the object provided is unrecognized (must be of type ${kind}): ${error.message} (${shown})`);
  }
}

/** A shorter one is read in a millisecond or two. */
const longBody = 128 * 1024;

/** The expected kind of a body. */
interface Expected {
  readonly apiVersion: string;
  readonly kind: string;
}

/** Throws a {@link TextError} for a malformed object, and 400 for an object of another kind. */
async function readProtobuf(bytes: Uint8Array, expected: Expected): Promise<JsonObject> {
  const { decodeObject, EnvelopeError, WireError } = await import('../../protobuf/envelope.js');
  try {
    return decodeObject(bytes, expected);
  } catch (error) {
    if (!(error instanceof WireError)) throw error;
    if (error instanceof EnvelopeError) throw new TextError(error.message);
    const { apiVersion, kind } = expected;
    const { version } = splitApiVersion(apiVersion);
    throw badRequest(`${kind} in version "${version}" cannot be handled as a ${kind}: ${error.message}`);
  }
}

/** The text of a JSON body; undefined for one in another format. */
export function jsonText(request: ServerRequest): string | undefined {
  return bodyTypeOf(request) === 'application/json' ? Buffer.from(request.body).toString('utf8') : undefined;
}

/** The errors of a strict decoding of a YAML body; undefined if there are none, or if it is not YAML. */
export async function yamlComplaintOf(request: ServerRequest): Promise<string | undefined> {
  return bodyTypeOf(request) === 'application/yaml' ? yamlDuplicates(request.body) : undefined;
}

/** The DeleteOptions in the body of a deletion; undefined without a body. Throws 400, 413 and 415. */
export async function readDeleteBody(request: ServerRequest, clock: Scheduler): Promise<Json | undefined> {
  checkSize(request);
  if (request.body.length === 0) return undefined;
  const type = bodyTypeOf(request);
  try {
    if (type === protobufType) return await readProtobuf(request.body, deleteOptions);
    return await readTyped(request.body, type, clock);
  } catch (error) {
    throw error instanceof TextError ? badRequest(error.message) : error;
  }
}

const deleteOptions: Expected = { apiVersion: 'v1', kind: 'DeleteOptions' };

const patchKinds: Readonly<Record<string, PatchKind>> = {
  'application/json-patch+json': 'json',
  'application/merge-patch+json': 'merge',
  'application/strategic-merge-patch+json': 'strategic',
  'application/apply-patch+yaml': 'apply',
};

/** The type of a patch request. `types` are those that the resource accepts. Throws 415. */
export function patchKindOf(request: ServerRequest, types: readonly string[], custom: boolean): PatchKind {
  const type = mediaTypeOf(request.headers['content-type'] ?? '') ?? '';
  const kind = types.includes(type) ? patchKinds[type] : undefined;
  if (kind !== undefined) return kind;
  throw custom ? unsupportedMediaType(types) : unroutedMediaType();
}

/** The patch in a body; `strict` asks for complaints. Throws 413, and 400 for an apply patch that cannot be read. */
export async function readPatchBody(request: ServerRequest, kind: PatchKind, strict: boolean): Promise<PatchBody> {
  checkSize(request);
  const text = () => Buffer.from(request.body).toString('utf8');
  if (kind !== 'apply') return { kind, read: () => readJsonPatch(request.body, kind), text, yamlComplaint: undefined };
  const value = await readYaml(request.body).catch((error: unknown) => {
    throw error instanceof TextError
      ? badRequest(`error decoding YAML: error converting YAML to JSON: ${error.message}`)
      : error;
  });
  const intent = value ?? {};
  if (!isJsonObject(intent)) {
    const why = `json: cannot unmarshal ${goTypeOf(intent)} into Go value of type map[string]interface {}`;
    throw badRequest(`error decoding YAML: error unmarshaling JSON: while decoding JSON: ${why}`);
  }
  const yamlComplaint = strict ? await yamlDuplicates(request.body) : undefined;
  return { kind, read: () => intent, text: () => undefined, yamlComplaint };
}

function readJsonPatch(bytes: Uint8Array, kind: PatchKind): Json {
  const prefix = kind === 'strategic' ? '' : 'error decoding patch: ';
  try {
    const value = readJson(bytes);
    if (value === null && kind === 'merge') throw badRequest('Invalid JSON Patch');
    if (value === null) return kind === 'json' ? [] : {};
    const odd = wrongPart(value, kind);
    if (odd === undefined) return value;
    throw badRequest(`${prefix}json: cannot unmarshal ${goTypeOf(odd.value)} into Go value of type ${odd.type}`);
  } catch (error) {
    throw error instanceof TextError ? badRequest(`${prefix}${error.message}`) : error;
  }
}

/** The error for a patch that does not fit into its Go type. */
function wrongPart(value: Json, kind: PatchKind): { readonly value: Json; readonly type: string } | undefined {
  if (kind !== 'json') return isJsonObject(value) ? undefined : { value, type: 'map[string]interface {}' };
  if (!Array.isArray(value)) return { value, type: '[]handlers.jsonPatchOp' };
  const odd = value.find((step) => step !== null && !isJsonObject(step));
  return odd === undefined ? undefined : { value: odd, type: 'handlers.jsonPatchOp' };
}

/** The answer of go-restful before a handler is called. */
function unroutedMediaType(): Refusal {
  return new Refusal(415, 'UnsupportedMediaType', '415: Unsupported Media Type', {});
}

function bodyTypeOf(request: ServerRequest): string {
  const sent = request.headers['content-type'] ?? '';
  const type = sent === '' ? 'application/json' : mediaTypeOf(sent);
  const known = bodyTypes.find((one) => one === type);
  if (known === undefined) throw unsupportedMediaType(bodyTypes);
  return known;
}

function checkSize(request: ServerRequest): void {
  if (request.body.length > maxBodyBytes) throw tooLarge(maxBodyBytes);
}

const typeMeta = String.raw`struct { APIVersion string "json:\"apiVersion,omitempty\""; Kind string "json:\"kind,omitempty\"" }`;

/** An object whose `apiVersion` and `kind` are texts, if they are there. */
async function readTyped(bytes: Uint8Array, type: string, clock: Scheduler): Promise<JsonObject> {
  const fail = (why: string) => new TextError(`couldn't get version/kind; json parse error: ${why}`);
  const value = type === 'application/yaml' ? await readYaml(bytes) : await readJsonAs(bytes, clock, fail);
  if (value === null) return {};
  if (!isJsonObject(value)) throw fail(`json: cannot unmarshal ${goTypeOf(value)} into Go value of type ${typeMeta}`);
  for (const name of Object.keys(value)) {
    const member = value[name];
    if ((name !== 'apiVersion' && name !== 'kind') || typeof member === 'string' || member == null) continue;
    throw fail(`json: cannot unmarshal ${goTypeOf(member)} into Go struct field .${name} of type string`);
  }
  const { apiVersion } = value;
  if (typeof apiVersion === 'string' && apiVersion.split('/').length > 2) {
    throw new TextError(`unexpected GroupVersion string: ${apiVersion}`);
  }
  return value;
}

function checkNamed(object: JsonObject): void {
  const missing = object.kind ? (object.apiVersion ? undefined : 'apiVersion') : 'Kind';
  if (missing !== undefined) throw new TextError(`Object '${missing}' is missing in '${writeJson(object)}'`);
}

async function readJsonAs(bytes: Uint8Array, clock: Scheduler, fail: (why: string) => TextError): Promise<Json> {
  try {
    return bytes.length < longBody ? readJson(bytes) : await inSlices(clock, readJsonSteps(bytes));
  } catch (error) {
    throw error instanceof TextError ? fail(error.message) : error;
  }
}

/** The beginning of a body, as messages show it: a text if it looks like JSON, else its bytes. */
function excerpt(body: Uint8Array): string {
  if (body.length === 0) return '<empty>';
  const start = Buffer.from(body.subarray(0, 30));
  const shown = start[0] === 0x7b ? start.toString('utf8') : start.toString('hex');
  return body.length > 30 ? `${shown} ...` : shown;
}
