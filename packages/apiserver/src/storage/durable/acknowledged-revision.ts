import { Buffer } from 'node:buffer';
import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs';
import { withoutSum, withSum } from './record.js';

/** A revision has a fixed number of digits, so that each write overwrites the one before. */
const digits = 16;
/** The position that the checksum covers together with the number. */
const place = 0;

/**
 * A small file with the newest revision that was acknowledged, overwritten after every fsync of the journal. The file
 * itself is not synced: after a power loss it may be behind the journal, but never ahead of it. A journal that is
 * behind this file has lost writes, which a crash alone cannot cause.
 */
export class AcknowledgedRevision {
  readonly #file: number;

  private constructor(file: number) {
    this.#file = file;
  }

  static open(path: string): AcknowledgedRevision {
    return new AcknowledgedRevision(openSync(path, constants.O_RDWR | constants.O_CREAT, 0o600));
  }

  /** The revision; 0 before the first one, undefined if the file is damaged. */
  static read(path: string): number | undefined {
    let bytes: Buffer;
    try {
      bytes = readFileSync(path);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code === 'ENOENT') return 0;
      throw error;
    }
    const text = withoutSum(bytes, place);
    return text === undefined || !/^\d+\n$/.test(text) ? undefined : Number(text);
  }

  write(revision: number): void {
    try {
      writeSync(this.#file, Buffer.from(withSum(`${String(revision).padStart(digits, '0')}\n`, place)), 0, null, 0);
    } catch {
      // The journal has the write; this file only helps to verify it.
    }
  }

  close(): void {
    closeSync(this.#file);
  }
}
