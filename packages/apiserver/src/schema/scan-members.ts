import type { Steps } from '../steps.js';

/**
 * Called for every member of every object in a text, in order: with what the visit of its parent returned, its key, and
 * whether the object has that key already for the second time (a third is not a duplicate again). Returns what to visit
 * the objects in the member's value with; undefined passes over them.
 */
export type VisitMember<T> = (owner: T, key: string, path: () => string, isDuplicate: boolean) => T | undefined;

/** One open object or list. */
interface Frame<T> {
  /** Whether it is an object that is visited. */
  readonly visited: boolean;
  /** How often each key came; made when there is a second one. */
  seen: Map<string, number> | undefined;
  readonly owner: T | undefined;
  /** Of a list: where in it the scan is. */
  index: number;
  /** Of an object: the current member. */
  key: string | undefined;
  /** The visitor for the objects in the value of the current member. */
  child: T | undefined;
}

const quote = 0x22;
const backslash = 0x5c;
/** How many members are visited in about a millisecond. */
const membersAtOnce = 1024;

/** Goes through the members of all objects in a valid JSON text. Takes no recursion, however deep the text is nested. */
export function* scanMembers<T>(text: string, root: T, visit: VisitMember<T>): Steps<void> {
  const stack: Frame<T>[] = [];
  let top: Frame<T> | undefined;
  let atKey = false;
  let visited = 0;
  const path = () => pathOf(stack);
  for (let i = 0; i < text.length; i++) {
    switch (text.charCodeAt(i)) {
      case quote: {
        const end = stringEnd(text, i);
        if (atKey && top?.visited) {
          const raw = text.slice(i, end + 1);
          const key: string = raw.includes('\\') ? JSON.parse(raw) : raw.slice(1, -1);
          const times = count(top, key);
          visited += 1;
          if (visited % membersAtOnce === 0) yield;
          top.child = visit(top.owner as T, key, path, times === 1);
        }
        atKey = false;
        i = end;
        break;
      }
      case 0x7b: {
        // {
        const owner: T | undefined = top === undefined ? root : top.child;
        top = { visited: owner !== undefined, seen: undefined, owner, index: -1, key: undefined, child: undefined };
        stack.push(top);
        atKey = true;
        break;
      }
      case 0x5b: {
        // [
        const child: T | undefined = top === undefined ? root : top.child;
        top = { visited: false, seen: undefined, owner: undefined, index: 0, key: undefined, child };
        stack.push(top);
        break;
      }
      case 0x7d: // }
      case 0x5d: // ]
        stack.pop();
        top = stack.at(-1);
        atKey = false;
        break;
      case 0x2c: // ,
        if (top !== undefined && top.index >= 0) top.index++;
        else atKey = true;
        break;
    }
  }
}

/** Makes the key the current one; returns how often it came before. */
function count<T>(frame: Frame<T>, key: string): number {
  const before = frame.key;
  frame.key = key;
  if (before === undefined) return 0;
  frame.seen ??= new Map([[before, 1]]);
  const times = frame.seen.get(key) ?? 0;
  frame.seen.set(key, times + 1);
  return times;
}

/** The place of the closing quote of a string, or the end of the text. */
export function stringEnd(text: string, start: number): number {
  let end = text.indexOf('"', start + 1);
  while (end !== -1) {
    let slashes = 0;
    while (text.charCodeAt(end - 1 - slashes) === backslash) slashes++;
    if (slashes % 2 === 0) return end;
    end = text.indexOf('"', end + 1);
  }
  return text.length;
}

/** E.g. `spec.containers[0].name`. */
function pathOf<T>(stack: readonly Frame<T>[]): string {
  let path = '';
  for (const frame of stack) {
    if (frame.index >= 0) path += `[${frame.index}]`;
    else path += path === '' ? (frame.key ?? '') : `.${frame.key ?? ''}`;
  }
  return path;
}
