import type { ReplyHeaders } from './reply.js';

/** How much is said in all: headers have their limits, on the way and at the other end. */
const maxCharacters = 4 * 1024;

/** Warnings of the server about a request: headers of code 299. */
export class Warnings {
  readonly #texts = new Set<string>();
  #characters = 0;

  /** Adds a warning; one that was given before, holds control characters or finds no room is left out. */
  add(text: string): void {
    if (this.#texts.has(text) || /\p{Cc}/u.test(text)) return;
    this.#characters += [...text].length;
    if (this.#characters <= maxCharacters) this.#texts.add(text);
  }

  headers(): ReplyHeaders {
    if (this.#texts.size === 0) return {};
    return { warning: [...this.#texts].map((text) => `299 - "${text.replace(/["\\]/g, '\\$&')}"`) };
  }
}
