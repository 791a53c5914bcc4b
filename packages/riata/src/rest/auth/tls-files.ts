import { readFile } from 'node:fs/promises';
import type { Logger } from '../../runtime/log/logger.js';
import type { Clock } from '../../runtime/time/clock.js';
import { ConfigError, type ConfigPlace, fileProblem } from '../config/config-error.js';
import type { Pem, TlsMaterial } from '../config/rest-config.js';
import { bundleProblem, pairProblem, validityProblem } from './certificate-check.js';
import { RotationLog } from './rotation-log.js';
import { tlsMaterial } from './tls-material.js';

/** PEM text given inline, or a file that is looked at again and again. */
export interface PemSource {
  /** Named in errors. */
  readonly place: ConfigPlace;
  readonly from: { readonly data: Uint8Array } | { readonly file: string };
}

export interface TlsFilesOptions {
  readonly ca?: PemSource;
  readonly cert?: PemSource;
  readonly key?: PemSource;
  readonly clock: Clock;
  /** Called with files that cannot replace those in force, and the reason. */
  readonly log: Logger;
}

const recheckMs = 10_000;

/**
 * CA, client certificate and key, from files or inline. Files are compared with those in force at most every ten
 * seconds, on use. New contents are taken only when they are complete: a key that does not belong to its certificate, a
 * bundle that was cut off and a file that cannot be read leave the old in force until the next check, with one line in
 * the log.
 */
export class TlsFiles {
  readonly #options: TlsFilesOptions;
  readonly #rotates: boolean;
  readonly #bundleLog: RotationLog;
  readonly #pairLog: RotationLog;
  #material: TlsMaterial;
  #recheckAt: number;
  #checking: Promise<void> | undefined;

  private constructor(options: TlsFilesOptions, material: TlsMaterial) {
    this.#options = options;
    this.#material = material;
    this.#bundleLog = new RotationLog(options.log, 'certificate authority');
    this.#pairLog = new RotationLog(options.log, 'client certificate');
    this.#recheckAt = options.clock.monotonic() + recheckMs;
    this.#rotates = [options.ca, options.cert, options.key].some(
      (source) => source !== undefined && 'file' in source.from,
    );
  }

  /** Reads everything once; missing or malformed files are a `ConfigError` now. */
  static async load(options: TlsFilesOptions): Promise<TlsFiles> {
    const [ca, pair] = await Promise.all([readBundle(options.ca), readPair(options.cert, options.key)]);
    return new TlsFiles(options, tlsMaterial({ ca, ...pair }));
  }

  /** The files in force. The same object as last time means that nothing changed. */
  async current(): Promise<TlsMaterial> {
    if (this.#rotates && this.#options.clock.monotonic() >= this.#recheckAt) await this.#check();
    return this.#material;
  }

  /** As {@link current}, unless it is time to look at the files. */
  tryCached(): TlsMaterial | undefined {
    return this.#rotates && this.#options.clock.monotonic() >= this.#recheckAt ? undefined : this.#material;
  }

  /** Looks at the files now; true if they changed. */
  async refresh(): Promise<boolean> {
    const before = this.#material;
    if (this.#rotates) await this.#check();
    return this.#material !== before;
  }

  /** The problem of the validity period of a certificate, of these files or not. */
  validityProblem(cert: Pem): Promise<string | undefined> {
    return validityProblem(cert, this.#options.clock.now());
  }

  describe(): Readonly<Record<string, string>> {
    const { ca, cert, key } = this.#options;
    return Object.fromEntries(
      Object.entries({ ca, cert, key }).flatMap(([name, source]) =>
        source === undefined ? [] : [[name, 'file' in source.from ? source.from.file : '[inline]']],
      ),
    );
  }

  #check(): Promise<void> {
    this.#checking ??= this.#checkNow().finally(() => {
      this.#checking = undefined;
    });
    return this.#checking;
  }

  async #checkNow(): Promise<void> {
    const { ca, cert, key, clock } = this.#options;
    const old = this.#material;
    this.#recheckAt = clock.monotonic() + recheckMs;
    const [newCa, newPair] = await Promise.all([
      replaced(readBundle(ca), old.ca, this.#bundleLog),
      replaced(readPair(cert, key), { cert: old.cert, key: old.key }, this.#pairLog),
    ]);
    const next = { ca: newCa, ...newPair };
    if (next.ca !== old.ca || next.cert !== old.cert || next.key !== old.key) this.#material = tlsMaterial(next);
  }
}

/** The new contents, or `old` where they cannot be used. */
async function replaced<T, O>(reading: Promise<T>, old: O, log: RotationLog): Promise<T | O> {
  try {
    const read = await reading;
    log.accepted();
    return read;
  } catch (error) {
    log.refused(error);
    return old;
  }
}

async function readBundle(source: PemSource | undefined): Promise<string | undefined> {
  if (source === undefined) return undefined;
  const pem = await readPem(source);
  const problem = await bundleProblem(pem);
  if (problem !== undefined) throw new ConfigError(describeProblem(source, problem), source.place);
  return pem;
}

async function readPair(
  cert: PemSource | undefined,
  key: PemSource | undefined,
): Promise<{ cert?: string; key?: string }> {
  if (cert === undefined || key === undefined) return {};
  const pair = { cert: await readPem(cert), key: await readPem(key) };
  const problem = await pairProblem(pair.cert, pair.key);
  if (problem === undefined) return pair;
  const source = problem.startsWith('the client certificate') ? cert : key;
  throw new ConfigError(describeProblem(source, problem), source.place);
}

async function readPem({ from, place }: PemSource): Promise<string> {
  if ('data' in from) return Buffer.from(from.data).toString('utf8');
  try {
    return await readFile(from.file, 'utf8');
  } catch (error) {
    throw new ConfigError(`file ${from.file} cannot be read: ${fileProblem(error)}`, place);
  }
}

function describeProblem(source: PemSource, problem: string): string {
  return 'file' in source.from ? `file ${source.from.file}: ${problem}` : problem;
}
