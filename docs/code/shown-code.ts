import { readFile } from 'node:fs/promises';
import { root } from './pages.js';

/** A `ts` block of a page, and the file that contains it and is run. */
export interface ShownBlock {
  readonly page: string;
  /** Relative to the root of the repository; undefined if the page names none. */
  readonly source: string | undefined;
  readonly code: string;
}

/**
 * The `ts` blocks of a page of the docs. Which file runs a block is said by the comment `<!-- from path -->` right above it,
 * or by `<!-- code: path -->` for the whole page.
 */
export async function shownBlocks(page: string): Promise<ShownBlock[]> {
  const text = await readFile(new URL(page, root), 'utf8');
  const ofPage = /<!-- code: (\S+) -->/.exec(text)?.[1];
  return [...text.matchAll(/(?:<!-- from (\S+) -->\n)?^```ts\n([\s\S]*?)^```$/gm)].map(([, own, code = '']) => {
    return { page, source: own ?? ofPage, code };
  });
}

/** Describes what the source lacks of a block; undefined if it contains the block in one piece, whatever its indentation. */
export async function missingCode({ page, source, code }: ShownBlock): Promise<string | undefined> {
  if (source === undefined) return `${page}: no comment says which file runs\n${code}`;
  const text = await readFile(new URL(source, root), 'utf8');
  // The source may import more, in another order.
  const there = new Set(importedNames(text));
  const names = importedNames(code).filter((name) => !there.has(name));
  if (names.length > 0) return `${page}: ${source} does not import ${names.join(', ')}`;
  const body = flat(code.replace(imports, ''));
  return flat(text).includes(body) ? undefined : `${page}: ${source} does not hold\n${body}`;
}

const imports = /^import (?:type )?\{([^}]*)\} from '([^']+)';\n/gm;

function importedNames(text: string): string[] {
  return [...text.matchAll(imports)].flatMap(([, names = '', from]) =>
    names.split(',').flatMap((name) => (name.trim() === '' ? [] : [`${name.trim().replace(/^type /, '')} of ${from}`])),
  );
}

/** Without indentation, and without blank lines at both ends. */
function flat(text: string): string {
  return text.replace(/^ +/gm, '').replace(/^\n+|\n+$/g, '');
}
