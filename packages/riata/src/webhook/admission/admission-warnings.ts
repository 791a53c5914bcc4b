/** API servers cut each warning to this length, in Unicode characters, once all of them have too many. */
const longest = 256;
/** API servers drop warnings past this length of all together. */
const mostInAll = 4096;
// biome-ignore lint/suspicious/noControlCharactersInRegex: a warning is sent as a header, which has none of them
const controls = /[\u0000-\u001f\u007f]+/g;

/** The warnings of one request, cut to what an API server passes on (`WithWarningRecorder`). */
export class AdmissionWarnings {
  readonly #texts = new Set<string>();
  #length = 0;

  get list(): readonly string[] {
    return [...this.#texts];
  }

  get count(): number {
    return this.#texts.size;
  }

  /** Empty texts and repeated ones are left out. */
  add(text: string): void {
    if (typeof text !== 'string') throw new TypeError(`warn: expects a text, got ${typeof text}`);
    const line = text.replace(controls, ' ').trim();
    const characters = line.length > longest ? [...line] : undefined;
    const cut = characters === undefined || characters.length <= longest ? line : characters.slice(0, longest).join('');
    const length = characters === undefined ? cut.length : Math.min(characters.length, longest);
    if (cut === '' || this.#texts.has(cut) || this.#length + length > mostInAll) return;
    this.#texts.add(cut);
    this.#length += length;
  }
}
