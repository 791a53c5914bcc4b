import { readFile } from 'node:fs/promises';
import type { Logger } from '../../runtime/log/logger.js';
import type { Clock } from '../../runtime/time/clock.js';
import { ConfigError, type ConfigPlace, fileProblem } from '../config/config-error.js';
import { type AuthorizationSource, bearer, type RefreshOptions } from './authorization-source.js';
import { RotationLog } from './rotation-log.js';

export interface TokenFileOptions {
  readonly file: string;
  /** Named in errors. */
  readonly place: ConfigPlace;
  readonly clock: Clock;
  /** Called when the file holds no usable token. */
  readonly log: Logger;
  /** Used until the file could be read once (`token` beside `tokenFile`). */
  readonly fallback?: string;
}

/** Half the time between the kubelet's renewal of a ten-minute token (at 80 % of its life) and its end. */
const rereadMs = 60_000;
/** After a read that brought nothing usable. */
const retryMs = 1_000;

/**
 * A bearer token in a file that others rotate. It is read again a minute after the last read, on use; while the file is
 * unreadable or empty, the last good token stays in force, with one line in the log.
 */
export class TokenFile implements AuthorizationSource {
  readonly #options: TokenFileOptions;
  readonly #log: RotationLog;
  #header: string | undefined;
  /** The last answer of {@link tryCached}. */
  #hand: { readonly authorization: string } | undefined;
  #readAgainAt = Number.NEGATIVE_INFINITY;
  #reading: Promise<string> | undefined;

  constructor(options: TokenFileOptions) {
    this.#options = options;
    this.#log = new RotationLog(options.log, 'token');
    this.#header = options.fallback === undefined ? undefined : bearer(options.fallback, options.place);
  }

  async authorization(): Promise<string> {
    const fresh = this.#options.clock.monotonic() < this.#readAgainAt;
    return fresh && this.#header !== undefined ? this.#header : this.#read();
  }

  tryCached(): { readonly authorization: string } | undefined {
    const header = this.#header;
    if (header === undefined || this.#options.clock.monotonic() >= this.#readAgainAt) return undefined;
    if (this.#hand?.authorization !== header) this.#hand = { authorization: header };
    return this.#hand;
  }

  async refresh({ rejected }: RefreshOptions = {}): Promise<boolean> {
    const before = rejected ?? this.#header;
    return (await this.#read()) !== before;
  }

  describe(): string {
    return `token file ${this.#options.file}`;
  }

  #read(): Promise<string> {
    this.#reading ??= this.#readNow().finally(() => {
      this.#reading = undefined;
    });
    return this.#reading;
  }

  async #readNow(): Promise<string> {
    const { file, place, clock } = this.#options;
    try {
      const text = await readFile(file, 'utf8').catch((error: unknown) => {
        throw new ConfigError(`file ${file} cannot be read: ${fileProblem(error)}`, place);
      });
      if (text.trim() === '') throw new ConfigError(`file ${file} is empty; it should hold a token`, place);
      this.#header = bearer(text, place);
      this.#readAgainAt = clock.monotonic() + rereadMs;
      this.#log.accepted();
    } catch (error) {
      if (this.#header === undefined) throw error;
      this.#log.refused(error);
      this.#readAgainAt = clock.monotonic() + retryMs;
    }
    return this.#header;
  }
}
