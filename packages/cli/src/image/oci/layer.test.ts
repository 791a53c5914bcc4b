import { execFileSync } from 'node:child_process';
import { gunzipSync } from 'node:zlib';
import { expect, test } from 'vitest';
import { sha256 } from './blob.js';
import { layerOf } from './layer.js';

const files: [string, Buffer][] = [
  ['app/main.mjs', Buffer.from('await 1;')],
  ['app/chunks/b.mjs', Buffer.from('export {};')],
  ['app/LICENSES.txt', Buffer.from('MIT')],
];

test('the same files give the same bytes, in whichever order they come', () => {
  const layer = layerOf(new Map(files), 0);
  expect(layerOf(new Map([...files].reverse()), 0)).toEqual(layer);
  // Fixed: it may not change with the machine, the version of Node, or the time.
  expect(layer.descriptor.digest).toMatchInlineSnapshot(
    `"sha256:36de6a66d79f62abd6521eeee4d7aac98fe9170b8ab5ea0cdc60e6ac717725f1"`,
  );
  expect(layerOf(new Map(files), 1).descriptor.digest).not.toBe(layer.descriptor.digest);
});

test('a layer is a gzipped tar archive of sorted entries, folders first', () => {
  const layer = layerOf(new Map(files), 1_700_000_000);
  const tar = gunzipSync(layer.content);
  expect(sha256(tar)).toBe(layer.diffId);
  expect(layer.descriptor.size).toBe(layer.content.byteLength);
  const list = execFileSync('tar', ['--numeric-owner', '--utc', '-tvf', '-'], { input: tar, encoding: 'utf8' });
  expect(
    list
      .trim()
      .split('\n')
      .map((line) => line.replace(/ +/g, ' ')),
  ).toEqual([
    'drwxr-xr-x 0/0 0 2023-11-14 22:13 app/',
    '-rw-r--r-- 0/0 3 2023-11-14 22:13 app/LICENSES.txt',
    'drwxr-xr-x 0/0 0 2023-11-14 22:13 app/chunks/',
    '-rw-r--r-- 0/0 10 2023-11-14 22:13 app/chunks/b.mjs',
    '-rw-r--r-- 0/0 8 2023-11-14 22:13 app/main.mjs',
  ]);
});
