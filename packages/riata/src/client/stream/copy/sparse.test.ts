import { Buffer } from 'node:buffer';
import { execFileSync, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdtemp, open, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { tarOf, unpackTo } from './local-files.js';
import { readTar } from './read-tar.js';
import { decodeHeader, encodeHeader, padding, type TarEntry } from './tar-header.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-sparse-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ignore = { onBytes() {}, onFile() {} };
const end = Buffer.alloc(1024);

/** A file of 8 MiB with a few bytes at some places, and a hole at its end. */
async function sparseFile(): Promise<string> {
  const path = join(await mkdtemp(join(folder, 'from-')), 'it');
  await using file = await open(path, 'w');
  for (const at of [0, 1_048_577, 3_000_000, 5_242_880]) await file.write(`data at ${at}`, at);
  for (let at = 6_000_000; at < 6_500_000; at += 20_000) await file.write('x', at);
  await file.truncate(8 * 1024 * 1024);
  return path;
}

const sumOf = async (path: string) =>
  createHash('sha256')
    .update(await readFile(path))
    .digest('hex');

describe.each([
  ['gnu', ['--format=gnu']],
  ['pax 0.0', ['--format=pax', '--sparse-version=0.0']],
  ['pax 0.1', ['--format=pax', '--sparse-version=0.1']],
  ['pax 1.0', ['--format=pax', '--sparse-version=1.0']],
])('a sparse file in the form %s of GNU tar', (_, format) => {
  test('comes out as it went in, with its holes', async () => {
    const path = await sparseFile();
    const tar = spawn('tar', ['-cSf', '-', ...format, '-C', join(path, '..'), 'it'], {
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    const to = `${path}-${format.length}-copy`;
    let seen = 0;
    const listener = {
      onBytes: (_path: string, bytes: Uint8Array) => {
        seen += bytes.length;
      },
      onFile() {},
    };
    await unpackTo(tar.stdout, 'it', to, listener);
    expect(await sumOf(to)).toBe(await sumOf(path));
    const { size, blocks } = await stat(to);
    expect([size, seen]).toEqual([8 * 1024 * 1024, 8 * 1024 * 1024]);
    // Half a megabyte has data; a file system may keep more, but not the whole file.
    expect(blocks * 512).toBeLessThan(4 * 1024 * 1024);
  });
});

test('holes are found in an archive that does not know them', async () => {
  const path = await sparseFile();
  const to = `${path}-copy`;
  await unpackTo(tarOf(path, 'it', ignore), 'it', to, ignore);
  expect(await sumOf(to)).toBe(await sumOf(path));
  expect((await stat(to)).blocks * 512).toBeLessThan(4 * 1024 * 1024);
});

test('GNU tar reads what we write, and we what it writes', async () => {
  const path = await sparseFile();
  const archive = `${path}.tar`;
  const pieces: Uint8Array[] = [];
  for await (const piece of tarOf(path, 'it', ignore)) pieces.push(piece);
  await writeFile(archive, Buffer.concat(pieces));
  const root = await mkdtemp(join(folder, 'gnu-'));
  execFileSync('tar', ['-xf', archive, '-C', root]);
  expect(await sumOf(join(root, 'it'))).toBe(await sumOf(path));
});

test('a file of more than 8 GiB has its size in the header', async () => {
  const size = 9 * 1024 ** 3 + 5;
  const entry: TarEntry = { path: 'it', type: 'file', mode: 0o644, mtime: 1, size, target: '' };
  const read = async (header: Buffer) => {
    async function* source() {
      yield header;
    }
    for await (const member of readTar(source())) return member.entry;
    return undefined;
  };
  expect(await read(encodeHeader(entry))).toEqual(entry);
  // As GNU tar has it: a binary number.
  const binary = encodeHeader({ ...entry, size: 1 });
  binary.fill(0, 124, 136);
  binary[124] = 0x80;
  binary.writeBigUInt64BE(BigInt(size), 128);
  binary.fill(' ', 148, 156);
  let sum = 0;
  for (let i = 0; i < 512; i++) sum += binary[i] as number;
  binary.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
  expect(decodeHeader(binary)?.entry.size).toBe(size);
});

describe('hostile archives', () => {
  const common = { path: 'it', type: 'file', mode: 0o644, mtime: 1, target: '' } as const;
  const member = (entry: Partial<TarEntry>, content = '') => {
    const size = Buffer.byteLength(content);
    const header = encodeHeader({ ...common, size, ...entry });
    return Buffer.concat([header, Buffer.from(content), Buffer.alloc(padding(size))]);
  };
  const pax = (records: string, content: string) => {
    const header = encodeHeader({ ...common, path: 'PaxHeader', size: Buffer.byteLength(records) });
    header.write('x', 156, 'latin1');
    header.fill(' ', 148, 156);
    let sum = 0;
    for (const byte of header) sum += byte;
    header.write(`${sum.toString(8).padStart(6, '0')}\0 `, 148, 'latin1');
    const body = Buffer.from(records);
    return Buffer.concat([header, body, Buffer.alloc(padding(body.length)), member({}, content), end]);
  };
  const record = (key: string, value: string) => {
    const body = ` ${key}=${value}\n`;
    const length = body.length + String(body.length + 2).length;
    return `${length}${body}`;
  };
  const unpack = async (archive: Buffer) => {
    const root = await mkdtemp(join(folder, 'hostile-'));
    await writeFile(join(root, 'secret'), 'secret');
    async function* source() {
      yield archive;
    }
    return { root, done: unpackTo(source(), 'it', join(root, 'target'), ignore) };
  };

  test.each([
    ['parts that overlap', [record('GNU.sparse.size', '100'), record('GNU.sparse.map', '0,10,5,10')], 'overlap'],
    ['a part behind the end', [record('GNU.sparse.size', '8'), record('GNU.sparse.map', '0,9')], 'overlap'],
    ['more data than there is', [record('GNU.sparse.size', '9999'), record('GNU.sparse.map', '0,9999')], 'more data'],
    ['no numbers', [record('GNU.sparse.size', '10'), record('GNU.sparse.map', '0,x')], 'no numbers'],
    ['a negative size', [record('GNU.sparse.size', '-10'), record('GNU.sparse.map', '0,1')], 'no numbers'],
    ['a size of its own', [record('size', '-5')], 'a size is no number'],
    [
      'a name that climbs',
      [record('GNU.sparse.size', '4'), record('GNU.sparse.map', '0,4'), record('GNU.sparse.name', '../evil')],
      'leads elsewhere',
    ],
  ])('a sparse file with %s is refused', async (_, records, message) => {
    const { done } = await unpack(pax(records.join(''), 'data'));
    await expect(done).rejects.toThrow(message);
  });

  const it = member({ type: 'folder', mode: 0o755 });

  test.each([
    [
      'links that lead outside together',
      [
        member({ path: 'it/a', type: 'symlink', target: '.' }),
        member({ path: 'it/b', type: 'symlink', target: 'a/../secret' }),
      ],
    ],
    [
      'links whose folder becomes a link later',
      [
        member({ path: 'it/b', type: 'symlink', target: 'a/../secret' }),
        member({ path: 'it/a', type: 'symlink', target: '.' }),
      ],
    ],
    [
      'hard links to such links',
      [
        member({ path: 'it/a', type: 'symlink', target: '.' }),
        member({ path: 'it/b', type: 'symlink', target: 'a/../secret' }),
        member({ path: 'it/c', type: 'link', target: 'it/b' }),
      ],
    ],
  ])('%s are refused, and nothing of the outside is copied', async (_, members) => {
    const { root, done } = await unpack(Buffer.concat([it, ...members, end]));
    await expect(done).rejects.toThrow('leads outside');
    const copied = await readFile(join(root, 'target', 'c'), 'utf8').catch(() => '');
    expect(copied).not.toBe('secret');
  });

  test('links within the target stay, hard links to them too', async () => {
    const members = [
      member({ path: 'it/file' }, 'content'),
      member({ path: 'it/l', type: 'symlink', target: 'file' }),
      member({ path: 'it/h', type: 'link', target: 'it/l' }),
    ];
    const { root, done } = await unpack(Buffer.concat([it, ...members, end]));
    await done;
    expect(await readFile(join(root, 'target', 'h'), 'utf8')).toBe('content');
  });
});
