import { isJsonObject } from '../json.js';
import { getOwn } from '../value/own.js';

/**
 * The target of a `$ref` inside `root`: `#`, a JSON pointer, or the `$id` of a part of it. Undefined if it has none.
 */
export function resolveRef(root: unknown, ref: string): unknown {
  if (ref === '#') return root;
  if (!ref.startsWith('#/')) return findById(root, ref.startsWith('#') ? ref.slice(1) : ref, 0);
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    if (typeof at !== 'object' || at === null) return undefined;
    at = getOwn(at, decode(part).replaceAll('~1', '/').replaceAll('~0', '~'));
  }
  return at;
}

function decode(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    return part;
  }
}

function findById(node: unknown, id: string, depth: number): unknown {
  if (depth > 100) return undefined;
  if (Array.isArray(node)) return firstFound(node, id, depth);
  if (!isJsonObject(node)) return undefined;
  if (node.$id === id || node.$anchor === id) return node;
  return firstFound(Object.values(node), id, depth);
}

function firstFound(nodes: readonly unknown[], id: string, depth: number): unknown {
  for (const node of nodes) {
    const found = findById(node, id, depth + 1);
    if (found !== undefined) return found;
  }
  return undefined;
}
