// A stand-in for an API server over plain HTTP whose answers are files that were made before: see informer-data.mjs.
// Forked with the folders by name; `/<name>/api/v1/pods` lists (whole or in pages) and watches (from the start, as WatchList
// asks for it, or from the list on). What has changed is sent to whoever watches once the parent says 'release', until
// it says 'hold'. There is nothing in the namespace `default`. Ends with its parent.
import { openSync, readFileSync, readSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';

const { folders, resourceVersion } = JSON.parse(process.argv[2]);
const BLOCK = 64 * 1024;
const END = Buffer.from('0\r\n\r\n');
const nothing = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"1"},"items":[]}\n';
const EMPTY = Buffer.from(
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${nothing.length}\r\n\r\n${nothing}`,
);

const answers = Object.fromEntries(
  Object.entries(folders).map(([name, folder]) => {
    const file = (of) => openSync(join(folder, of), 'r');
    const stream = (of) => ({
      added: file(`added.${of}`),
      bookmark: file(`bookmark.${of}`),
      modified: file(`modified.${of}`),
    });
    const { pages } = JSON.parse(readFileSync(join(folder, 'pages.json'), 'utf8'));
    return [name, { pages, list: file('list.json'), json: stream('json'), pb: stream('pb') }];
  }),
);

let released = Promise.withResolvers();
process.on('message', (message) => {
  if (message === 'release') released.resolve();
  else released = Promise.withResolvers();
});

const head = (type) => Buffer.from(`HTTP/1.1 200 OK\r\nContent-Type: ${type}\r\nTransfer-Encoding: chunked\r\n\r\n`);
const chunk = (text) => Buffer.from(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);

function* bytesOf(file, from = 0, to = Number.POSITIVE_INFINITY) {
  for (let at = from; at < to; ) {
    const block = Buffer.allocUnsafe(Math.min(BLOCK, to - at));
    const read = readSync(file, block, 0, block.length, at);
    if (read === 0) return;
    at += read;
    yield block.subarray(0, read);
  }
}

function* list({ pages, list }, query) {
  const page = Number(query.get('continue') ?? 0);
  // The servers' own page size, whatever was asked for: all clients here ask for this or for everything.
  const end = query.has('limit') ? page + 1 : pages.length - 1;
  const metadata = { resourceVersion, ...(end < pages.length - 1 && { continue: String(end) }) };
  yield head('application/json');
  yield chunk(`{"kind":"PodList","apiVersion":"v1","metadata":${JSON.stringify(metadata)},"items":[`);
  for (let at = page; at < end; at++) {
    if (at > page) yield chunk(',');
    yield* bytesOf(list, pages[at], pages[at + 1]);
  }
  yield chunk(']}\n');
  yield END;
}

async function* watch({ added, bookmark, modified }, type, query) {
  yield head(type);
  if (query.get('sendInitialEvents') === 'true') {
    yield* bytesOf(added);
    yield* bytesOf(bookmark);
  }
  await released.promise;
  yield* bytesOf(modified);
  // The watch goes on, and nothing more happens.
}

function answerTo(target, headers) {
  const { pathname, searchParams } = new URL(target, 'http://server');
  const [, name, ...rest] = pathname.split('/');
  const from = answers[name];
  if (from !== undefined && rest.join('/') === 'api/v1/namespaces/default/pods') return [EMPTY];
  if (from === undefined || rest.join('/') !== 'api/v1/pods') {
    return [Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n')];
  }
  const isWatch = ['1', 'true'].includes(searchParams.get('watch'));
  const isProtobuf = /^accept:.*protobuf/im.test(headers);
  if (!isWatch) return list(from, searchParams);
  if (isProtobuf) return watch(from.pb, 'application/vnd.kubernetes.protobuf;stream=watch', searchParams);
  return watch(from.json, 'application/json', searchParams);
}

async function send(socket, pieces) {
  for await (const piece of pieces) {
    if (socket.destroyed) return;
    if (!socket.write(piece)) {
      await new Promise((resolve) => {
        const done = () => {
          socket.off('drain', done).off('close', done);
          resolve();
        };
        socket.on('drain', done).on('close', done);
      });
    }
  }
}

const server = createServer({ noDelay: true }, (socket) => {
  let text = '';
  let queue = Promise.resolve();
  socket.on('error', () => {});
  socket.on('data', (bytes) => {
    // Only GET is asked for: a request is its headers.
    text += bytes.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const [, target] = text.split(' ', 2);
      const headers = text.slice(0, end);
      text = text.slice(end + 4);
      queue = queue.then(() => send(socket, answerTo(target, headers)));
    }
  });
});
server.listen(0, '127.0.0.1', () => process.send({ port: server.address().port }));
process.on('disconnect', () => process.exit(0));
