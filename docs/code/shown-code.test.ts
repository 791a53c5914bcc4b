import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { pages, root } from './pages.js';
import { missingCode, shownBlocks } from './shown-code.js';

test('all code on pages is part of files that are compiled and run', async () => {
  const blocks = (await Promise.all(pages().map((page) => shownBlocks(page)))).flat();
  const missing = await Promise.all(blocks.map(missingCode));
  expect(missing.filter((problem) => problem !== undefined)).toEqual([]);
  expect(new Set(blocks.map(({ page }) => page)).size).toBeGreaterThan(5);
});

test('every guide is run', () => {
  const folder = new URL('.', import.meta.url);
  const run = readFileSync(new URL('guides.test.ts', folder), 'utf8');
  const guides = readdirSync(folder).filter((file) => file.endsWith('.guide.ts'));
  expect(guides.filter((file) => !run.includes(`'./${file.replace(/ts$/, 'js')}'`))).toEqual([]);
});

test('code that no file contains is found', async () => {
  const source = 'docs/code/shown-code.test.ts';
  const block = (code: string) => missingCode({ page: 'a.md', source, code });
  expect(await block("import { expect } from 'vitest';\n\nconst source = 'docs/code/shown-code.test.ts';\n")).toBe(
    undefined,
  );
  expect(await block("import { vi } from 'vitest';\n")).toBe(`a.md: ${source} does not import vi of vitest`);
  expect(await block(['const other', '= 1;'].join(' '))).toMatch(/does not hold\nconst other/);
  expect(await missingCode({ page: 'a.md', source: undefined, code: 'f();\n' })).toMatch(/no comment says/);
});

test('names in migration tables can be imported from the path they name', async () => {
  const text = readFileSync(new URL('docs/migrating-from-go.md', root), 'utf8');
  const rows = text.split('\n').flatMap((line) => {
    const [, , name, from] = line.split(' | ').length === 3 ? line.split('|') : [];
    return name !== undefined && /`@?riata/.test(from ?? '') ? [{ name, from: from ?? '' }] : [];
  });
  expect(rows.length).toBeGreaterThan(15);
  for (const { name, from } of rows) {
    for (const [, path = '', only] of from.matchAll(/`(@?riata[^`]*)`(?: \(([^)]*)\))?/g)) {
      const exported = Object.keys(await import(path));
      const named = [...(only ?? name).matchAll(/[A-Za-z]\w+/g)].map(([word]) => word);
      expect(
        named.filter((word) => exported.includes(word)),
        `${name} from ${path}`,
      ).not.toEqual([]);
    }
  }
});
