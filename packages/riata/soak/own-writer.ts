import type { Cache } from 'riata/cache';
import type { ConnectedClient } from 'riata/client';
import { ConfigMap } from 'riata/kinds';
import { isApiError, isTransportError } from 'riata/rest';
import type { Random } from 'riata/runtime';
import { systemClock } from 'riata/runtime';

export interface OwnWriterOptions {
  /** Whose network is good. */
  readonly direct: ConnectedClient;
  /** The one that the cache hears of writes by. */
  readonly client: ConnectedClient;
  readonly cache: Cache;
  readonly namespace: string;
  readonly random: Random;
  /** Names that no other client writes to. */
  readonly own: readonly string[];
  /** Names that others write to at the same time. */
  readonly shared: readonly string[];
  readonly signal: AbortSignal;
}

/** What the server has said about a name. */
interface Answered {
  readonly uid: string;
  /** Of the last write; of a deletion, that of the object before it. */
  readonly version: number;
  readonly isDeleted: boolean;
}

/**
 * Writes through a client whose network is bad, and reads its own writes out of a cache: what was answered must be seen
 * at once, and nothing older ever after.
 */
export class OwnWriter {
  readonly problems: string[] = [];
  /** Writes that were answered, that the server refused, and whose answer was lost. */
  readonly counts = { answered: 0, refused: 0, lost: 0, reads: 0 };
  readonly #options: OwnWriterOptions;
  readonly #answered = new Map<string, Answered>();
  /** Names with a write of which it is unknown if, and when, it was done. */
  readonly #uncertain = new Set<string>();
  #step = 0;

  constructor(options: OwnWriterOptions) {
    this.#options = options;
    for (const name of options.shared) this.#uncertain.add(name);
  }

  async step(): Promise<void> {
    const { random, own, shared } = this.#options;
    const name = random.pick(random.next() < 0.7 ? own : shared);
    const before = this.#answered.get(name);
    try {
      const answered = await this.#write(name, before);
      if (answered === undefined) return;
      this.counts.answered++;
      this.#answered.set(name, answered);
    } catch (error) {
      if (this.#options.signal.aborted) throw error;
      if (isCertain(error)) this.counts.refused++;
      else {
        this.counts.lost++;
        this.#uncertain.add(name);
        await this.#checkLost(name);
      }
    }
    await this.check(name);
    await this.check(random.pick([...own, ...shared]));
  }

  /** Reads what the cache shows under this name. */
  async check(name: string): Promise<void> {
    const { cache, namespace } = this.#options;
    const answered = this.#answered.get(name);
    const found = await this.#patiently((signal) => cache.find(ConfigMap, { namespace, name }, { signal }));
    this.counts.reads++;
    this.#judge(name, answered, found, 'get');
    const { items } = await this.#patiently((signal) => cache.list(ConfigMap, { namespace, signal }));
    const listed = items.filter(({ metadata }) => metadata.name === name);
    if (listed.length > 1) this.problems.push(`own writes: ${name} is twice in a list`);
    this.#judge(name, answered, listed[0], 'list');
  }

  /** The first read after an answer was lost shows what the server has by then, whatever that is. */
  async #checkLost(name: string): Promise<void> {
    const { cache, direct, namespace, signal } = this.#options;
    const key = { namespace, name };
    const before = await this.#patiently(() => direct.find(ConfigMap, key, { signal }));
    const found = await this.#patiently((wait) => cache.find(ConfigMap, key, { signal: wait }));
    const after = await this.#patiently(() => direct.find(ConfigMap, key, { signal }));
    const [was, shown, is] = [before, found, after].map((object) => object?.metadata.resourceVersion ?? 'none');
    // Others may have made and deleted one between two looks that saw none.
    const isSame = was === is && (was !== 'none' || this.#options.own.includes(name));
    if (isSame && shown !== was) {
      this.problems.push(`own writes: ${name} after a lost answer: the server has ${was}, ${shown} is seen`);
    }
  }

  #judge(name: string, answered: Answered | undefined, found: ConfigMap | undefined, how: string): void {
    const uid = found?.metadata.uid;
    const version = Number(found?.metadata.resourceVersion);
    const complain = (what: string) =>
      this.problems.push(
        `own writes: ${how} of ${name}: ${what}; answered ${JSON.stringify(answered)}, found ${uid}@${version}`,
      );
    if (answered === undefined) return;
    const { isDeleted } = answered;
    if (isDeleted && uid === answered.uid) complain('what was deleted is seen');
    if (uid !== undefined && version < answered.version) complain('something older is seen');
    if (this.#uncertain.has(name)) return;
    // No other client writes here: there is only one right answer.
    if (isDeleted && found !== undefined) complain('nothing should be seen');
    if (!isDeleted && (uid !== answered.uid || version !== answered.version)) complain('the write is not seen');
  }

  async #write(name: string, before: Answered | undefined): Promise<Answered | undefined> {
    const { client, cache, namespace, random, signal } = this.#options;
    const data = { step: `own-${this.#step++}`, colour: random.pick(['red', 'green', 'blue']) };
    const key = { namespace, name };
    const stored = ({ metadata }: ConfigMap): Answered => ({
      ...{ uid: metadata.uid, version: Number(metadata.resourceVersion), isDeleted: false },
    });
    const what = random.int(0, 9);
    if (what < 3) return stored(await client.create(ConfigMap({ metadata: key, data }), { signal }));
    if (what < 5) return stored(await client.patch(ConfigMap, key, { type: 'merge', body: { data } }, { signal }));
    if (what < 6) {
      const object = ConfigMap({ metadata: key, data });
      return stored(await client.apply(object, { fieldManager: 'soak', force: true, signal }));
    }
    const seen = await this.#patiently((wait) => cache.find(ConfigMap, key, { signal: wait }));
    if (seen === undefined) return undefined;
    const { uid, resourceVersion } = seen.metadata;
    if (what < 8) return stored(await client.update({ ...seen, data }, { signal }));
    await client.delete(ConfigMap, key, { preconditions: { uid }, signal });
    return { uid, version: Math.max(Number(resourceVersion), before?.version ?? 0), isDeleted: true };
  }

  /** A read may have to ask the server, over the same bad network. */
  async #patiently<T>(read: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { signal } = this.#options;
    for (;;) {
      try {
        return await read(signal);
      } catch {
        signal.throwIfAborted();
        await systemClock.yield();
      }
    }
  }
}

/** Nothing was done: the server has said so, or was never reached. */
function isCertain(error: unknown): boolean {
  return isTransportError(error) ? !error.requestSent : isApiError(error) && error.code < 500;
}
