import { type Cache, cachedObjects } from '../../../cache/cache.js';
import { type ConnectedClient, onGet } from '../../../client/create-client.js';
import type { Write } from '../../../client/operation/write-hook.js';
import { Secret } from '../../../kinds/generated/groups/core/v1.js';
import { isJsonObject } from '../../../object/json.js';
import { formsOf, without } from '../../../rest/chain/own-secrets.js';
import type { Clock } from '../../../runtime/time/clock.js';
import { sizeUpTo } from '../size-up-to.js';
import { maskText } from './mask-text.js';
import { mask } from './masked.js';

/** Shorter values occur in any text: masking them would reveal more than it hides. */
const shortest = 6;
/** Longer texts are compared line by line as well: an error may quote one line of a key. */
const shortestLine = 16;
/** Versions of Secrets beyond this are forgotten, the oldest first. */
const mostNoted = 250;
/** Larger ones, in characters, are not kept: all of them together have four million at most. */
const mostSize = 16_000;
/** Of cached Secrets, so many are known. */
const mostCached = 5_000;
const keptMs = 1_000;

/**
 * The values of Secrets that this process caches, and of those that it read by name or wrote lately, to be masked in texts
 * that people look at. While nobody looks, a read or written Secret costs an entry in a map.
 */
export class SecretValues {
  readonly #clock: Clock;
  readonly #caches = new Set<() => Cache>();
  /** By uid and version, or what came without: an error may quote a version that was replaced since. */
  readonly #noted = new Map<unknown, unknown>();
  #forms: { readonly all: readonly string[]; readonly untilMs: number } | undefined;

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Follows a connection and its cache. @param ended of a cluster that may be removed */
  follow(client: Pick<ConnectedClient, 'onWrite' | typeof onGet>, cache: () => Cache, ended?: AbortSignal): void {
    this.#caches.add(cache);
    ended?.addEventListener('abort', () => this.#caches.delete(cache), { once: true });
    client[onGet]((kind, answer) => {
      if (isSecret(kind)) this.#note(answer);
    });
    client.onWrite((write: Write) => {
      if (!isSecret(write.operation.kind)) return;
      this.#note('answer' in write ? write.answer : write.operation.body);
    });
  }

  /** The text without these values, and without what looks like a secret. */
  readonly mask = (text: string): string => {
    // A text that was cut may end in the middle of a value.
    const cut = text.endsWith('…') ? '…' : '';
    let masked = text.slice(0, text.length - cut.length);
    for (const form of this.#current()) masked = without(masked, form, mask);
    return maskText(`${masked}${cut}`);
  };

  #note(secret: unknown): void {
    if (sizeUpTo(mostSize, secret) >= mostSize) return;
    const { uid, resourceVersion } = (isJsonObject(secret) && isJsonObject(secret.metadata) ? secret.metadata : {}) as {
      readonly uid?: string;
      readonly resourceVersion?: string;
    };
    const id = uid === undefined ? secret : `${uid} ${resourceVersion}`;
    this.#noted.delete(id);
    this.#noted.set(id, secret);
    if (this.#noted.size > mostNoted) this.#noted.delete(this.#noted.keys().next().value);
    this.#forms = undefined;
  }

  /** All forms, the longest first: what contains another one is taken out before it. */
  #current(): readonly string[] {
    const nowMs = this.#clock.monotonic();
    if (this.#forms !== undefined && this.#forms.untilMs > nowMs) return this.#forms.all;
    const cached = [...this.#caches].flatMap((cache) => cache()[cachedObjects](Secret)).slice(0, mostCached);
    const forms = new Set<string>();
    for (const secret of [...cached, ...this.#noted.values()]) {
      for (const value of valuesOf(secret)) if (value.length >= shortest) forms.add(value);
    }
    const all = [...forms].sort((a, b) => b.length - a.length);
    this.#forms = { all, untilMs: nowMs + keptMs };
    return all;
  }
}

function isSecret({ group, kind }: { readonly group: string; readonly kind: string }): boolean {
  return group === '' && kind === 'Secret';
}

/** Each value as text and in the forms in which texts quote it; of a JSON patch, each value in it. */
function valuesOf(secret: unknown): readonly string[] {
  if (Array.isArray(secret)) {
    return secret.flatMap((each) => (isJsonObject(each) ? encoded({ value: each.value }) : []));
  }
  if (!isJsonObject(secret)) return [];
  const plain = isJsonObject(secret.stringData) ? Object.values(secret.stringData) : [];
  return [...encoded(secret.data), ...plain.flatMap(textForms)];
}

function encoded(data: unknown): readonly string[] {
  if (!isJsonObject(data)) return [];
  return Object.values(data).flatMap((value) => {
    if (typeof value !== 'string') return isJsonObject(value) ? encoded(value) : [];
    return [value, ...textForms(Buffer.from(value, 'base64').toString())];
  });
}

function textForms(value: unknown): readonly string[] {
  if (typeof value !== 'string' || value.length < shortest) return [];
  const lines = value.split('\n').map((line) => line.trim());
  const long =
    lines.length === 1 ? [] : lines.filter((line) => line.length >= shortestLine && !line.startsWith('-----'));
  return [...formsOf(value), value.trim(), JSON.stringify(value).slice(1, -1), ...long];
}
