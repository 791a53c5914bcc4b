import { equal } from '../value/equal.js';
import { carryLoss } from '../value/lossy.js';
import { type Bag, copyOwn, getOwn, setOwn } from '../value/own.js';
import type { JsonPatch } from './json-patch.js';
import { escapeToken, parsePointer } from './json-pointer.js';
import { PatchError, typeName } from './patch-error.js';

/**
 * Applies a JSON patch (RFC 6902). `document` is not touched, whether it succeeds or fails; the result shares with it
 * what the patch left alone. Parts of the patch may be part of the result: leave it alone afterwards.
 *
 * Strict where implementations differ: every named place has to exist (also for `remove` and `test`), list indexes are
 * plain numbers (no sign, no leading zero), `-` is good only as the target of an addition, nothing moves into its own
 * child. Keys such as `__proto__` are data. Removing the whole document leaves `null`.
 *
 * @throws PatchError that names the step, its path and what is wrong.
 */
export function applyJsonPatch<T>(document: T, patch: JsonPatch): T {
  if (!Array.isArray(patch)) {
    throw new PatchError('invalid', '', `JSON patch: expected a list of operations, got ${typeName(patch)}`);
  }
  const draft = new Draft(document);
  for (const [index, operation] of patch.entries()) applyOperation(draft, operation, index);
  const result = draft.root;
  if (result !== document && typeof document === 'object' && document !== null) {
    if (typeof result === 'object' && result !== null) carryLoss(document, result);
  }
  return result as T;
}

function applyOperation(draft: Draft, operation: unknown, index: number): void {
  const step = readOperation(operation, index);
  try {
    switch (step.op) {
      case 'add':
        draft.add(step.path, step.value);
        return;
      case 'remove':
        draft.remove(step.path);
        return;
      case 'replace':
        draft.replace(step.path, step.value);
        return;
      case 'test':
        if (!equal(draft.get(step.path), step.value)) {
          throw new PatchError('test-failed', step.text, 'the value there is another one');
        }
        return;
      case 'copy':
        draft.copy(step.from, step.path);
        return;
      case 'move':
        draft.move(step.from, step.path);
        return;
    }
  } catch (error) {
    if (!(error instanceof PatchError)) throw error;
    const from = step.op === 'move' || step.op === 'copy' ? ` from "${step.fromText}"` : '';
    throw new PatchError(
      error.reason,
      step.text,
      `JSON patch: operation ${index} (${step.op}${from} "${step.text}"): ${error.message}`,
    );
  }
}

type Step = { readonly text: string; readonly path: string[] } & (
  | { readonly op: 'add' | 'replace' | 'test'; readonly value: unknown }
  | { readonly op: 'remove' }
  | { readonly op: 'move' | 'copy'; readonly from: string[]; readonly fromText: string }
);

function readOperation(operation: unknown, index: number): Step {
  const fail = (why: string): never => {
    throw new PatchError('invalid', '', `JSON patch: operation ${index}: ${why}`);
  };
  if (typeof operation !== 'object' || operation === null || Array.isArray(operation)) {
    return fail(`expected an object, got ${typeName(operation)}`);
  }
  const op = getOwn(operation, 'op');
  const text = getOwn(operation, 'path');
  if (typeof text !== 'string') return fail(`"path" has to be a string, got ${typeName(text)}`);
  const path = parsePointer(text);
  switch (op) {
    case 'add':
    case 'replace':
    case 'test': {
      const value = getOwn(operation, 'value');
      if (value === undefined) return fail(`${op} "${text}" needs a "value"`);
      return { op, text, path, value };
    }
    case 'remove':
      return { op, text, path };
    case 'move':
    case 'copy': {
      const from = getOwn(operation, 'from');
      if (typeof from !== 'string') return fail(`${op} "${text}" needs "from", a string, got ${typeName(from)}`);
      return { op, text, path, from: parsePointer(from), fromText: from };
    }
    default:
      return fail(`"op" has to be add, remove, replace, move, copy or test, got ${JSON.stringify(op) ?? 'nothing'}`);
  }
}

/** A document under change: nodes on the way to a change are copied once, all others are those of the original. */
class Draft {
  root: unknown;
  /** Copies made by this draft, each reachable by one path only: these may be written to. */
  readonly #owned = new Set<object>();

  constructor(root: unknown) {
    this.root = root;
  }

  get(path: readonly string[]): unknown {
    let node = this.root;
    for (const token of path) {
      if (Array.isArray(node)) {
        node = node[existingIndex(node, token)];
      } else if (typeof node === 'object' && node !== null) {
        node = existingMember(node, token);
      } else {
        throw new PatchError('not-found', '', `"${token}" cannot be looked up in a ${typeName(node)}`);
      }
    }
    return node;
  }

  add(path: readonly string[], value: unknown): void {
    const [parent, key] = this.#parent(path);
    if (parent === undefined) this.root = value;
    else if (Array.isArray(parent))
      parent.splice(key === '-' ? parent.length : readIndex(key, parent.length), 0, value);
    else setOwn(parent, key, value);
  }

  remove(path: readonly string[]): unknown {
    const [parent, key] = this.#parent(path);
    if (parent === undefined) {
      const removed = this.root;
      this.root = null;
      return removed;
    }
    if (Array.isArray(parent)) return parent.splice(existingIndex(parent, key), 1)[0] as unknown;
    const removed = existingMember(parent, key);
    delete (parent as Bag)[key];
    return removed;
  }

  replace(path: readonly string[], value: unknown): void {
    const [parent, key] = this.#parent(path);
    if (parent === undefined) {
      this.root = value;
    } else if (Array.isArray(parent)) {
      parent[existingIndex(parent, key)] = value;
    } else {
      existingMember(parent, key);
      setOwn(parent, key, value);
    }
  }

  copy(from: readonly string[], path: readonly string[]): void {
    const value = this.get(from);
    // From here on the copied nodes are reachable by two paths, so none of them may be written to any more.
    this.#owned.clear();
    this.add(path, value);
  }

  move(from: readonly string[], path: readonly string[]): void {
    if (from.length < path.length && from.every((token, i) => token === path[i])) {
      throw new PatchError('invalid', '', 'a value cannot be moved into its own child');
    }
    const value = this.get(from);
    if (from.length === path.length && from.every((token, i) => token === path[i])) return;
    this.remove(from);
    this.add(path, value);
  }

  /** The writable parent of a place and the last token; no parent for the whole document. */
  #parent(path: readonly string[]): [parent: object | unknown[] | undefined, key: string] {
    if (path.length === 0) return [undefined, ''];
    let node = this.#own(this.root, path[0]!);
    this.root = node;
    for (let i = 0; i < path.length - 1; i++) {
      const token = path[i]!;
      const next = path[i + 1]!;
      if (Array.isArray(node)) {
        const index = existingIndex(node, token);
        const child = this.#own(node[index], next);
        node[index] = child;
        node = child;
      } else {
        const child = this.#own(existingMember(node, token), next);
        setOwn(node, token, child);
        node = child;
      }
    }
    return [node, path[path.length - 1]!];
  }

  #own(node: unknown, expected: string): object | unknown[] {
    if (typeof node !== 'object' || node === null) {
      throw new PatchError('not-found', '', `"${expected}" cannot be looked up in a ${typeName(node)}`);
    }
    if (this.#owned.has(node)) return node;
    const copy = Array.isArray(node) ? [...(node as unknown[])] : copyOwn(node);
    this.#owned.add(copy);
    return copy;
  }
}

function existingMember(node: object, key: string): unknown {
  const value = getOwn(node, key);
  if (value === undefined) throw new PatchError('not-found', '', `there is no "${escapeToken(key)}"`);
  return value;
}

function existingIndex(list: readonly unknown[], token: string): number {
  if (token === '-') throw new PatchError('not-found', '', 'there is nothing at "-", the end of a list');
  return readIndex(token, list.length - 1);
}

function readIndex(token: string, last: number): number {
  if (!/^(0|[1-9][0-9]*)$/.test(token)) {
    throw new PatchError(
      'invalid',
      '',
      `a list index has to be a whole number without sign or leading zero, got "${token}"`,
    );
  }
  const index = Number(token);
  if (index > last) {
    throw new PatchError('not-found', '', `index ${token} is out of bounds, the last one possible is ${last}`);
  }
  return index;
}
