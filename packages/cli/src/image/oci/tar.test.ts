import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from 'vitest';
import { type TarEntry, tarOf } from './tar.js';
import { readTarIndex } from './tar-index.js';

const folder = mkdtempSync(join(tmpdir(), 'riata-tar-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const paths = [
  'app/main.mjs',
  `${'deep/'.repeat(40)}split.txt`, // fits ustar's prefix
  `${'x'.repeat(120)}.txt`, // needs pax: no slash to split at
  `${'very-deep/'.repeat(60)}${'y'.repeat(150)}`,
  'größe/日本.txt',
];
const files = paths.map((path) => ({ path, content: Buffer.from(`content of ${path}`) }));

describe('a tar archive', () => {
  test('is extracted by tar, with long paths and paths that are not ASCII', () => {
    const path = join(folder, 'a.tar');
    const entries: (TarEntry & { content?: Uint8Array })[] = [
      { path: 'app/' },
      ...files,
      { path: 'run.sh', mode: 0o755 },
    ];
    writeFileSync(path, tarOf(entries));
    execFileSync('tar', ['-xf', path, '-C', folder]);
    for (const file of files) expect(readFileSync(join(folder, file.path), 'utf8')).toBe(`content of ${file.path}`);
    expect(statSync(join(folder, 'run.sh')).mode & 0o777).toBe(0o755);
    expect(statSync(join(folder, 'app/main.mjs')).mtimeMs).toBe(0);
    const list = execFileSync('tar', ['--numeric-owner', '-tvf', path], { encoding: 'utf8' });
    expect(list.split('\n')[0]).toMatch(/^drwxr-xr-x 0\/0 +0 1970-01-01 .* app\/$/);
  });

  test('is indexed, also if another program wrote it', async () => {
    const own = join(folder, 'own.tar');
    writeFileSync(own, tarOf(files));
    const archives = [own];
    for (const format of ['gnu', 'pax']) {
      const path = join(folder, `${format}.tar`);
      execFileSync('tar', [`--format=${format}`, '-cf', path, '-C', folder, ...paths.map((each) => `./${each}`)]);
      archives.push(path);
    }
    for (const archive of archives) {
      const index = await readTarIndex(archive);
      const bytes = readFileSync(archive);
      expect([...index.keys()]).toEqual(paths);
      for (const [path, { offset, size }] of index) {
        expect(bytes.toString('utf8', offset, offset + size)).toBe(`content of ${path}`);
      }
    }
  });

  test('is refused if it is compressed, cut off, or something else', async () => {
    const other = join(folder, 'other');
    writeFileSync(other, 'x'.repeat(2048));
    await expect(readTarIndex(other)).rejects.toThrow(`${other}: not an uncompressed tar archive`);
    writeFileSync(other, tarOf([{ path: 'a', content: Buffer.alloc(4096) }]).subarray(0, 2048));
    await expect(readTarIndex(other)).rejects.toThrow(`${other}: truncated tar archive`);
  });

  test('refuses a number that does not fit', () => {
    expect(() => tarOf([{ path: 'a', mtime: 8 ** 11 }])).toThrow('tar: 8589934592 does not fit its field');
  });
});
