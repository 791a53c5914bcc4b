import type { RecordStore } from './durable-storage.js';
import type { JournalRecord } from './journal.js';

/** A store whose transactions wait until the test releases them. */
export class HeldStore implements RecordStore {
  revision = 0;
  readonly batches: number[][] = [];
  readonly pruned: number[] = [];
  reopened = 0;
  reopenError: Error | undefined;
  /** Whether transactions wait. */
  holds = true;
  #held: { readonly records: readonly JournalRecord[]; resolve(): void; reject(error: Error): void } | undefined;

  append(records: readonly JournalRecord[]): Promise<void> {
    this.batches.push(records.map(({ revision }) => revision));
    return new Promise((resolve, reject) => {
      this.#held = { records, resolve, reject };
      if (!this.holds) this.letThrough();
    });
  }

  get isHolding(): boolean {
    return this.#held !== undefined;
  }

  letThrough(): void {
    const { records, resolve } = this.#taken();
    this.revision = records.at(-1)!.revision;
    resolve();
  }

  /** As with a real disk, a failed transaction may have been stored all the same. */
  fail(message: string, reached = false): void {
    const { records, reject } = this.#taken();
    if (reached) this.revision = records.at(-1)!.revision;
    reject(new Error(message));
  }

  async prune(revisions: readonly number[]): Promise<void> {
    this.pruned.push(...revisions);
  }

  async reopen(): Promise<void> {
    this.reopened += 1;
    if (this.reopenError !== undefined) throw this.reopenError;
  }

  async close(): Promise<void> {}

  #taken() {
    const held = this.#held;
    if (held === undefined) throw new Error('no transaction waits');
    this.#held = undefined;
    return held;
  }
}
