import { readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { expect, test } from 'vitest';
import { isKnownPath, pageReferences } from './links.js';
import { isPresent, pages, repositoryFiles, root } from './pages.js';

const files = repositoryFiles();
const references = new Map(
  pages(files).map((page) => [page, pageReferences(readFileSync(new URL(page, root), 'utf8'))]),
);

/** Files that the reader writes, and what `npm run docs` writes. */
const notInSources = new Set(['src/main.ts', 'docs/api']);

test('links and pictures lead to files, and anchors to headings', () => {
  const broken = [...references].flatMap(([page, { links }]) =>
    links.filter((link) => !leads(page, link)).map((link) => `${page}: ${link}`),
  );
  expect(broken).toEqual([]);
});

function leads(page: string, link: string): boolean {
  const [path = '', anchor] = link.split('#');
  const target = path === '' ? page : posix.join(posix.dirname(page), path);
  if (!isPresent(target)) return false;
  return anchor === undefined || references.get(target)?.anchors.has(anchor) === true;
}

test('source files that pages name exist', () => {
  const unknown = [...references].flatMap(([page, { paths }]) =>
    paths
      .filter((path) => !notInSources.has(path) && !isKnownPath(path, page, files))
      .map((path) => `${page}: ${path}`),
  );
  expect(unknown).toEqual([]);
});

test('a dead link, a missing anchor and an unknown file are found', () => {
  const { links, paths, anchors } = pageReferences(
    [
      '# The `queue/` layer',
      'See [queues](queues.md#in-tests), ![a picture](gone.svg), [elsewhere](https://example.com).',
      '`queue/gone.ts`, `queue/work-queue.ts`, `cache/`, `packages/riata/src/gone`, `a.b()`, `npm run docs`',
      '```ts\n[not](a-link.md)\n```',
    ].join('\n'),
  );
  expect(links).toEqual(['queues.md#in-tests', 'gone.svg']);
  expect([...anchors]).toEqual(['the-queue-layer']);
  expect(paths.filter((path) => !isKnownPath(path, 'docs/a.md', files))).toEqual([
    'queue/gone.ts',
    'packages/riata/src/gone',
  ]);
  expect(leads('README.md', 'docs/gone.md')).toBe(false);
  expect(leads('docs/testing.md', 'testing.md#no-such-heading')).toBe(false);
});
