import { realpathSync } from 'node:fs';
import process from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * Whether a module is the program that Node was started with, rather than imported by another: for a main module that a
 * test or the `riata` command imports for its definitions. As `import.meta.main`, which Node 20 and 22 don't have.
 *
 * @param url of the module, `import.meta.url`
 *
 * @example
 * if (isMain(import.meta.url)) await run(...definitions, options);
 */
export function isMain(url: string): boolean {
  const program = process.argv[1];
  if (program === undefined || !url.startsWith('file:')) return false;
  try {
    // `node dist/main` and links, as those in node_modules/.bin.
    const started = [program, `${program}.js`, `${program}/index.js`].map(realPath);
    return started.includes(realpathSync(fileURLToPath(url)));
  } catch {
    return false;
  }
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
