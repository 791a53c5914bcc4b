import { mkdir, readdir, readFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import type { ClassicLevel } from 'classic-level';
import { type Logger, type Scheduler, systemClock } from 'riata/runtime';
import { AcknowledgedRevision } from './acknowledged-revision.js';
import { damagedFiles } from './damaged-files.js';
import { DataDirectoryError, ioProblem } from './data-directory-error.js';
import { DurableStorage } from './durable-storage.js';
import { Journal, type JournalContent } from './journal.js';
import { OpeningCopy } from './opening-copy.js';
import { replaceFile } from './replace-file.js';

/** How a data directory is opened. */
export interface DataDirectoryParts {
  readonly clock: Scheduler;
  readonly log: Logger;
  /** Continue with the intact data if some is damaged. */
  readonly acceptDataLoss: boolean;
}

/** Content of the file `format`; a new format gets a new number. */
const format = 'riata-apiserver data 1\n';
const remedy =
  'restore the directory from a backup, or start with --accept-data-loss (acceptDataLoss) to go on with the rest';

/**
 * A directory with all data of a server: the journal of its writes (LevelDB), its identity, and the newest revision
 * that it acknowledged. Only one process at a time can use it.
 */
export class DataDirectory implements AsyncDisposable {
  readonly path: string;
  readonly storage: DurableStorage;
  readonly #lock: ClassicLevel;
  readonly #acknowledged: AcknowledgedRevision;
  #closed: Promise<void> | undefined;

  private constructor(path: string, lock: ClassicLevel, journal: Journal, content: JournalContent, clock: Scheduler) {
    this.path = path;
    this.#lock = lock;
    this.#acknowledged = AcknowledgedRevision.open(join(path, 'acknowledged'));
    const acknowledged = this.#acknowledged;
    acknowledged.write(content.revision);
    const records = {
      get revision() {
        return journal.revision;
      },
      append: async (...args: Parameters<Journal['append']>) => {
        await journal.append(...args);
        acknowledged.write(journal.revision);
      },
      prune: (...args: Parameters<Journal['prune']>) => journal.prune(...args),
      reopen: () => journal.reopen(),
      close: () => journal.close(),
    };
    this.storage = new DurableStorage({ records, content, name: path, clock, realTime: systemClock });
  }

  /** Opens a directory, or makes a new one. Throws a {@link DataDirectoryError} and leaves the directory unchanged. */
  static async open(directory: string, options: DataDirectoryParts): Promise<DataDirectory> {
    const path = resolve(directory);
    const Level = await loadLevel();
    await prepare(path);
    const lock = await takeLock(path, Level);
    try {
      const [journal, content] = await openJournal(path, Level, options);
      return new DataDirectory(path, lock, journal, content, options.clock);
    } catch (error) {
      await lock.close();
      throw error;
    }
  }

  /** Stores pending writes and releases the directory for other processes. */
  close(): Promise<void> {
    this.#closed ??= this.#close();
    return this.#closed;
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #close(): Promise<void> {
    try {
      await this.storage.close();
    } finally {
      this.#acknowledged.close();
      await this.#lock.close();
    }
  }
}

/** Only servers with a data directory load, and need, the package. */
async function loadLevel(): Promise<typeof ClassicLevel> {
  try {
    return (await import('classic-level')).ClassicLevel;
  } catch (error) {
    const message = 'a data directory requires the package classic-level; install it: npm install classic-level@3';
    throw new DataDirectoryError(message, { cause: error });
  }
}

async function prepare(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true, mode: 0o700 });
    const names = await readdir(path);
    const formatFile = join(path, 'format');
    if (names.includes('format')) {
      const found = await readFile(formatFile, 'utf8');
      if (found === format) return;
      const known = JSON.stringify(format.trim());
      throw new DataDirectoryError(
        `${formatFile}: unknown format ${JSON.stringify(found.slice(0, 40))}; this version reads ${known}`,
      );
    }
    if (names.length > 0) {
      throw new DataDirectoryError(
        `data directory ${path}: not empty, and not made by riata-apiserver; use another one`,
      );
    }
    await replaceFile(formatFile, format);
  } catch (error) {
    if (error instanceof DataDirectoryError) throw error;
    throw new DataDirectoryError(`data directory ${path}: ${ioProblem(error)}`, { cause: error });
  }
}

/** Node cannot lock files, but LevelDB can: an empty database is the lock. The kernel releases it with the process. */
async function takeLock(path: string, Level: typeof ClassicLevel): Promise<ClassicLevel> {
  const directory = join(path, 'lock');
  const lock = new Level(directory);
  try {
    await lock.open();
    return lock;
  } catch (error) {
    const code = error instanceof Error && error.cause instanceof Error && 'code' in error.cause && error.cause.code;
    if (code === 'LEVEL_LOCKED') {
      const message = `data directory ${path}: in use by another process; stop it, or use another directory`;
      throw new DataDirectoryError(message, { cause: error });
    }
    if (code !== 'LEVEL_CORRUPTION' && !isMissingFile(error)) {
      throw new DataDirectoryError(`data directory ${path}: ${ioProblem(error)}`, { cause: error });
    }
    const message = `${directory}: damaged: ${ioProblem(error)}; it holds no data: delete it`;
    throw new DataDirectoryError(message, { cause: error });
  }
}

/** How LevelDB's errors name a missing or truncated file. */
function isMissingFile(error: unknown): boolean {
  return /No such file|Invalid argument/.test(ioProblem(error));
}

async function openJournal(
  path: string,
  Level: typeof ClassicLevel,
  { log, acceptDataLoss }: DataDirectoryParts,
): Promise<[Journal, JournalContent]> {
  const directory = join(path, 'journal');
  const acknowledgedPath = join(path, 'acknowledged');
  const acknowledged = AcknowledgedRevision.read(acknowledgedPath);
  if (acknowledged === undefined && !acceptDataLoss) {
    throw new DataDirectoryError(`${acknowledgedPath}: damaged; delete it to go on without the check that it is for`);
  }
  // LevelDB deletes files that it cannot read or does not know. A refused start must not delete anything.
  const copy = await OpeningCopy.make(directory);
  let journal: Journal | undefined;
  try {
    journal = await Journal.open(directory, Level);
    const content = await journal.load();
    const loss = content.loss ?? lossOf(content.revision, acknowledged ?? 0);
    if (loss === undefined) {
      await copy.discard();
      return [journal, content];
    }
    throw new DataDirectoryError(loss);
  } catch (error) {
    await journal?.close();
    const loss = error instanceof DataDirectoryError ? error.message : ioProblem(error);
    await copy.restore();
    if (isFullOrForbidden(error)) {
      const message = `data directory ${path}: ${loss}; nothing was lost: start again once that is fixed`;
      throw new DataDirectoryError(message, { cause: error });
    }
    if (acceptDataLoss) {
      log.warn('data directory is damaged, going on with what is intact', { path, loss });
      return openDamaged(directory, Level, acknowledged ?? 0);
    }
    const files = await damagedFiles(directory);
    const which = files.length === 0 ? '' : ` (${files.join('; ')})`;
    throw new DataDirectoryError(`data directory ${path}: ${loss}${which}; ${remedy}`, { cause: error });
  }
}

function isFullOrForbidden(error: unknown): boolean {
  return /no space|quota|read-only|permission denied/.test(ioProblem(error));
}

function lossOf(revision: number, acknowledged: number): string | undefined {
  if (revision >= acknowledged) return undefined;
  return `the journal ends at revision ${revision}, but revision ${acknowledged} was acknowledged`;
}

async function openDamaged(
  directory: string,
  Level: typeof ClassicLevel,
  acknowledged: number,
): Promise<[Journal, JournalContent]> {
  const open = async (): Promise<Journal> => {
    const journal = await Journal.open(directory, Level);
    try {
      await journal.acceptLoss(acknowledged);
      return journal;
    } catch (error) {
      await journal.close();
      throw error;
    }
  };
  const journal = await open().catch(async () => {
    await Level.repair(directory);
    return open();
  });
  return [journal, await journal.load()];
}
