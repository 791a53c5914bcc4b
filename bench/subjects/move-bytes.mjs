// What the subjects of the streams share: a warm-up, the measured run, and what that took.
import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { cpuMs, peakMb, report } from './probe.mjs';

const piece = Buffer.alloc(64 * 1024);

/** Zeros, 64 KiB at a time. */
export async function* zeros(count) {
  for (let left = count; left > 0; left -= piece.length) yield left < piece.length ? piece.subarray(0, left) : piece;
}

/** Lets another process read from a forwarded port. */
export async function pull(port, count) {
  const script = fileURLToPath(new URL('./pull.mjs', import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [script, String(port), String(count)]);
  return Number(stdout);
}

export async function moveBytes(move, count, warmUp) {
  await move(warmUp);
  const [from, began] = [process.cpuUsage(), performance.now()];
  const bytes = await move(count);
  report({ bytes, cpuMs: cpuMs(from), ms: performance.now() - began, peakMb: peakMb() });
}
