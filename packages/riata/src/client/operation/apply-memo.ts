import { isJsonObject } from '../../object/json.js';
import type { KubeObject } from '../../object/meta.js';
import { equal } from '../../object/value/equal.js';
import { getOwn, setOwn } from '../../object/value/own.js';
import { hash } from '../../runtime/crypto/hash.js';

interface Memory {
  readonly uid: string;
  /** Of the answer: an object that still has it is as answered, without a comparison. */
  readonly resourceVersion: string;
  /** The applied intent, as JSON or as its digest. */
  intent: string;
  /**
   * The server's form of each part of the intent, where it differs: `1000m` was answered by `1`, and `1` is what a
   * cache will hold.
   */
  answered: string | undefined;
  isText: boolean;
  /** It was used since it was last examined as the oldest. */
  isUsed: boolean;
}

/**
 * Bounds the memory at about 400 bytes for each object. A program that applies more objects in turn gets no hits at all:
 * each is forgotten before it comes round again.
 */
const maxMemories = 100_000;
/** Characters of JSON that are kept verbatim: recent intents are compared without a digest. */
const maxTextLength = 4_194_304;

/**
 * Remembers applied intents and the server's answers, to recognize no-op applies. Bounded: older entries are kept as
 * digests, and an old entry that was not used since is forgotten, which costs one request.
 */
export class ApplyMemo {
  readonly #memories = new Map<string, Memory>();
  /** Entries that hold JSON, oldest first. */
  readonly #texts = new Set<Memory>();
  readonly #limit: number;
  readonly #maxTextLength: number;
  #textLength = 0;

  constructor(limit = maxMemories, textLength = maxTextLength) {
    this.#limit = limit;
    this.#maxTextLength = textLength;
  }

  /** How many are remembered. */
  get size(): number {
    return this.#memories.size;
  }

  /** Notes an answer. `id` names object, field manager and subresource. */
  remember(id: string, intent: object, answer: KubeObject): void {
    this.#forget(id);
    const { uid, resourceVersion } = answer.metadata;
    const answered = agrees(answer, intent) ? undefined : project(answer, intent);
    const intentText = textOf(intent);
    const answeredText = answered === undefined ? undefined : textOf(answered);
    const isText = intentText !== undefined && (answered === undefined || answeredText !== undefined);
    const memory: Memory = {
      uid,
      resourceVersion,
      intent: isText ? intentText : digest(intent),
      answered: isText || answered === undefined ? answeredText : digest(answered),
      isText,
      isUsed: false,
    };
    this.#memories.set(id, memory);
    if (isText) {
      this.#texts.add(memory);
      this.#textLength += lengthOf(memory);
    }
    if (this.#memories.size > this.#limit) this.#forgetOldest();
    if (this.#textLength > this.#maxTextLength) this.#digestOldest();
  }

  /** True if the same intent was applied to this very object, and every field of it still is as answered then. */
  stands(id: string, intent: object, current: KubeObject): boolean {
    const memory = this.#memories.get(id);
    if (memory === undefined || memory.uid !== current.metadata.uid) return false;
    const { isText } = memory;
    if (!isSame(intent, memory.intent, isText)) return false;
    memory.isUsed = true;
    const { resourceVersion } = current.metadata;
    if (resourceVersion && resourceVersion === memory.resourceVersion) return true;
    if (memory.answered === undefined) return agrees(current, intent);
    return isSame(project(current, intent), memory.answered, isText);
  }

  #forget(id: string): void {
    const memory = this.#memories.get(id);
    if (memory === undefined) return;
    this.#memories.delete(id);
    this.#drop(memory);
  }

  #drop(memory: Memory): void {
    if (this.#texts.delete(memory)) this.#textLength -= lengthOf(memory);
  }

  /** An entry that was used becomes the youngest again. */
  #forgetOldest(): void {
    for (const [id, memory] of this.#memories) {
      if (this.#memories.size <= this.#limit) return;
      if (memory.isUsed) {
        memory.isUsed = false;
        this.#memories.delete(id);
        this.#memories.set(id, memory);
      } else this.#forget(id);
    }
  }

  #digestOldest(): void {
    for (const memory of this.#texts) {
      if (this.#textLength <= this.#maxTextLength) return;
      this.#drop(memory);
      memory.isText = false;
      memory.intent = digest(JSON.parse(memory.intent));
      if (memory.answered !== undefined) memory.answered = digest(JSON.parse(memory.answered));
    }
  }
}

function lengthOf({ intent, answered = '' }: Memory): number {
  return intent.length + answered.length;
}

/** JSON as it comes; undefined for values that hold integers past 2^53, which only a digest distinguishes. */
function textOf(value: unknown): string | undefined {
  try {
    return JSON.stringify(value);
  } catch {
    return undefined;
  }
}

/** Whether the value is the remembered one; the order of keys does not count. */
function isSame(value: unknown, remembered: string, isText: boolean): boolean {
  if (!isText) return digest(value) === remembered;
  const text = textOf(value);
  if (text === undefined || text === remembered) return text !== undefined;
  return equal(value, JSON.parse(remembered));
}

/** Whether every field of `intent` is in `value`, with the same value. */
function agrees(value: unknown, intent: unknown): boolean {
  if (!isJsonObject(intent) || !isJsonObject(value)) return equal(value, intent);
  for (const name in intent) {
    const part = intent[name];
    if (part !== undefined && !agrees(getOwn(value, name), part)) return false;
  }
  return true;
}

/**
 * The parts of `value` that `intent` speaks of. Lists are taken whole: which of their elements are meant depends on the
 * schema, and taking too much costs a request at worst.
 */
function project(value: unknown, intent: unknown): unknown {
  if (!isJsonObject(intent) || !isJsonObject(value)) return value;
  const parts: Record<string, unknown> = {};
  for (const name in intent) {
    if (intent[name] === undefined || !Object.hasOwn(value, name)) continue;
    const part = project(value[name], intent[name]);
    // No name means anything but itself.
    if (name === '__proto__') setOwn(parts, name, part);
    else parts[name] = part;
  }
  return parts;
}

/** A short text that is the same for equal JSON values, whatever the order of their keys. */
export function digest(value: unknown): string {
  return hash('sha256', canonical(value), 'base64');
}

/** JSON with sorted keys; whole numbers past 2^53, as `bigint`, in full. */
function canonical(value: unknown): string {
  if (typeof value === 'string') return JSON.stringify(value);
  if (typeof value === 'bigint') return String(value);
  if (Array.isArray(value)) {
    let text = '';
    for (const item of value) text += `${text && ','}${canonical(item)}`;
    return `[${text}]`;
  }
  if (!isJsonObject(value)) return JSON.stringify(value) ?? 'null';
  const keys = Object.keys(value);
  if (keys.length > 1) keys.sort();
  let text = '';
  for (const key of keys) {
    const part = value[key];
    if (part !== undefined) text += `${text && ','}${JSON.stringify(key)}:${canonical(part)}`;
  }
  return `{${text}}`;
}
