// A stand-in for an API server that costs the machine as little as it can: TLS, and answers whose bytes are made before
// the first request. Started by `startServer`; ends with the process that started it.
//
//   /plain/… or /gzip/…  says how the long list is encoded
//   …/api/v1/namespaces/default/pods   10 Pods
//   …/api/v1/pods                      all of them, one HTTP chunk per item, as kube-apiserver streams lists
//   …/api/v1/pods?watch=true           MODIFIED events, one HTTP chunk each, then the end
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import { createServer } from 'node:tls';
import { createGzip } from 'node:zlib';
import { podBytes } from '../micro/pods.mjs';

const { cert, key, itemsFile, pods, events, distinct } = JSON.parse(process.argv[2]);
/** Written at once; larger pieces only fill the socket's queue. */
const BLOCK = 64 * 1024;

const LIST_HEAD = '{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"48299999"},"items":[';
const END = Buffer.from('0\r\n\r\n');

const headers = (more) =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${more}\r\n`;
const framed = (bytes) =>
  Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), Buffer.from(bytes), Buffer.from('\r\n')]);

/** Collects pieces into blocks. */
class Blocks {
  blocks = [];
  #pieces = [];
  #bytes = 0;

  add(piece) {
    this.#pieces.push(piece);
    this.#bytes += piece.length;
    if (this.#bytes >= BLOCK) this.flush();
    return this;
  }

  flush() {
    if (this.#bytes > 0) this.blocks.push(Buffer.concat(this.#pieces));
    this.#pieces = [];
    this.#bytes = 0;
    return this;
  }
}

async function build() {
  const plain = new Blocks().add(Buffer.from(headers(''))).add(framed(LIST_HEAD));
  const zipped = new Blocks().add(Buffer.from(headers('Content-Encoding: gzip\r\n')));
  const watch = new Blocks();
  const gzip = createGzip({ level: 1 });
  gzip.on('data', (chunk) => zipped.add(framed(chunk)));
  gzip.write(LIST_HEAD);
  const file = openSync(itemsFile, 'w');
  let bytes = 0;
  for (let i = 0; i < pods; i++) {
    const item = podBytes(i);
    bytes += item.length;
    writeSync(file, Buffer.concat([item, Buffer.from('\n')]));
    const last = i + 1 === pods;
    const member = Buffer.concat([item, Buffer.from(last ? ']}\n' : ',')]);
    plain.add(framed(member));
    if (!gzip.write(member)) await new Promise((resolve) => gzip.once('drain', resolve));
    if (i < distinct) {
      const object = `{"kind":"Pod","apiVersion":"v1",${item.toString().slice(1)}`;
      watch.add(framed(Buffer.from(`{"type":"MODIFIED","object":${object}}\n`)));
    }
  }
  closeSync(file);
  gzip.end();
  await new Promise((resolve) => gzip.once('end', resolve));
  plain.add(END).flush();
  zipped.add(END).flush();
  const few = Array.from({ length: 10 }, (_, i) => podBytes(i)).join(',');
  const short = Buffer.from(`${LIST_HEAD}${few}]}\n`);
  const shortHeaders = `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: ${short.length}\r\n\r\n`;
  return {
    bytes,
    plain: plain.blocks,
    gzip: zipped.blocks,
    watch: watch.flush().blocks,
    short: [Buffer.concat([Buffer.from(shortHeaders), short])],
  };
}

const answers = await build();

function* answerTo(target) {
  const url = new URL(target, 'https://server');
  const [, encoding, ...rest] = url.pathname.split('/');
  if (rest.join('/') === 'api/v1/namespaces/default/pods') yield* answers.short;
  else if (rest.join('/') === 'api/v1/pods' && url.searchParams.get('watch')) {
    yield Buffer.from(headers(''));
    for (let sent = 0; sent < events; sent += distinct) yield* answers.watch;
    yield END;
  } else if (rest.join('/') === 'api/v1/pods') yield* answers[encoding];
  else yield Buffer.from('HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n');
}

async function send(socket, pieces) {
  for (const piece of pieces) {
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

const server = createServer({ cert: readFileSync(cert), key: readFileSync(key), ALPNProtocols: ['http/1.1'] });
server.on('secureConnection', (socket) => {
  let text = '';
  let queue = Promise.resolve();
  socket.setNoDelay(true);
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    // Only GET is asked for: a request is its headers.
    text += chunk.toString('latin1');
    for (let end = text.indexOf('\r\n\r\n'); end >= 0; end = text.indexOf('\r\n\r\n')) {
      const [, target] = text.split(' ', 2);
      text = text.slice(end + 4);
      queue = queue.then(() => send(socket, answerTo(target)));
    }
  });
});
server.listen(0, '127.0.0.1', () => {
  const size = (blocks) => blocks.reduce((sum, block) => sum + block.length, 0);
  process.send({
    port: server.address().port,
    podBytes: answers.bytes / pods,
    listBytes: size(answers.plain),
    gzipBytes: size(answers.gzip),
  });
});
process.on('disconnect', () => process.exit(0));
