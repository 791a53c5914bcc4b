import { copyFile, link, mkdir, readdir, rename, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { syncDirectory } from './replace-file.js';

/**
 * What a LevelDB directory was before it was opened, as hard links: LevelDB writes new files and deletes old ones, and
 * changes none. A start that finds damage puts it back.
 */
export class OpeningCopy {
  readonly #directory: string;
  #isNew = false;

  private constructor(directory: string) {
    this.#directory = directory;
  }

  static async make(directory: string): Promise<OpeningCopy> {
    const copy = new OpeningCopy(directory);
    // A start that was interrupted before it was sure: nothing was written since, so it begins again.
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

  /** The directory is fine. */
  async discard(): Promise<void> {
    // It must not come back after a power loss, when the directory has changed: first the name goes for good.
    if (await exists(this.#kept)) await rename(this.#kept, this.#dropped);
    await syncDirectory(dirname(this.#directory));
    await rm(this.#dropped, { recursive: true, force: true });
  }

  /** Makes the directory what it was. */
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

/** Some file systems have no links. */
async function linkOrCopy(from: string, to: string): Promise<void> {
  await link(from, to).catch(() => copyFile(from, to));
}
