import type { ReplyHeaders } from './reply.js';

/** From this many characters on, all warnings together are cut short: headers have their limits, on the way and at the other end. */
const mostCharacters = 4 * 1024;
/** What is left of each then. */
const cutCharacters = 256;

/** Warnings of the server about a request: headers of code 299. */
export class Warnings {
  readonly #texts = new Set<string>();
  /** As they are sent. */
  #sent: string[] = [];
  #characters = 0;
  #cuts = false;

  /** Adds a warning; one that was given before, holds control characters or finds no room is left out. */
  add(text: string): void {
    if (text === '' || (this.#cuts && this.#characters >= mostCharacters) || this.#texts.has(text)) return;
    this.#texts.add(text);
    if (/\p{Cc}/u.test(text)) return;
    const length = [...text].length;
    if (this.#cuts || this.#characters + length <= mostCharacters) {
      this.#send(text);
      return;
    }
    this.#cuts = true;
    this.#sent = [];
    this.#characters = 0;
    for (const one of this.#texts) if (!/\p{Cc}/u.test(one)) this.#send(one);
  }

  headers(): ReplyHeaders {
    if (this.#sent.length === 0) return {};
    return { warning: this.#sent.map((text) => `299 - "${text.replace(/["\\]/g, '\\$&')}"`) };
  }

  #send(text: string): void {
    const characters = [...text];
    const sent = this.#cuts && characters.length > cutCharacters ? characters.slice(0, cutCharacters) : characters;
    this.#characters += sent.length;
    this.#sent.push(sent.join(''));
  }
}
