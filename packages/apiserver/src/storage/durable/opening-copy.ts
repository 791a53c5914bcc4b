import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from './replace-file.js';

/**
 * A copy of a LevelDB directory from before it was opened, as hard links: LevelDB writes new files and deletes old
 * ones, but never changes one. A start that finds damage restores the copy.
 */
export class OpeningCopy {
  readonly #directory: string;
  #isNew = false;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async make(directory: string): Promise<OpeningCopy> {
    const copy = new OpeningCopy(directory);
    // The last start was interrupted before it had verified the data. Nothing was written since, so restore the copy.
    if (await exists(copy.#kept)) await copy.restore();
    await rm(copy.#unfinished, { recursive: true, force: true });
    await rm(copy.#dropped, { recursive: true, force: true });
    copy.#isNew = !(await exists(directory));
    if (copy.#isNew) return copy;
    await mkdir(copy.#unfinished);
    for (const name of await readdir(directory, { withFileTypes: true })) {
      if (name.isFile()) await linkOrCopy(join(directory, name.name), join(copy.#unfinished, name.name));
    }
    await rename(copy.#unfinished, copy.#kept);
    return copy;
  }

  /** Drops the copy, once the directory was verified. */
  async discard(): Promise<void> {
    // The copy must not reappear after a power loss, when the directory has changed: make the removal of its name
    // durable.
    if (await exists(this.#kept)) await rename(this.#kept, this.#dropped);
    await syncDirectory(dirname(this.#directory));
    await rm(this.#dropped, { recursive: true, force: true });
  }

  /** Restores the directory. */
  async restore(): Promise<void> {
    const isKept = await exists(this.#kept);
    if (isKept || this.#isNew) await rm(this.#directory, { recursive: true, force: true });
    if (isKept) await rename(this.#kept, this.#directory);
  }

  get #kept(): string {
    return `${this.#directory}.before`;
  }

  get #unfinished(): string {
    return `${this.#directory}.linking`;
  }

  get #dropped(): string {
    return `${this.#directory}.dropped`;
  }
}

async function exists(path: string): Promise<boolean> {
  try {
    await stat(path);
    return true;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return false;
    throw error;
  }
}

/** Links a file, or copies it on file systems without hard links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
