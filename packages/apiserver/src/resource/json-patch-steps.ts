import { equal, isJsonObject, type Json, type JsonObject } from 'riata/object';
import { goQuote } from '../status/go-quote.js';

/** Thrown for a patch that cannot be applied, with the message of the library that kube-apiserver uses. */
export class ImpossiblePatchError extends Error {
  override readonly name = 'ImpossiblePatchError';
}

/**
 * Applies a JSON patch as kube-apiserver does (`json-patch.v4`), which is more lenient than RFC 6902: `replace` accepts
 * a missing member, `test` treats a missing member as null, a missing value is null, indexes may count from the end,
 * and any text before the first slash of a path is ignored. Does not change the document. Throws an {@link
 * ImpossiblePatchError}.
 */
export function applyJsonPatchSteps(document: Json, steps: readonly Json[]): Json {
  let at = document;
  for (const step of steps) at = applied(at, step);
  return at;
}

type Container = JsonObject | readonly Json[];
type Edit = (container: Container, key: string) => Container;

const missing = 'missing value';

function applied(document: Json, step: Json): Json {
  const { op, value = null } = isJsonObject(step) ? step : {};
  const member = (name: 'path' | 'from', problem: string): string => {
    const text = isJsonObject(step) ? step[name] : undefined;
    if (typeof text === 'string') return text;
    throw new ImpossiblePatchError(`${String(op)} operation failed to decode ${name}: ${problem}`);
  };
  const missingFrom = 'operation, missing from field: missing value';
  switch (op) {
    case 'add': {
      const path = member('path', missing);
      return edited(document, path, `add operation does not apply: doc is missing path: "${path}"`, (container, key) =>
        failing(`error in add for path: '${path}'`, () => added(container, key, value)),
      );
    }
    case 'remove': {
      const path = member('path', missing);
      const problem = `remove operation does not apply: doc is missing path: "${path}"`;
      return edited(document, path, problem, (container, key) =>
        failing(`error in remove for path: '${path}'`, () => removed(container, key)),
      );
    }
    case 'replace':
      return replaced(document, member('path', 'operation missing path field: missing value'), value);
    case 'test':
      return tested(document, member('path', 'operation missing path field: missing value'), step as JsonObject);
    case 'move': {
      const from = member('from', missingFrom);
      let moved: Json = null;
      const without = edited(
        document,
        from,
        `move operation does not apply: doc is missing from path: ${from}`,
        (container, key) =>
          failing(`error in move for path: '${key}'`, () => {
            moved = found(container, key) ?? null;
            return removed(container, key);
          }),
      );
      const path = member('path', 'operation missing path field: missing value');
      const problem = `move operation does not apply: doc is missing destination path: ${path}`;
      return edited(without, path, problem, (container, key) =>
        failing(`error in move for path: '${path}'`, () => added(container, key, moved)),
      );
    }
    case 'copy': {
      const from = member('from', missingFrom);
      const place = placeOf(document, from);
      if (place === undefined) {
        throw new ImpossiblePatchError(`copy operation does not apply: doc is missing from path: ${from}: ${missing}`);
      }
      const copied = failing(`error in copy for from: '${from}'`, () => found(place.container, place.key) ?? null);
      const path = member('path', missing);
      const problem = `copy operation does not apply: doc is missing destination path: ${path}`;
      return edited(document, path, problem, (container, key) =>
        failing('error while adding value during copy', () => added(container, key, copied)),
      );
    }
    default:
      throw new ImpossiblePatchError(`Unexpected kind: ${typeof op === 'string' ? op : 'unknown'}`);
  }
}

function replaced(document: Json, path: string, value: Json): Json {
  if (path === '') {
    if (isContainer(value)) return value;
    throw new ImpossiblePatchError('replace operation value must be object or array: %!w(<nil>)');
  }
  const problem = `replace operation does not apply: doc is missing path: ${path}`;
  return edited(document, path, problem, (container, key) => {
    if (isList(container)) {
      const index = indexIn(container, key);
      if (index === undefined) {
        throw new ImpossiblePatchError(`replace operation does not apply: doc is missing key: ${path}: ${missing}`);
      }
      return container.with(index, value);
    }
    return { ...container, [key]: value };
  });
}

function tested(document: Json, path: string, step: JsonObject): Json {
  const failed = () => new ImpossiblePatchError(`testing value ${path} failed: test failed`);
  const { value } = step;
  if (path === '') {
    if (value !== undefined && value !== null && equal(document, value)) return document;
    throw failed();
  }
  const place = placeOf(document, path);
  if (place === undefined) {
    throw new ImpossiblePatchError(`test operation does not apply: is missing path: ${path}: ${missing}`);
  }
  const is = failing(`error in test for path: '${path}'`, () => found(place.container, place.key)) ?? null;
  if (is === null ? (value ?? null) === null : value !== undefined && value !== null && equal(is, value)) {
    return document;
  }
  throw failed();
}

/** The document after `edit` has changed the container at a path. */
function edited(document: Json, path: string, problem: string, edit: Edit): Json {
  const parts = partsOf(path);
  const key = parts?.pop();
  if (parts === undefined || key === undefined) throw new ImpossiblePatchError(`${problem}: ${missing}`);
  const walk = (at: Json | undefined, depth: number): Json => {
    if (!isContainer(at)) throw new ImpossiblePatchError(`${problem}: ${missing}`);
    const part = parts[depth];
    if (part === undefined) return edit(at, key);
    if (!isList(at)) return { ...at, [part]: walk(found(at, part), depth + 1) };
    const index = indexIn(at, part);
    if (index === undefined) throw new ImpossiblePatchError(`${problem}: ${missing}`);
    return at.with(index, walk(at[index], depth + 1));
  };
  return walk(document, 0);
}

function placeOf(document: Json, path: string): { readonly container: Container; readonly key: string } | undefined {
  const parts = partsOf(path);
  const key = parts?.pop();
  let at: Json | undefined = document;
  for (const part of parts ?? []) {
    const index: number | string | undefined = isList(at) ? indexIn(at, part) : part;
    at = index === undefined || !isContainer(at) ? undefined : found(at, String(index));
  }
  return key === undefined || !isContainer(at) ? undefined : { container: at, key };
}

/** The names in a path; undefined if it has no slash. */
function partsOf(path: string): string[] | undefined {
  const [, ...parts] = path.split('/');
  return parts.length === 0 ? undefined : parts.map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'));
}

function added(container: Container, key: string, value: Json): Container {
  if (!isList(container)) return { ...container, [key]: value };
  if (key === '-') return [...container, value];
  const asked = integerOf(key);
  if (asked === undefined) {
    throw new ImpossiblePatchError(`value was not a proper array index: '${key}': ${notInteger(key)}`);
  }
  const size = container.length + 1;
  if (asked >= size || asked < -size) throw invalidIndex(asked);
  return container.toSpliced(asked < 0 ? asked + size : asked, 0, value);
}

function removed(container: Container, key: string): Container {
  if (isList(container)) return container.toSpliced(existing(container, key), 1);
  if (!Object.hasOwn(container, key)) {
    throw new ImpossiblePatchError(`Unable to remove nonexistent key: ${key}: ${missing}`);
  }
  const { [key]: _, ...rest } = container;
  return rest;
}

/** Undefined for a missing member; throws for a missing element. */
function found(container: Container, key: string): Json | undefined {
  if (isList(container)) return container[existing(container, key)];
  return Object.hasOwn(container, key) ? container[key] : undefined;
}

function existing(list: readonly Json[], key: string): number {
  const index = indexIn(list, key);
  if (index !== undefined) return index;
  const asked = integerOf(key);
  throw asked === undefined ? new ImpossiblePatchError(notInteger(key)) : invalidIndex(asked);
}

function indexIn(list: readonly Json[], key: string): number | undefined {
  const asked = integerOf(key) ?? Number.NaN;
  const index = asked < 0 ? asked + list.length : asked;
  return index >= 0 && index < list.length ? index : undefined;
}

function integerOf(text: string): number | undefined {
  return /^[+-]?\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function notInteger(text: string): string {
  return `strconv.Atoi: parsing ${goQuote(text)}: invalid syntax`;
}

function invalidIndex(index: number): ImpossiblePatchError {
  return new ImpossiblePatchError(`Unable to access invalid index: ${index}: invalid index referenced`);
}

function isList(value: Json | undefined): value is readonly Json[] {
  return Array.isArray(value);
}

function isContainer(value: Json | undefined): value is Container {
  return isList(value) || isJsonObject(value);
}

/** Prefixes an error with the operation that failed. */
function failing<T>(tried: string, work: () => T): T {
  try {
    return work();
  } catch (error) {
    if (error instanceof ImpossiblePatchError) throw new ImpossiblePatchError(`${tried}: ${error.message}`);
    throw error;
  }
}
