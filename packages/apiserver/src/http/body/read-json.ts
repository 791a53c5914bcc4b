import { Buffer } from 'node:buffer';
import type { Json } from 'riata/object';
import { atOnce, type Steps } from '../../steps.js';
import { goJsonError, isTooDeep } from './go-json-error.js';
import { parseJson } from './parse-json.js';

/** Thrown for a text that is not what it should be. The message is what Go's decoder says. */
export class TextError extends Error {
  override readonly name = 'TextError';
}

/**
 * Reads JSON. Bytes and escapes that are no characters become U+FFFD. A whole number of 64 bits that JavaScript's numbers
 * would round is a bigint. Throws a {@link TextError}.
 */
export function readJson(bytes: Uint8Array): Json {
  return atOnce(read(bytes, parseAtOnce));
}

/** As {@link readJson}. */
export function readJsonSteps(bytes: Uint8Array): Steps<Json> {
  return read(bytes, parseJson);
}

// biome-ignore lint/correctness/useYield: the engine's own parser is the fastest for small bodies.
function* parseAtOnce(text: string): Steps<Json> {
  return JSON.parse(text) as Json;
}

function* read(bytes: Uint8Array, parse: (text: string) => Steps<Json>): Steps<Json> {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const text = buffer.toString('utf8');
  if (isTooDeep(text)) throw new TextError(goJsonError(buffer.toString('latin1')));
  let value: Json;
  try {
    value = yield* parse(text);
  } catch {
    throw new TextError(goJsonError(buffer.toString('latin1')));
  }
  yield;
  if (hasLongNumbers(text)) value = readExactly(text);
  return /\\u[dD][89a-fA-F]/.test(text) ? wellFormed(value) : value;
}

/** Whether some number is lost, or too large for any; throws for the latter. */
function hasLongNumbers(text: string): boolean {
  if (!/\d{16}|[eE]\+?\d{2}/.test(text)) return false;
  let found = false;
  for (const [token] of text.matchAll(tokens)) {
    if (token.startsWith('"')) continue;
    if (!Number.isFinite(Number(token))) {
      throw new TextError(`json: cannot unmarshal number ${token} into Go value of type float64`);
    }
    found ||= isLost(token);
  }
  return found;
}

const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*/gs;

/** Go reads integers beyond 64 bits as the doubles that they are here too: only those between are lost. */
function isLost(token: string): boolean {
  if (/[.eE]/.test(token) || token.length > 20 || Number.isSafeInteger(Number(token))) return false;
  const value = BigInt(token);
  return BigInt.asIntN(64, value) === value;
}

/**
 * Replaces numbers that would lose digits by texts. These begin with a NUL; texts that begin with one themselves get
 * another one, so that the two can't be confused.
 */
function readExactly(text: string): Json {
  const marked = text.replace(tokens, (token, at: number) => {
    if (!token.startsWith('"')) return isLost(token) ? `"\\u0000${token}"` : token;
    const isKey = /^\s*:/.test(text.slice(at + token.length, at + token.length + 100));
    return token.startsWith('"\\u0000') && !isKey ? `"\\u0000${token.slice(1)}` : token;
  });
  return JSON.parse(marked, (_key, value) => {
    if (typeof value !== 'string' || !value.startsWith('\u0000')) return value;
    return value.startsWith('\u0000\u0000') ? value.slice(1) : BigInt(value.slice(1));
  }) as Json;
}

function wellFormed(value: Json): Json {
  if (typeof value === 'string') return value.replace(/\p{Surrogate}/gu, '\ufffd');
  if (Array.isArray(value)) return value.map(wellFormed);
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).map(([key, member]) => [wellFormed(key), wellFormed(member ?? null)]);
  return Object.fromEntries(entries) as Json;
}
