import { Buffer } from 'node:buffer';
import { type Json, unsafeNumbers } from 'riata/object';
import { goJsonError, isTooDeep } from './go-json-error.js';
import { isTooDeepYaml } from './yaml-depth.js';

/** Thrown for a text that is not what it should be. The message is what Go's decoder says. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

/**
 * Thrown for a whole number past 2^53. Objects are plain JSON here, with the numbers that JavaScript has: rather than
 * being stored as its neighbour, such a number is refused.
 */
class UnsafeNumberError extends TextError {
  constructor(path: string) {
    super(`${path}: this server does not keep integers past 2^53`);
  }
}

/** Reads JSON. Bytes and escapes that are no characters become U+FFFD. Throws a {@link TextError}. */
export function readJson(bytes: Uint8Array): Json {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (isTooDeep(text)) throw new TextError(goJsonError(buffer.toString('latin1')));
  let value: Json;
  try {
    value = JSON.parse(text) as Json;
  } catch {
    throw new TextError(goJsonError(buffer.toString('latin1')));
  }
  refuseUnsafe(text);
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}

/** Go reads integers beyond 64 bits as the doubles that they are here too: only those between are lost. */
function refuseUnsafe(text: string): void {
  if (!/\d{16}|[eE]\+?\d{2}/.test(text)) return;
  for (const [token] of text.matchAll(/"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs)) {
    if (token.startsWith('"')) continue;
    if (!Number.isFinite(Number(token))) {
      throw new TextError(`json: cannot unmarshal number ${token} into Go value of type float64`);
    }
    if (isLost(token)) throw new UnsafeNumberError(unsafeNumbers(text)[0] ?? '');
  }
}

function isLost(token: string): boolean {
  if (/[.eE]/.test(token) || token.length > 20 || Number.isSafeInteger(Number(token))) return false;
  return fitsInt64(BigInt(token));
}

function fitsInt64(value: bigint): boolean {
  return BigInt.asIntN(64, value) === value;
}

/** YAML's whole numbers come as bigints, so that none is rounded unseen. */
function plainNumber(this: unknown, key: string, value: unknown): unknown {
  if (typeof value !== 'bigint') return value;
  const number = Number(value);
  if (!Number.isSafeInteger(number) && fitsInt64(value)) throw new UnsafeNumberError(key);
  return number;
}

/**
 * Reads the first document of a YAML text, as JSON has it: no dates, no sets, keys are texts. JSON is YAML too, and
 * what begins with a brace is read as such if it can be. Throws a {@link TextError}.
 */
export async function readYaml(bytes: Uint8Array): Promise<Json> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (/^\s*\{/.test(text)) {
    try {
      return readJson(bytes);
    } catch (error) {
      if (error instanceof UnsafeNumberError) throw error;
      // A flow mapping, perhaps.
    }
  }
  if (isTooDeepYaml(text)) throw new TextError('yaml: exceeded max depth');
  const { parseAllDocuments } = await import('yaml');
  try {
    const parsed = parseAllDocuments(text, {
      version: '1.1',
      uniqueKeys: false,
      intAsBigInt: true,
      logLevel: 'silent',
      customTags: (tags) => tags.filter((tag) => typeof tag === 'string' || !unwanted.has(tag.tag)),
    });
    const [first] = Array.isArray(parsed) ? parsed : [];
    if (first === undefined) return null;
    const [error] = first.errors;
    if (error !== undefined) throw error;
    const json = JSON.stringify(first.toJS({ maxAliasCount: 1_000 }) ?? null, plainNumber);
    if (isTooDeep(json)) throw new TextError('yaml: exceeded max depth');
    return JSON.parse(json) as Json;
  } catch (error) {
    if (error instanceof TextError) throw error;
    const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
    throw new TextError(`yaml: ${line}`);
  }
}

/** What JSON has no word for: such a value stays the text that it is. */
const unwanted = new Set(['timestamp', 'binary', 'set', 'omap', 'pairs'].map((name) => `tag:yaml.org,2002:${name}`));

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormed(member ?? null)]);
  return Object.fromEntries(entries) as Json;
}
