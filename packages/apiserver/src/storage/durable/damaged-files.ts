import { Buffer } from 'node:buffer';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

/** Finds damaged files of a LevelDB directory, with the problem of each, as far as that is possible without LevelDB. */
export async function damagedFiles(directory: string): Promise<string[]> {
  const names = (await readdir(directory)).sort();
  const found: string[] = [];
  const tables = names.filter((name) => name.endsWith('.ldb'));
  for (const name of names) {
    const path = join(directory, name);
    const problem = await problemOf(name, path);
    if (problem !== undefined) found.push(`${path} ${problem}`);
  }
  if (found.length > 0 || tables.length === 0) return found;
  return [`${tables.length === 1 ? '' : 'one of '}${tables.map((name) => join(directory, name)).join(', ')}`];
}

async function problemOf(name: string, path: string): Promise<string | undefined> {
  if (name === 'CURRENT') return currentProblem(await readFile(path, 'latin1'));
  if (name.endsWith('.log') || name.startsWith('MANIFEST-')) return logProblem(await readFile(path));
  if (name.endsWith('.ldb')) return tableProblem(await readFile(path));
  return undefined;
}

function currentProblem(text: string): string | undefined {
  return /^MANIFEST-\d+\n$/.test(text) ? undefined : 'does not name a MANIFEST file';
}

/** The magic number at the end of every table. */
const tableMagic = Buffer.from('57fb808b247547db', 'hex');

function tableProblem(bytes: Buffer): string | undefined {
  return bytes.subarray(-tableMagic.length).equals(tableMagic) ? undefined : 'is cut off or overwritten at its end';
}

const blockBytes = 32 * 1024;
const headerBytes = 7;

/** LevelDB's log format: blocks of records that never span two blocks, each with checksum, length and type. */
export function logProblem(bytes: Buffer): string | undefined {
  for (let at = 0; at < bytes.length; ) {
    const left = blockBytes - (at % blockBytes);
    if (left < headerBytes) {
      at += left;
      continue;
    }
    const contentAt = at + headerBytes;
    if (contentAt > bytes.length) return `ends within a record at byte ${at}`;
    const length = bytes.readUInt16LE(at + 4);
    const end = contentAt + length;
    if (length > left - headerBytes) return `is damaged at byte ${at}`;
    if (end > bytes.length) return `ends within a record at byte ${at}`;
    // The checksum covers the type, too.
    if (bytes.readUInt32LE(at) !== masked(crc32c(bytes.subarray(at + 6, end)))) return `is damaged at byte ${at}`;
    at = end;
  }
  return undefined;
}

/** LevelDB masks checksums, since a CRC of data that contains CRCs is weak. */
function masked(sum: number): number {
  return (((sum >>> 15) | (sum << 17)) + 0xa282ead8) >>> 0;
}

/** CRC-32C. Node's `crc32` uses another polynomial. */
function crc32c(bytes: Buffer): number {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = sum & 1 ? (sum >>> 1) ^ 0x82f63b78 : sum >>> 1;
  }
  return (sum ^ 0xffffffff) >>> 0;
}
