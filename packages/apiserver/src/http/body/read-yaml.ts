import { Buffer } from 'node:buffer';
import type { Json } from 'riata/object';
import type { Document, ScalarTag, Tags } from 'yaml';
import { goQuote } from '../../status/go-quote.js';
import { isTooDeep } from './go-json-error.js';
import { isTooDeepYaml } from './is-too-deep-yaml.js';
import { readJson, TextError } from './read-json.js';
import { writeJson } from './write-json.js';

/**
 * Reads the first document of a YAML text, as JSON has it: no dates, no sets, keys are texts. JSON is YAML too, and
 * what begins with a brace is read as such if it can be. Throws a {@link TextError}.
 */
export async function readYaml(bytes: Uint8Array): Promise<Json> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  if (/^\s*\{/.test(text)) {
    try {
      return readJson(bytes);
    } catch {
      // A flow mapping, perhaps.
    }
  }
  if (isTooDeepYaml(text)) throw new TextError('yaml: exceeded max depth');
  if (unprintable.test(text)) throw new TextError('yaml: control characters are not allowed');
  if (/^%YAML[ \t]+(?!1\.1\s)/.test(text)) throw new TextError('yaml: found incompatible YAML document');
  try {
    const document = await firstDocument(text);
    // Whole numbers come as bigints, so that none is rounded unseen; maps as such, so that keys are what they are.
    const value = document?.toJS({ maxAliasCount: 1_000, mapAsMap: true }) as unknown;
    const json = writeJson(plain(value ?? null));
    if (isTooDeep(json)) throw new TextError('yaml: exceeded max depth');
    return readJson(Buffer.from(json));
  } catch (error) {
    if (error instanceof TextError) throw error;
    throw new TextError(`yaml: ${goProblem(error)}`);
  }
}

const unprintable = /[^\t\n\r\x20-\x7e\x85\xa0-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/u;

async function firstDocument(text: string): Promise<Document.Parsed | undefined> {
  const { parseAllDocuments, visit } = await import('yaml');
  const parsed = parseAllDocuments(text, {
    version: '1.1',
    uniqueKeys: false,
    intAsBigInt: true,
    logLevel: 'silent',
    customTags: tagsOfGo,
  });
  const [first] = Array.isArray(parsed) ? parsed : [];
  const [error] = first?.errors ?? [];
  if (error !== undefined) throw error;
  if (first !== undefined && /\\u[dD][89a-fA-F]/.test(text)) {
    visit(first, {
      Scalar(_key, { type, range }) {
        const [from = 0, to = 0] = range ?? [];
        if (type !== 'QUOTE_DOUBLE' || !/(?<!\\)(?:\\\\)*\\u[dD][89a-fA-F]/.test(text.slice(from, to))) return;
        const line = text.slice(0, from).split('\n').length;
        throw new TextError(`yaml: line ${line}: found invalid Unicode character escape code`);
      },
    });
  }
  return first;
}

const named = (name: string) => `tag:yaml.org,2002:${name}`;

/** Types without JSON form: such a value stays a text. */
const excluded: ReadonlySet<string> = new Set(['timestamp', 'binary', 'set', 'omap', 'pairs'].map(named));

/** YAML 1.1 without dates and without times that are numbers, but with the numbers that Go has. */
function tagsOfGo(tags: Tags): Tags {
  const known = tags.filter((tag) => typeof tag === 'string' || !(excluded.has(tag.tag) || isTime(tag)));
  return [...known, prefixedInteger, wholeFloat, binary];
}

function isTime(tag: Exclude<Tags[number], string>): boolean {
  return 'format' in tag && tag.format === 'TIME';
}

const prefixedInteger: ScalarTag = {
  tag: named('int'),
  default: true,
  test: /^[-+]?0(?:[oO][0-7_]+|X[0-9a-fA-F_]+|B[01_]+)$/,
  resolve(text) {
    const magnitude = BigInt(text.replace(/[-+_]/g, '').toLowerCase());
    return text.startsWith('-') ? -magnitude : magnitude;
  },
};

/** A whole number that is said to be none. */
const wholeFloat: ScalarTag = {
  tag: named('float'),
  default: false,
  test: /^[-+]?[0-9][0-9_]*$/,
  resolve: (text) => Number(text.replaceAll('_', '')),
};

const binary: ScalarTag = {
  tag: named('binary'),
  default: false,
  resolve(text, onError) {
    const base64 = text.replace(/\s/g, '');
    if (!/^[A-Za-z0-9+/]*={0,2}$/.test(base64) || base64.length % 4 > 0) {
      onError('!!binary value contains invalid base64 data');
    }
    return Buffer.from(base64, 'base64').toString('utf8');
  },
};

/** Maps as objects. Throws a {@link TextError} for what JSON cannot say. */
function plain(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(plain);
  if (value instanceof Map) return Object.fromEntries([...value].map(([key, one]) => [keyOf(key, one), plain(one)]));
  if (typeof value === 'number' && !Number.isFinite(value)) {
    const shown = Number.isNaN(value) ? 'NaN' : value > 0 ? '+Inf' : '-Inf';
    throw new TextError(`json: unsupported value: ${shown}`);
  }
  return value;
}

function keyOf(key: unknown, value: unknown): string {
  if (Array.isArray(key) || key instanceof Map) {
    // Errors inside it are reported first.
    plain(key);
    throw new TextError(`yaml: invalid map key: ${goSyntax(key)}`);
  }
  if (key === null) {
    throw new TextError(`unsupported map key of type: %!s(<nil>), key: <nil>, value: ${goSyntax(value)}`);
  }
  return String(key);
}

/** A value as Go shows it to programmers (`%#v`). */
function goSyntax(value: unknown): string {
  if (typeof value === 'string') return goQuote(value);
  if (Array.isArray(value)) return `[]interface {}{${value.map(goSyntax).join(', ')}}`;
  if (!(value instanceof Map)) return value === null ? '<nil>' : String(value);
  const members = [...value].map(([key, one]) => `${goSyntax(key)}:${goSyntax(one)}`);
  return `map[interface {}]interface {}{${members.join(', ')}}`;
}

/** Go's words for some common mistakes; for others, those of our own reader. */
function goProblem(error: unknown): string {
  const [line = ''] = (error instanceof Error ? error.message : String(error)).split('\n');
  const [, anchor] = /^Unresolved alias .*: (.*)$/.exec(line) ?? [];
  if (anchor !== undefined) return `unknown anchor '${anchor}' referenced`;
  if (line.startsWith('Merge sources must be')) return 'map merge requires map or sequence of maps as the value';
  const [, at] = /^Tabs are not allowed as indentation at line (\d+)/.exec(line) ?? [];
  if (at === undefined) return line;
  // Go leaves the first line out.
  return `${at === '1' ? '' : `line ${at}: `}found character that cannot start any token`;
}
