import { hash } from 'node:crypto';
import { isJsonObject } from '../object/json.js';
import type { KubeObject } from '../object/meta.js';

interface Memory {
  readonly uid: string;
  /** Digest of what was applied. */
  readonly intent: string;
  /**
   * Digest of what the server made of each part of it: `1000m` was answered by `1`, and `1` is what a cache will show.
   * The values themselves would be copies of most of what is stored.
   */
  readonly answered: string;
}

/**
 * Remembers what was applied and how the server answered, to tell whether applying the same again would change
 * anything. Bounded: the longest unused is forgotten, which costs one request.
 */
export class ApplyMemo {
  readonly #memories = new Map<string, Memory>();
  readonly #limit: number;

  constructor(limit = 10_000) {
    this.#limit = limit;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#memories.size;
  }

  /** Notes an answer. `id` names object, field manager and subresource. */
  remember(id: string, intent: object, answer: KubeObject): void {
    this.#memories.delete(id);
    this.#memories.set(id, {
      uid: answer.metadata.uid,
      intent: digest(intent),
      answered: digest(project(answer, intent)),
    });
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= this.#limit) break;
      this.#memories.delete(oldest);
    }
  }

  /** True if the same intent was applied to this very object, and all that it speaks of is still as answered then. */
  stands(id: string, intent: object, current: KubeObject): boolean {
    const memory = this.#memories.get(id);
    if (memory === undefined || memory.uid !== current.metadata.uid || memory.intent !== digest(intent)) return false;
    this.#memories.delete(id);
    this.#memories.set(id, memory);
    return memory.answered === digest(project(current, intent));
  }
}

/**
 * The parts of `value` that `intent` speaks of. Lists are taken whole: which of their elements are meant depends on the
 * schema, and taking too much costs a request at worst.
 */
function project(value: unknown, intent: unknown): unknown {
  if (!isJsonObject(intent) || !isJsonObject(value)) return value;
  const parts: [string, unknown][] = [];
  for (const [name, below] of Object.entries(intent)) {
    if (below !== undefined && Object.hasOwn(value, name)) parts.push([name, project(value[name], below)]);
  }
  return Object.fromEntries(parts);
}

/** A short text that is the same for equal JSON values, whatever the order of their keys. */
export function digest(value: unknown): string {
  return hash('sha256', canonical(value), 'base64');
}

/** JSON with sorted keys; whole numbers past 2^53, as `bigint`, in full. */
function canonical(value: unknown): string {
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  let text = '';
  for (const key of Object.keys(value).sort()) {
    if (value[key] !== undefined) text += `${text && ','}${JSON.stringify(key)}:${canonical(value[key])}`;
  }
  return `{${text}}`;
}
