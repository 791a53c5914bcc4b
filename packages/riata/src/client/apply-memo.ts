import { createHash } from 'node:crypto';
import { isJsonObject, type Json, type JsonObject } from '../object/json.js';
import type { KubeObject } from '../object/meta.js';
import { equal } from '../object/value/equal.js';
import { setOwn } from '../object/value/own.js';

interface Memory {
  readonly uid: string;
  /** Of the text that was applied. */
  readonly intent: string;
  /** What the server made of each part of it: `1000m` was answered by `1`, and `1` is what a cache will show. */
  readonly answered: Json | undefined;
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

  /** Notes an answer. `id` names object, field manager and subresource. */
  remember(id: string, intent: JsonObject, answer: KubeObject): void {
    this.#memories.delete(id);
    this.#memories.set(id, {
      uid: answer.metadata.uid,
      intent: digest(intent),
      answered: project(answer as unknown as Json, intent),
    });
    for (const oldest of this.#memories.keys()) {
      if (this.#memories.size <= this.#limit) break;
      this.#memories.delete(oldest);
    }
  }

  forget(id: string): void {
    this.#memories.delete(id);
  }

  /** True if the same intent was applied to this very object, and all that it speaks of is still as answered then. */
  stands(id: string, intent: JsonObject, current: KubeObject): boolean {
    const memory = this.#memories.get(id);
    if (memory === undefined || memory.uid !== current.metadata.uid || memory.intent !== digest(intent)) return false;
    this.#memories.delete(id);
    this.#memories.set(id, memory);
    return equal(project(current as unknown as Json, intent), memory.answered);
  }
}

/**
 * The parts of `value` that `intent` speaks of. Lists are taken whole: which of their elements are meant depends on the
 * schema, and taking too much costs a request at worst.
 */
function project(value: Json | undefined, intent: Json): Json | undefined {
  if (!isJsonObject(intent) || !isJsonObject(value)) return value;
  const out: Record<string, Json> = {};
  for (const [name, below] of Object.entries(intent)) {
    if (below === undefined || !Object.hasOwn(value, name)) continue;
    const part = project(value[name], below);
    if (part !== undefined) setOwn(out, name, part);
  }
  return out;
}

function digest(intent: JsonObject): string {
  return createHash('sha256').update(JSON.stringify(intent)).digest('base64');
}
