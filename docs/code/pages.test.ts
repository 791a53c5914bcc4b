import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages, root } from './pages.js';

const read = (page: string) => readFileSync(new URL(page, root), 'utf8');
const index = read('docs/README.md');
const guides = pages().filter((page) => /^docs\/[a-z-]+\.md$/.test(page));

test('the README has at most 200 lines', () => {
  expect(read('README.md').split('\n').length - 1).toBeLessThanOrEqual(200);
});

test('every page of docs is in the index, says who needs it, and what is next', () => {
  const lacking = guides.flatMap((page) => {
    const [, introduction = ''] = read(page).split(/\n\n/);
    const end = read(page).trimEnd().split('\n').at(-1) ?? '';
    return [
      ...(index.includes(`(${page.slice('docs/'.length)})`) ? [] : [`${page} is not in docs/README.md`]),
      ...(/\b(?:you need|read) this page|\buse it to\b/i.test(introduction) ? [] : [`${page}: who needs it?`]),
      ...(end.startsWith('Next: ') ? [] : [`${page}: what is next?`]),
    ];
  });
  expect(guides.length).toBeGreaterThan(10);
  expect(lacking).toEqual([]);
});

test('every layer has a page that the architecture page links to', () => {
  const architecture = read('docs/architecture.md');
  const layers = pages().filter((page) => page.startsWith('docs/architecture/'));
  expect(layers.filter((page) => !architecture.includes(`(${page.slice('docs/'.length)})`))).toEqual([]);
  expect(layers.length).toBe(16);
});
