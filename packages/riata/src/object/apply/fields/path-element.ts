import { compareStrings } from '../../compare-strings.js';
import { goJson, goNumber, goQuote } from '../../go-text.js';
import { isJsonObject, type Json } from '../../json.js';

/**
 * One step into an object, in the notation of FieldsV1 (`fieldpath.PathElement`): `f:<name>` a field, `k:<JSON object>`
 * the list item with these keys, `v:<JSON>` the item of a set, `i:<n>` an index. The text is canonical (keys sorted, as
 * Go writes JSON), so equal elements are equal strings.
 */
export type PathElement = string;

/** Steps from the root of an object (`fieldpath.Path`). */
export type Path = readonly PathElement[];

/** A FieldsV1 entry that cannot be read. */
export class FieldsV1Error extends Error {
  override readonly name = 'FieldsV1Error';
}

/** The field of this name. */
export function fieldElement(name: string): PathElement {
  return `f:${name}`;
}

/** The list item with these values in its key fields; names need not be sorted. */
export function keyElement(keys: readonly (readonly [name: string, value: Json])[]): PathElement {
  const sorted = isSorted(keys) ? keys : [...keys].sort((a, b) => compareStrings(a[0], b[0]));
  let text = '';
  for (const [name, value] of sorted) text += `${text === '' ? '' : ','}${JSON.stringify(name)}:${goJson(value)}`;
  return `k:{${text}}`;
}

function isSorted(keys: readonly (readonly [name: string, value: Json])[]): boolean {
  for (let at = 1; at < keys.length; at++) if (compareStrings(keys[at - 1]![0], keys[at]![0]) > 0) return false;
  return true;
}

/** The item of a set that is this value. */
export function valueElement(value: Json): PathElement {
  return `v:${goJson(value)}`;
}

/** The item at this place of a list. */
export function indexElement(index: number): PathElement {
  return `i:${index}`;
}

/** The field's name if the element is one, else undefined. */
export function fieldName(element: PathElement): string | undefined {
  return element.charCodeAt(0) === f ? element.slice(2) : undefined;
}

/** The keys if the element names a list item by them, else undefined. */
export function elementKeys(element: PathElement): readonly (readonly [name: string, value: Json])[] | undefined {
  return element.charCodeAt(0) === k ? keysOf(element) : undefined;
}

/**
 * Reads one key of a FieldsV1 tree; undefined for a kind of element that is not known (it is ignored, not refused).
 * Throws a `FieldsV1Error` for one that is malformed.
 */
export function parseElement(text: string): PathElement | undefined {
  if (text.length < 2) throw new FieldsV1Error('key must be 2 characters long:');
  if (text.charCodeAt(1) !== colon) throw new FieldsV1Error(`missing colon: ${text}`);
  switch (text.charCodeAt(0)) {
    case f:
      return text;
    case k:
    case v:
      // JavaScript's numbers would round a long one.
      return plain.test(text) || /^v:-?\d{16,}$/.test(text) ? text : canonical(text);
    case i:
      if (!/^[+-]?\d+$/.test(text.slice(2))) throw new FieldsV1Error(`no index: ${text}`);
      return indexElement(Number(text.slice(2)));
    default:
      return undefined;
  }
}

/** Sorts elements as upstream does: fields, keys, values, indexes. */
export function sortElements(elements: Iterable<PathElement>): PathElement[] {
  const all = [...elements];
  if (all.length < 2) return all;
  if (all.every((element) => element.charCodeAt(0) === f || plain.test(element))) return all.sort(compareStrings);
  return all
    .map(decorate)
    .sort(compareDecorated)
    .map(({ element }) => element);
}

/** The element as messages print it: `.name`, `[name="x"]`, `[="x"]`, `[0]`. */
export function formatElement(element: PathElement): string {
  switch (element.charCodeAt(0)) {
    case f:
      return `.${element.slice(2)}`;
    case k:
      return `[${keysOf(element)
        .map(([name, value]) => `${name}=${formatScalar(value)}`)
        .join(',')}]`;
    case v:
      return `[=${formatScalar(parseJson(element))}]`;
    default:
      return `[${element.slice(2)}]`;
  }
}

/** The path as messages print it, e.g. `.spec.containers[name="web"].image`. */
export function formatPath(path: Path): string {
  return path.map(formatElement).join('');
}

const f = 'f'.charCodeAt(0);
const k = 'k'.charCodeAt(0);
const v = 'v'.charCodeAt(0);
const i = 'i'.charCodeAt(0);
const colon = ':'.charCodeAt(0);
/**
 * The value or the only key is a string of characters that JSON does not escape and that sort after a quote. Such an element
 * is canonical, and its text sorts as its value does.
 */
const plain = /^(?:k:\{"\w+":"[\w.:/-]*"\}|v:"[\w.:/-]*")$/;
const rankOf: ReadonlyMap<number, number> = new Map([f, k, v, i].map((code, rank) => [code, rank]));

function canonical(text: string): PathElement {
  return text.charCodeAt(0) === k ? keyElement(keysOf(text)) : valueElement(parseJson(text));
}

type Keys = (readonly [name: string, value: Json])[];

function keysOf(element: string): Keys {
  const keys = parseJson(element);
  if (!isJsonObject(keys)) throw new FieldsV1Error(`expected an object of keys: ${element}`);
  return Object.entries(keys) as Keys;
}

function parseJson(element: string): Json {
  try {
    return JSON.parse(element.slice(2)) as Json;
  } catch (cause) {
    throw new FieldsV1Error(`no JSON after the colon: ${element}`, { cause });
  }
}

interface Decorated {
  readonly element: PathElement;
  readonly rank: number;
  readonly keys: Keys;
  readonly value: Json;
}

function decorate(element: PathElement): Decorated {
  const code = element.charCodeAt(0);
  const keys = code === k ? keysOf(element) : [];
  const value = code === f ? element.slice(2) : code === k ? null : parseJson(element);
  return { element, rank: rankOf.get(code) ?? 4, keys, value };
}

function compareDecorated(a: Decorated, b: Decorated): number {
  if (a.rank !== b.rank) return a.rank - b.rank;
  return a.rank === 1 ? compareKeys(a.keys, b.keys) : compareValues(a.value, b.value);
}

function compareKeys(a: Keys, b: Keys): number {
  for (let at = 0; ; at++) {
    const x = a[at];
    const y = b[at];
    if (x === undefined || y === undefined) return (x === undefined ? 0 : 1) - (y === undefined ? 0 : 1);
    const order = compareStrings(x[0], y[0]) || compareValues(x[1], y[1]);
    if (order !== 0) return order;
  }
}

/** Numbers, strings, booleans, lists, objects, null; each by its own order. */
function compareValues(a: Json, b: Json): number {
  const kinds = kindRank(a) - kindRank(b);
  if (kinds !== 0) return kinds;
  if (typeof a === 'number' && typeof b === 'number') return a - b;
  if (typeof a === 'string' && typeof b === 'string') return compareStrings(a, b);
  if (typeof a === 'boolean') return Number(a) - Number(b);
  // Lists and objects are no keys of anything that is served: any order will do that is always the same.
  return compareStrings(goJson(a), goJson(b));
}

function kindRank(value: Json): number {
  if (typeof value === 'number') return 0;
  if (typeof value === 'string') return 1;
  if (typeof value === 'boolean') return 2;
  if (Array.isArray(value)) return 3;
  return value === null ? 5 : 4;
}

function formatScalar(value: Json): string {
  if (typeof value === 'string') return goQuote(value);
  if (typeof value === 'number') return goNumber(value);
  if (Array.isArray(value)) return `[${value.map(formatScalar).join(',')}]`;
  if (!isJsonObject(value)) return String(value);
  return Object.entries(value)
    .map(([name, member]) => `${name}=${formatScalar(member as Json)}`)
    .join('');
}
