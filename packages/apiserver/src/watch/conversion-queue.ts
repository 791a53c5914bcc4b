import type { KubeObject } from 'riata/object';
import type { StoredConversions } from '../resource/custom/stored-conversions.js';

interface Waiting {
  readonly objects: readonly KubeObject[];
  readonly run: () => void;
}

/**
 * Holds back what a watch does with objects until a webhook has converted them. Everything is done in the order in which
 * it came; what came while the webhook was called goes into one review.
 */
export class ConversionQueue {
  readonly #conversions: StoredConversions;
  readonly #failed: (error: unknown) => void;
  #waiting: Waiting[] = [];
  #running = false;

  /** @param failed called when an object cannot be converted; nothing else is done after it */
  constructor(conversions: StoredConversions, failed: (error: unknown) => void) {
    this.#conversions = conversions;
    this.#failed = failed;
  }

  get length(): number {
    return this.#waiting.length;
  }

  /** Runs at once if nothing has to be waited for. */
  add(objects: readonly KubeObject[], run: () => void): void {
    if (!this.#running && !objects.some((object) => this.#conversions.needs(object))) {
      run();
      return;
    }
    this.#waiting.push({ objects, run });
    if (this.#running) return;
    this.#running = true;
    void this.#runAll().catch((error: unknown) => {
      this.clear();
      this.#failed(error);
    });
  }

  /** Forgets what waits. */
  clear(): void {
    this.#waiting = [];
  }

  async #runAll(): Promise<void> {
    for (;;) {
      const [...waiting] = this.#waiting;
      if (waiting.length === 0) break;
      const objects = new Set(waiting.flatMap((one) => one.objects));
      await this.#conversions.prepare([...objects]);
      for (const { run } of waiting) {
        if (this.#waiting.shift() === undefined) break;
        run();
      }
    }
    this.#running = false;
  }
}
