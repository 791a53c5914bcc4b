import { type FSWatcher, watch } from 'node:fs';
import { dirname, extname, join, relative, sep } from 'node:path';
import { onAbort, type Runtime } from 'riata/runtime';
import type { SourceChanges } from './source-changes.js';

/** Editors write a file in several steps: changes within this time are one. */
const quietMs = 15;
const sourceExtensions = /^\.(?:[cm]?[jt]sx?|json)$/;

/**
 * Reports changes of source files. It watches the folders of the files, not the files: editors replace a file by another
 * one, and a file that a module misses may come.
 */
export class SourceWatcher implements Disposable {
  readonly #root: string;
  readonly #clock: Runtime['clock'];
  readonly #watchers = new Map<string, FSWatcher>();
  #files = new Set<string>();
  #isAll = false;
  /** Events so far. */
  #seen = 0;
  #notify: () => void = () => {};

  /** `root`: the folder of the project. */
  constructor(root: string, clock: Runtime['clock']) {
    this.#root = root;
    this.#clock = clock;
  }

  /** Watches the folders of these files, and those between them and the project's; others are no longer watched. */
  follow(files: Iterable<string>): void {
    const folders = new Set([this.#root]);
    for (const file of files) {
      folders.add(dirname(file));
      for (let folder = dirname(file); isBelow(folder, this.#root); folder = dirname(folder)) folders.add(folder);
    }
    for (const [folder, watcher] of this.#watchers) {
      if (folders.has(folder)) continue;
      watcher.close();
      this.#watchers.delete(folder);
    }
    for (const folder of folders) if (!this.#watchers.has(folder)) this.#watch(folder);
  }

  /** Resolves when something has changed since the last call, and no more changes come; undefined if the signal has aborted. */
  async changed(signal: AbortSignal): Promise<SourceChanges | undefined> {
    while (!this.#hasChanged && !signal.aborted) {
      await new Promise<void>((resolve) => {
        this.#notify = resolve;
        onAbort(signal, resolve);
      });
    }
    for (let seen = -1; seen !== this.#seen && !signal.aborted; ) {
      seen = this.#seen;
      await this.#clock.sleep(quietMs, { signal }).catch(() => {});
    }
    const changes = { files: this.#files, isAll: this.#isAll };
    this.#files = new Set();
    this.#isAll = false;
    return signal.aborted ? undefined : changes;
  }

  [Symbol.dispose](): void {
    for (const watcher of this.#watchers.values()) watcher.close();
    this.#watchers.clear();
  }

  get #hasChanged(): boolean {
    return this.#isAll || this.#files.size > 0;
  }

  #watch(folder: string): void {
    try {
      const watcher = watch(folder, (_, name) => {
        if (name === null) this.#isAll = true;
        else if (!isSource(join(folder, name))) return;
        else if (leadsToOthers(name)) this.#isAll = true;
        else this.#files.add(join(folder, name));
        this.#seen += 1;
        this.#notify();
      });
      // The folder may be removed; when it comes back, a change of the one above is seen.
      watcher.on('error', () => {
        watcher.close();
        this.#watchers.delete(folder);
      });
      this.#watchers.set(folder, watcher);
    } catch {
      // It is gone.
    }
  }
}

/** A source file, or perhaps a folder. */
function isSource(path: string): boolean {
  if (path.split(sep).at(-1) === 'node_modules') return false;
  const extension = extname(path);
  return extension === '' || sourceExtensions.test(extension);
}

/** A folder, which comes with files; settings that say which files belong to the project; packages. */
function leadsToOthers(name: string): boolean {
  return extname(name) === '' || /^(?:package(?:-lock)?|tsconfig.*)\.json$/.test(name);
}

function isBelow(folder: string, root: string): boolean {
  const path = relative(root, folder);
  return path !== '' && path !== '..' && !path.startsWith(`..${sep}`);
}
