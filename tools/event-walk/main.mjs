// @ts-check
/**
 * `node tools/event-walk/main.mjs`: prints the files that one watch event passes on its way from the socket to a reconcile,
 * and its write on the way back. A file is on the way if it has a frame on the call stack when the event reaches one of
 * the `stations` below. Helpers that are called and return are not; their number is printed, too. With `--write`, the list in
 * docs/architecture.md is replaced.
 */
import { mkdirSync, rmSync } from 'node:fs';
import { join, relative, sep } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { build } from 'rolldown';

/** Where to look at the call stack: file, the start of a function's body, what has been reached. */
const stations = /** @type {const} */ ([
  ['cache/decode/reference-decoder.ts', /^ {2}decodeUnscanned\(.*\{$/m, 'the object is decoded'],
  ['cache/informer/ordered-fifo.ts', /^ {2}update\(.*\{$/m, 'the change is queued for the store'],
  ['cache/store/informer-store.ts', /^ {2}put\(.*\{$/m, 'the store has the new version'],
  ['queue/work-queue.ts', /^ {2}add\(.*\{$/m, 'the key is enqueued'],
  ['rest/transport/http/http-connection.ts', /^ {2}#write\(.*\{$/m, 'the request is on the socket'],
  ['cache/own-writes/own-writes.ts', /^ {2}written\(.*\{$/m, 'the answer is visible to readers'],
]);

const root = fileURLToPath(new URL('../..', import.meta.url));
const out = join(root, 'node_modules/.cache/event-walk');
rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const met = new Set();
await build({
  input: fileURLToPath(new URL('program.ts', import.meta.url)),
  platform: 'node',
  resolve: { conditionNames: ['riata-source', 'node', 'import', 'default'] },
  external: ['yaml', 'zod'],
  transform: { target: 'node20' },
  output: { dir: out, format: 'esm', preserveModules: true, preserveModulesRoot: root, entryFileNames: '[name].mjs' },
  plugins: [
    {
      name: 'stations',
      transform(code, id) {
        const file = relative(join(root, 'packages/riata/src'), id).split(sep).join('/');
        const found = stations.filter(([path, start]) => path === file && start.test(code));
        for (const [, , reached] of found) met.add(reached);
        return found.reduce((text, [, start, reached]) => {
          return text.replace(start, (head) => `${head} globalThis.reachStation?.(${JSON.stringify(reached)});`);
        }, code);
      },
    },
  ],
});
const missing = stations.filter(([, , reached]) => !met.has(reached));
if (missing.length > 0) {
  console.error(`event-walk: no such place any more: ${missing.map(([file]) => file).join(', ')}; change stations`);
  process.exit(1);
}
await import(pathToFileURL(join(out, 'tools/event-walk/program.mjs')).href);
