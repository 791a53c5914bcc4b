import { isJsonObject } from '../../object/json.js';
import { isMasked, mask } from './masking/masked.js';

/** One field that a write has changed. */
export interface FieldChange {
  /** Such as `spec.template.spec.containers[0].image`. */
  readonly path: string;
  /** Undefined if the field is new. Masked for secrets. */
  readonly before?: unknown;
  /** Undefined if the field was removed. Masked for secrets. */
  readonly after?: unknown;
}

/** More changes than this are counted, not listed. */
const mostChanges = 100;
/** Longer texts are cut. */
const mostText = 500;
/** They change with every write, and say nothing about it. */
const noise: ReadonlySet<string> = new Set(['metadata.resourceVersion', 'metadata.managedFields']);

/** What differs between two versions of an object, field by field, with secrets masked; the first 100. */
export function fieldDiff(
  kind: string,
  before: unknown,
  after: unknown,
): { readonly changes: readonly FieldChange[]; readonly more: number } {
  const changes: FieldChange[] = [];
  let more = 0;
  const note = (path: readonly string[], old: unknown, now: unknown) => {
    if (changes.length === mostChanges) {
      more += 1;
      return;
    }
    changes.push({
      path: formatPath(path),
      ...(old !== undefined && { before: shown(kind, path, old) }),
      ...(now !== undefined && { after: shown(kind, path, now) }),
    });
  };
  const walk = (path: readonly string[], old: unknown, now: unknown): void => {
    if (old === now || noise.has(path.join('.'))) return;
    if (isJsonObject(old) && isJsonObject(now)) {
      for (const name of new Set([...Object.keys(old), ...Object.keys(now)])) {
        walk([...path, name], old[name], now[name]);
      }
    } else if (Array.isArray(old) && Array.isArray(now)) {
      for (let at = 0; at < Math.max(old.length, now.length); at += 1) walk([...path, `[${at}]`], old[at], now[at]);
    } else note(path, old, now);
  };
  // A new object is shown by its members, not as one large value.
  walk([], before ?? {}, after ?? {});
  return { changes, more };
}

function shown(kind: string, path: readonly string[], value: unknown): unknown {
  if (isMasked(kind, path)) return isJsonObject(value) ? maskEach(value) : mask;
  // An added or removed subtree may hold a masked field further down.
  const inner = isJsonObject(value)
    ? Object.fromEntries(Object.entries(value).map(([name, below]) => [name, shown(kind, [...path, name], below)]))
    : value;
  if (typeof inner === 'string') return inner.length > mostText ? `${inner.slice(0, mostText)}…` : inner;
  const text = JSON.stringify(inner);
  return text !== undefined && text.length > 4 * mostText ? `${text.slice(0, 4 * mostText)}…` : inner;
}

function maskEach(value: object): object {
  return Object.fromEntries(Object.keys(value).map((name) => [name, mask]));
}

function formatPath(path: readonly string[]): string {
  return path.reduce((text, name) => {
    if (name.startsWith('[')) return `${text}${name}`;
    if (!/^[\w-]+$/.test(name)) return `${text}[${JSON.stringify(name)}]`;
    return text === '' ? name : `${text}.${name}`;
  }, '');
}
