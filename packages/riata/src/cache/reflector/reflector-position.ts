/** How far a Reflector has come, and which resourceVersion each kind of request asks for. */
export class ReflectorPosition {
  #version = '';
  /** The server does not have `#version`, or not yet: no request may use it before the next list. */
  #unavailable = false;

  /** Of the last list, event or bookmark; `''` before the first list. */
  get version(): string {
    return this.#version;
  }

  /**
   * For a LIST (`relistResourceVersion`): at first whatever the server's cache has, later nothing older than what is known,
   * so that time never goes back; after an expiry the newest state, past the cache.
   */
  get forList(): string {
    return this.#unavailable ? '' : this.#version || '0';
  }

  /** For a WatchList (`rewatchResourceVersion`): the newest state at first and after an expiry. */
  get forWatchList(): string {
    return this.#unavailable ? '' : this.#version;
  }

  get unavailable(): boolean {
    return this.#unavailable;
  }

  /** An event or a bookmark came. */
  advance(version: string): void {
    this.#version = version;
  }

  /** A complete list came. */
  listed(version: string): void {
    this.#version = version;
    this.#unavailable = false;
  }

  /** A request for a list by this version was refused: expired, or too large. */
  lost(): void {
    this.#unavailable = true;
  }
}
