import { Buffer } from 'node:buffer';
import { lstat, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { unpackTo } from './local-files.js';
import { readTar } from './read-tar.js';
import { encodeHeader, padding, type TarEntry } from './tar-header.js';

let folder = '';
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'riata-tar-'));
});
afterAll(() => rm(folder, { recursive: true, force: true }));

const ignore = { onBytes() {}, onFile() {} };

function member(entry: Partial<TarEntry>, content = ''): Buffer {
  const size = Buffer.byteLength(content);
  const common = { path: 'it', type: 'file', mode: 0o644, mtime: 1, target: '' } as const;
  return Buffer.concat([
    encodeHeader({ ...common, size, ...entry }),
    Buffer.from(content),
    Buffer.alloc(padding(size)),
  ]);
}

async function* bytesOf(archive: Uint8Array, size = 1000) {
  for (let at = 0; at < archive.length; at += size) yield archive.subarray(at, at + size);
}

const end = Buffer.alloc(1024);
const it = member({ path: 'it', type: 'folder', mode: 0o755 });

test.each([
  ['a name that climbs', [it, member({ path: 'it/../../evil' }, 'x')]],
  ['an absolute name', [it, member({ path: '/evil' }, 'x')]],
  ['another name', [it, member({ path: 'other' }, 'x')]],
  ['a link to the outside', [it, member({ path: 'it/l', type: 'symlink', target: '../../evil' })]],
  ['an absolute link', [it, member({ path: 'it/l', type: 'symlink', target: '/etc' })]],
  ['a hard link to the outside', [it, member({ path: 'it/l', type: 'link', target: '../secret' })]],
  [
    'a member behind a link',
    [it, member({ path: 'it/l', type: 'symlink', target: '.' }), member({ path: 'it/l/evil' }, 'x')],
  ],
  ['a device', [it, member({ path: 'it/d', type: 'other' })]],
])('%s is refused, and nothing is written outside', async (_, members) => {
  const root = await mkdtemp(join(folder, 'root-'));
  await writeFile(join(root, 'secret'), 'secret');
  const archive = Buffer.concat([...members, end]);
  // The type "other" is written as a contiguous file: make a device of it.
  const at = archive.indexOf('it/d');
  if (at >= 0) remark(archive, at, '3');
  await expect(unpackTo(bytesOf(archive), 'it', join(root, 'target'), ignore)).rejects.toThrow('copy:');
  expect((await readdir(root)).sort()).toEqual(['secret', 'target']);
  expect(await readdir(join(root, 'target')).catch(() => [])).not.toContain('evil');
});

/** Changes the type of a header, and its checksum. */
function remark(archive: Buffer, at: number, flag: string): void {
  archive.write(flag, at + 156, 'latin1');
  archive.fill(' ', at + 148, at + 156);
  let sum = 0;
  for (let i = 0; i < 512; i++) sum += archive[at + i] as number;
  archive.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1');
}

test('a link that is there already is replaced, not followed', async () => {
  const root = await mkdtemp(join(folder, 'root-'));
  await writeFile(join(root, 'secret'), 'secret');
  await mkdir(join(root, 'target'));
  await symlink('../secret', join(root, 'target', 'file'));
  const archive = Buffer.concat([it, member({ path: 'it/file' }, 'new'), end]);
  await unpackTo(bytesOf(archive), 'it', join(root, 'target'), ignore);
  expect(await readFile(join(root, 'secret'), 'utf8')).toBe('secret');
  expect((await lstat(join(root, 'target', 'file'))).isFile()).toBe(true);
});

test('an archive that is cut off anywhere is an error', async () => {
  const archive = Buffer.concat([it, member({ path: 'it/a' }, 'x'.repeat(3000)), member({ path: 'it/b' }, 'y'), end]);
  const read = async (bytes: Uint8Array) => {
    let total = 0;
    for await (const { content } of readTar(bytesOf(bytes, 700)))
      for await (const piece of content) total += piece.length;
    return total;
  };
  expect(await read(archive)).toBe(3001);
  await fc.assert(
    fc.asyncProperty(fc.integer({ min: 0, max: archive.length - 1025 }), async (length) => {
      await expect(read(archive.subarray(0, length))).rejects.toThrow('ends before its end');
    }),
    { numRuns: 60 },
  );
});

test('random bytes never do more than throw', async () => {
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ maxLength: 3000 }), async (bytes) => {
      const target = join(folder, 'random');
      await unpackTo(bytesOf(bytes), 'it', target, ignore).catch((error) => expect(error).toBeInstanceOf(Error));
    }),
    { numRuns: 100 },
  );
});
