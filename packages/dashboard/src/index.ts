/**
 * The web page of a Manager with the option `dashboard`: its files, and the page to sign in. `riata` loads this package when
 * the option is given; `riata dashboard` serves it on your machine for an operator elsewhere.
 *
 * @module
 */

import { readFile } from 'node:fs/promises';
import { extname } from 'node:path';
import { pageHeaders } from './page-headers.js';

export { applyDelta } from './page/apply-delta.js';

/** A file of the dashboard, as an answer to a request. */
export interface DashboardFile {
  readonly status?: number;
  readonly contentType: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

const contentTypes: Readonly<Record<string, string>> = {
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.css': 'text/css; charset=utf-8',
  '.svg': 'image/svg+xml',
};

/** Built; the second one when this is loaded from its source. */
const folders = [new URL('./site/', import.meta.url), new URL('../dist/site/', import.meta.url)];

/**
 * The file of a path: `/assets/…` by name, and the page itself for every other path. Names of assets hold a hash of their
 * content, so browsers keep them.
 */
export async function dashboardFile(path: string): Promise<DashboardFile> {
  const asset = /^\/assets\/[\w.-]+$/.exec(path)?.[0].slice(1);
  if (path.startsWith('/assets/') && asset === undefined) return missing();
  const body = await read(asset ?? 'index.html');
  if (body === undefined) return missing();
  const contentType = contentTypes[extname(asset ?? 'index.html')] ?? 'application/octet-stream';
  const headers = {
    ...pageHeaders,
    'cache-control': asset === undefined ? 'no-cache' : 'public, max-age=31536000, immutable',
  };
  return { contentType, headers, body };
}

/** The page that asks for a token; `problem` says why the last one was refused. */
export function signInPage(problem?: string): DashboardFile {
  const alert = problem === undefined ? '' : `<p role="alert">${escapeHtml(problem)}</p>`;
  const body = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Sign in · Riata</title>
<main>
<h1>Riata dashboard</h1>
${alert}<form method="post" action="/sign-in">
<p><label>Bearer token of the cluster<br><input type="password" name="token" autocomplete="off" required autofocus></label></p>
<p><button>Sign in</button></p>
</form>
<p>Make one with <code>kubectl create token NAME</code>. Its user needs the right to get <code>/debug/*</code>.</p>
</main>
</html>
`;
  return { contentType: 'text/html; charset=utf-8', headers: { ...pageHeaders, 'cache-control': 'no-store' }, body };
}

async function read(name: string): Promise<Uint8Array | undefined> {
  for (const folder of folders) {
    try {
      return await readFile(new URL(name, folder));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error;
    }
  }
  return undefined;
}

function missing(): DashboardFile {
  return { status: 404, contentType: 'text/plain; charset=utf-8', headers: pageHeaders, body: 'not found\n' };
}

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
