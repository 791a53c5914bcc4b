import type { Buffer } from 'node:buffer';
import type { ClassicLevel } from 'classic-level';
import { SharedFields } from '../../resource/fields/shared-fields.js';
import type { RestoredVersion } from '../memory-storage.js';
import { DataDirectoryError } from './data-directory-error.js';
import { decodeRecord, withoutSum, withSum } from './record.js';

/** A write to be stored. */
export interface JournalRecord {
  readonly revision: number;
  readonly text: string;
}

/** The content of a journal. */
export interface JournalContent {
  readonly versions: readonly RestoredVersion[];
  readonly revision: number;
  readonly compacted: number;
  /** Describes missing or damaged data; undefined if the journal is intact. */
  readonly loss: string | undefined;
}

/** Written with every batch: the expected content of the journal, so that a lost record is detected. */
interface Summary {
  readonly revision: number;
  readonly compacted: number;
  readonly records: number;
  /** Sum of the revisions of all records, modulo 2^32. */
  readonly sum: number;
}

const summaryKey = 'summary';
const recordPrefix = 'r';
/** The position of the summary in checksums. No record has it, since revisions start at 1. */
const summaryPlace = 0;
const readAtOnce = 1_000;
const readBytes = 2 ** 20;
/** Records deleted per batch. Each batch delays the writes behind it. */
const pruneAtOnce = 2_000;

/**
 * The writes of a server in a LevelDB database, one record per revision. A record is deleted when a compaction has
 * passed the write that replaced it. Every batch is atomic; {@link append} resolves after an fsync.
 */
export class Journal {
  readonly #directory: string;
  readonly #Level: typeof ClassicLevel;
  #db: ClassicLevel<string, string>;
  #revision = 0;
  #compacted = 0;
  #records = 0;
  #sum = 0;

  private constructor(directory: string, Level: typeof ClassicLevel) {
    this.#directory = directory;
    this.#Level = Level;
    this.#db = new Level(directory, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
  }

  static async open(directory: string, Level: typeof ClassicLevel): Promise<Journal> {
    const journal = new Journal(directory, Level);
    await journal.#db.open();
    return journal;
  }

  get revision(): number {
    return this.#revision;
  }

  /** Reads and verifies all records. */
  async load(): Promise<JournalContent> {
    const summary = await this.#readSummary();
    const versions: RestoredVersion[] = [];
    const fields = new SharedFields();
    let [damaged, newest] = [0, 0];
    const entries = this.#db.iterator<string, Buffer>({
      gt: recordPrefix,
      lt: `${recordPrefix}:`,
      valueEncoding: 'buffer',
      // LevelDB reads in a thread of its own: few large turns take less time than many small ones.
      highWaterMarkBytes: readBytes,
    });
    try {
      for (let some = await entries.nextv(readAtOnce); some.length > 0; some = await entries.nextv(readAtOnce)) {
        for (const [key, value] of some) {
          const revision = Number(key.slice(recordPrefix.length));
          const version = decodeRecord(value, revision, fields);
          newest = Math.max(newest, revision);
          if (version === undefined) damaged += 1;
          else versions.push(version);
        }
      }
    } finally {
      await entries.close();
    }
    this.#records = versions.length;
    this.#sum = versions.reduce((sum, { revision }) => added(sum, revision), 0);
    this.#revision = Math.max(summary?.revision ?? 0, newest);
    this.#compacted = summary?.compacted ?? 0;
    const loss = this.#lossOf(summary, damaged, newest);
    return { versions, revision: this.#revision, compacted: this.#compacted, loss };
  }

  #lossOf(summary: Summary | undefined, damaged: number, newest: number): string | undefined {
    if (summary === undefined) {
      return this.#records + damaged > 0 ? 'the summary of its records is missing or damaged' : undefined;
    }
    const missing = summary.records - this.#records - damaged;
    if (damaged > 0 || missing > 0) {
      return `${damaged + Math.max(missing, 0)} of ${summary.records} records are damaged or missing`;
    }
    const fits = missing === 0 && summary.sum === this.#sum && summary.revision >= newest;
    return fits ? undefined : 'its records do not match their summary';
  }

  /** Stores records atomically and makes them durable. */
  async append(records: readonly JournalRecord[], compacted: number): Promise<void> {
    const summary = {
      revision: records.at(-1)?.revision ?? this.#revision,
      compacted,
      records: this.#records + records.length,
      sum: records.reduce((sum, { revision }) => added(sum, revision), this.#sum),
    };
    const puts = records.map(({ revision, text }) => put(keyOf(revision), text));
    await this.#db.batch([...puts, put(summaryKey, writtenSummary(summary))], { sync: true });
    this.#take(summary);
  }

  /** Deletes records of versions that can no longer be read. After a crash they may reappear, and are deleted again. */
  async prune(revisions: readonly number[], compacted: number): Promise<void> {
    for (let at = 0; at < revisions.length; at += pruneAtOnce) {
      const some = revisions.slice(at, at + pruneAtOnce);
      const summary = {
        ...{ revision: this.#revision, compacted, records: this.#records - some.length },
        sum: some.reduce((sum, revision) => added(sum, -revision), this.#sum),
      };
      const deletions = some.map((revision) => ({ type: 'del' as const, key: keyOf(revision) }));
      await this.#db.batch([...deletions, put(summaryKey, writtenSummary(summary))]);
      this.#take(summary);
    }
  }

  /** Writes a summary of the readable records, from `revision` on, and deletes the unreadable ones. */
  async acceptLoss(revision: number): Promise<void> {
    const known = new Set((await this.load()).versions.map((version) => version.revision));
    const keys = await this.#db.keys({ gt: recordPrefix, lt: `${recordPrefix}:` }).all();
    const bad = keys.filter((key) => !known.has(Number(key.slice(recordPrefix.length))));
    await this.#db.batch(bad.map((key) => ({ type: 'del' as const, key })));
    this.#revision = Math.max(this.#revision, revision);
    await this.append([], this.#compacted);
  }

  /** Reopens the database with the data on disk, since LevelDB accepts no writes after a failed one. */
  async reopen(): Promise<void> {
    await this.#db.close();
    this.#db = new this.#Level(this.#directory, { keyEncoding: 'utf8', valueEncoding: 'utf8' });
    await this.#db.open();
    const summary = await this.#readSummary();
    if (summary === undefined || summary.revision < this.#revision) {
      const is = summary === undefined ? 'missing' : `at revision ${summary.revision}`;
      throw new DataDirectoryError(
        `${this.#directory}: the summary is ${is} after revision ${this.#revision} was stored`,
      );
    }
    this.#take(summary);
  }

  close(): Promise<void> {
    return this.#db.close();
  }

  #take({ revision, compacted, records, sum }: Summary): void {
    this.#revision = revision;
    this.#compacted = compacted;
    this.#records = records;
    this.#sum = sum;
  }

  async #readSummary(): Promise<Summary | undefined> {
    const value = await this.#db.get<string, Buffer>(summaryKey, { valueEncoding: 'buffer' });
    const text = value === undefined ? undefined : withoutSum(value, summaryPlace);
    return text === undefined ? undefined : (JSON.parse(text) as Summary);
  }
}

function writtenSummary(summary: Summary): string {
  return withSum(JSON.stringify(summary), summaryPlace);
}

function put(key: string, value: string) {
  return { type: 'put' as const, key, value };
}

/** A key that sorts in the order of revisions. */
function keyOf(revision: number): string {
  return recordPrefix + String(revision).padStart(16, '0');
}

function added(sum: number, revision: number): number {
  return (((sum + revision) % 2 ** 32) + 2 ** 32) % 2 ** 32;
}
