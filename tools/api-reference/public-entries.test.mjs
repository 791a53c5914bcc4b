import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';
import { publicEntries } from './public-entries.mjs';

const root = fileURLToPath(new URL('../..', import.meta.url));
const entries = publicEntries(root);
const imported = [...entries.values()];

test('every package is in the reference, and every entry of its exports map', () => {
  const missing = readdirSync(`${root}/packages`).flatMap((folder) => {
    const { name, exports } = JSON.parse(readFileSync(`${root}/packages/${folder}/package.json`, 'utf8'));
    return Object.keys(exports)
      .filter((path) => path !== './package.json')
      .map((path) => `${name}${path.slice(1)}`)
      .filter(
        (path) => !imported.some((entry) => entry === path || entry.startsWith(path.replace(/\*$/, '*').split('*')[0])),
      );
  });
  expect(missing).toEqual([]);
});

test('entries are named as imports name them, and are files', () => {
  expect(imported).toEqual(
    expect.arrayContaining([
      'riata',
      'riata/controller',
      'riata/kinds/apps/v1',
      'riata/kinds/types/apps-v1',
      '@riata/testing',
    ]),
  );
  expect(new Set(imported).size).toBe(entries.size);
  expect([...entries.keys()].filter((file) => !existsSync(file))).toEqual([]);
});
