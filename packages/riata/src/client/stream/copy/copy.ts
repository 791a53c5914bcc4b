import type { Hash } from 'node:crypto';
import { isTransportError } from '../../../rest/errors/transport-error.js';
import { type CallOptions, callOptionNames } from '../../options.js';
import type { ExecCall } from '../exec-call.js';
import { ExecError, isExecError } from '../exec-error.js';
import type { ExecOptions } from '../exec-options.js';
import type { LocalPlace, PodPlace } from './copy-place.js';
import { type CopyListener, tarOf, unpackTo } from './local-files.js';

/** How far a copy is. */
export interface CopyProgress {
  /** Bytes of content so far. */
  readonly bytes: number;
  /** Files that are complete. */
  readonly files: number;
  /** The file that is copied now, relative to what is copied; `''` for that itself. */
  readonly path: string;
}

/** Options of `client.copy`. */
export interface CopyOptions extends CallOptions {
  /** Compares SHA-256 sums of all files on both sides afterwards; the container needs `sha256sum`. @default false */
  readonly verify?: boolean;
  /** Called after each piece. */
  readonly onProgress?: (progress: CopyProgress) => void;
}

export const copyOptionNames = callOptionNames.and<CopyOptions>({ verify: true, onProgress: true });

/** The result of a copy. */
export interface Copied {
  readonly bytes: number;
  readonly files: number;
}

/** Runs commands in containers. */
export interface CopyRunner {
  exec(pod: PodPlace['pod'], command: readonly string[], options: ExecOptions): ExecCall;
}

/** Copies into a container. */
export async function copyInto(
  runner: CopyRunner,
  from: LocalPlace,
  to: PodPlace,
  options: CopyOptions,
): Promise<Copied> {
  const { dirname, basename } = process.getBuiltinModule('node:path').posix;
  const tally = new Tally(options);
  const call = callOf(to, options);
  const stdin = tarOf(from.local, basename(to.path), tally);
  // Read before anything is sent, so that a file that does not exist is an error of its own.
  const stats = await process.getBuiltinModule('node:fs/promises').stat(from.local);
  try {
    await runner.exec(to.pod, ['tar', '-xf', '-', '-C', dirname(to.path)], { ...call, stdin }).bytes();
  } catch (thrown) {
    const error = isTransportError(thrown) ? await missingTar(runner, to.pod, call, thrown) : thrown;
    if (!isMissing(error)) throw explained(error, to.path);
    if (!stats.isFile()) throw withoutTar(error as ExecError);
    tally.reset();
    const plain = process.getBuiltinModule('node:fs').createReadStream(from.local);
    const counted = tally.count('', plain as AsyncIterable<Uint8Array>);
    const command = ['sh', '-c', 'cat > "$1"', 'sh', to.path];
    await runner.exec(to.pod, command, { ...call, stdin: counted }).bytes();
  }
  if (options.verify) await verify(runner, to, tally, options);
  return tally.copied;
}

/** Copies out of a container. */
export async function copyFrom(
  runner: CopyRunner,
  from: PodPlace,
  to: LocalPlace,
  options: CopyOptions,
): Promise<Copied> {
  const { dirname, basename } = process.getBuiltinModule('node:path').posix;
  const tally = new Tally(options);
  const call = callOf(from, options);
  try {
    const command = ['tar', '-cf', '-', '-C', dirname(from.path), '--', basename(from.path)];
    await using ran = await runner.exec(from.pod, command, call);
    const complaints = textOf(ran.stderr);
    const [unpacked] = await Promise.allSettled([unpackTo(ran.stdout, basename(from.path), to.local, tally)]);
    // A command that failed explains an archive that is missing or cut off; one that we do not want any more does not.
    if (unpacked.status === 'rejected' && !isTarEnd(unpacked.reason)) throw unpacked.reason;
    const { exitCode } = await ran.ended;
    if (exitCode !== 0) throw await failure(exitCode, complaints);
    if (unpacked.status === 'rejected') throw unpacked.reason;
  } catch (error) {
    if (!isMissing(error)) throw explained(error, from.path);
    tally.reset();
    await copyPlain(runner, from, to, call, tally, error as ExecError);
  }
  if (options.verify) await verify(runner, from, tally, options);
  return tally.copied;
}

/** A single file, from a container without tar. */
async function copyPlain(
  runner: CopyRunner,
  from: PodPlace,
  to: LocalPlace,
  call: ExecOptions,
  tally: Tally,
  missing: ExecError,
): Promise<void> {
  await using ran = await runner.exec(from.pod, ['cat', from.path], call);
  const complaints = textOf(ran.stderr);
  const { createWriteStream } = process.getBuiltinModule('node:fs');
  const { pipeline } = process.getBuiltinModule('node:stream/promises');
  await pipeline(tally.count('', ran.stdout), createWriteStream(to.local));
  const { exitCode } = await ran.ended;
  if (exitCode !== 0) throw withoutTar(missing, (await complaints).trim());
}

async function verify(runner: CopyRunner, place: PodPlace, tally: Tally, options: CopyOptions): Promise<void> {
  const files = [...tally.sums];
  if (files.length === 0) return;
  const names = files.map(([below]) => (below === '' ? place.path : `${place.path}/${below}`));
  const call = { ...callOf(place, options), stdin: names.map((name) => `${name}\0`).join('') };
  const text = await runner.exec(place.pod, ['xargs', '-0', 'sha256sum', '--'], call).text();
  // In the order of the names: those with special characters are printed in another form.
  const sums = text
    .trim()
    .split('\n')
    .map((line) => line.replace(/^\\/, '').slice(0, 64));
  if (sums.length !== files.length) throw new Error(`copy: verified ${sums.length} of ${files.length} files`);
  files.forEach(([, sum], index) => {
    if (sum === sums[index]) return;
    throw new Error(`copy ${names[index]}: the checksums of both sides differ; the file may have changed meanwhile`);
  });
}

/** Counts what passes, and its checksums. */
class Tally implements CopyListener {
  readonly #options: CopyOptions;
  /** Of each complete file, by its relative path. */
  readonly sums = new Map<string, string>();
  #bytes = 0;
  #files = 0;
  #hash: Hash | undefined;

  constructor(options: CopyOptions) {
    this.#options = options;
  }

  get copied(): Copied {
    return { bytes: this.#bytes, files: this.#files };
  }

  onBytes(path: string, bytes: Uint8Array): void {
    this.#bytes += bytes.length;
    this.#current()?.update(bytes);
    this.#options.onProgress?.({ ...this.copied, path });
  }

  onFile(path: string): void {
    this.#files += 1;
    const hash = this.#current();
    if (hash !== undefined) this.sums.set(path, hash.digest('hex'));
    this.#hash = undefined;
    this.#options.onProgress?.({ ...this.copied, path });
  }

  async *count(path: string, source: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
    for await (const bytes of source) {
      this.onBytes(path, bytes);
      yield bytes;
    }
    this.onFile(path);
  }

  /** Begins again. */
  reset(): void {
    this.sums.clear();
    [this.#bytes, this.#files, this.#hash] = [0, 0, undefined];
  }

  #current(): Hash | undefined {
    if (this.#options.verify) this.#hash ??= process.getBuiltinModule('node:crypto').createHash('sha256');
    return this.#hash;
  }
}

function callOf({ container }: PodPlace, { signal, maxRetries, span }: CopyOptions): ExecOptions {
  return {
    ...(container !== undefined && { container }),
    ...(signal && { signal }),
    ...(maxRetries !== undefined && { maxRetries }),
    ...(span && { span }),
  };
}

/**
 * A server that cannot start tar closes the connection while the archive is still being sent, and its report can get
 * lost: then a command without input finds out. The given error, if tar is there.
 */
async function missingTar(runner: CopyRunner, pod: PodPlace['pod'], call: ExecOptions, cut: unknown): Promise<unknown> {
  try {
    await runner.exec(pod, ['tar', '--help'], call).bytes();
  } catch (error) {
    if (isMissing(error)) return error;
  }
  return cut;
}

/** Whether the container has no such program: the runtime says so, or a shell. */
function isMissing(error: unknown): boolean {
  if (!isExecError(error)) return false;
  return error.exitCode === 127 || (error.exitCode === undefined && /not found|no such file/i.test(error.message));
}

function isTarEnd(error: unknown): boolean {
  return error instanceof Error && error.name === 'TarError' && /empty|ends before/.test(error.message);
}

function explained(error: unknown, path: string): unknown {
  if (!isExecError(error) || error.exitCode === undefined) return error;
  const { exitCode, stderr } = error;
  const line = stderr.trim().split('\n').at(-1) ?? '';
  return Object.assign(error, { message: `copy ${path}: tar failed with exit code ${exitCode}: ${line}` });
}

function withoutTar(error: ExecError, why = ''): ExecError {
  const what = 'copy: the container has no tar, so that only single files can be copied';
  return Object.assign(error, { message: `${what}${why === '' ? '' : `: ${why}`}` });
}

async function failure(exitCode: number, complaints: Promise<string>): Promise<Error> {
  const stderr = await complaints;
  return new ExecError(`tar failed with exit code ${exitCode}`, { exitCode, stderr });
}

async function textOf(stream: AsyncIterable<Uint8Array>): Promise<string> {
  let text = '';
  try {
    for await (const bytes of stream) text = (text + new TextDecoder().decode(bytes)).slice(-65_536);
  } catch {
    // Reading the other output reports it.
  }
  return text;
}
