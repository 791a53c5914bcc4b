const enter = '\x1b[?1049h\x1b[?25l';
const leave = '\x1b[?1049l\x1b[?25h';

/** Shows frames on the whole terminal until it is disposed; then the terminal is as it was before. */
export class Screen implements Disposable {
  readonly #write: (text: string) => void;

  constructor(write: (text: string) => void) {
    this.#write = write;
    write(enter);
  }

  /** Draws over the last frame, without clearing it first: that would flicker. */
  show(lines: readonly string[]): void {
    this.#write(`\x1b[H${lines.map((line) => `${line}\x1b[K`).join('\n')}\x1b[J`);
  }

  [Symbol.dispose](): void {
    this.#write(leave);
  }
}
