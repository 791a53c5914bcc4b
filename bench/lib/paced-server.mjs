// paced-server.mjs <objects> [events a second]: an API server with so many ConfigMaps, of which so many change each second.
// It prints its URL as its first line, and ends with its parent. Writes get an answer and change nothing.
//   POST /burst?count=N   changes N objects at once, each other one in turn
//   POST /pace?rate=N     from then on, N change each second
import { createServer } from 'node:http';

const [objects, startRate = 0] = process.argv.slice(2).map(Number);
const turnMs = 20;
let version = objects;
let next = 0;
let rate = startRate;
const watchers = new Set();

const nameOf = (at) => `config-${String(at).padStart(6, '0')}`;
const configMap = (at, resourceVersion = at + 1) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: {
    ...{ namespace: 'default', name: nameOf(at), uid: `00000000-0000-4000-8000-${String(at).padStart(12, '0')}` },
    ...{ resourceVersion: String(resourceVersion), creationTimestamp: '2026-01-01T00:00:00Z' },
    labels: { app: `app-${at % 100}` },
  },
  data: { version: String(resourceVersion), text: 'x'.repeat(200) },
});
const line = (type, object) => `${JSON.stringify({ type, object })}\n`;

function change(count) {
  let text = '';
  for (let done = 0; done < count; done++) text += line('MODIFIED', configMap(next++ % objects, ++version));
  if (text !== '') for (const response of watchers) response.write(text);
}

/** Sends all objects, then changes until the caller goes. */
async function watch(response, isInitial) {
  if (isInitial) {
    for (let at = 0; at < objects; at += 500) {
      let text = '';
      for (let each = at; each < Math.min(objects, at + 500); each++) text += line('ADDED', configMap(each));
      if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(version), annotations };
    response.write(line('BOOKMARK', { apiVersion: 'v1', kind: 'ConfigMap', metadata }));
  }
  watchers.add(response);
  response.once('close', () => watchers.delete(response));
}

let [sent, from] = [0, performance.now()];
setInterval(() => {
  const due = Math.floor(((performance.now() - from) / 1000) * rate);
  change(due - sent);
  sent = due;
}, turnMs);

function answer(request, body) {
  const { pathname } = new URL(request.url, 'http://localhost');
  const review = /(selfsubjectaccessreviews|subjectaccessreviews|tokenreviews)$/.exec(pathname);
  if (review) return { ...JSON.parse(body), status: { allowed: true } };
  const [, at] = /\/configmaps\/config-(\d+)$/.exec(pathname) ?? [];
  if (at !== undefined) return configMap(Number(at), version);
  const list = { apiVersion: 'v1', kind: 'List', metadata: { resourceVersion: String(version) }, items: [] };
  return request.method === 'GET' ? list : JSON.parse(body || '{}');
}

const server = createServer(async (request, response) => {
  const { pathname, searchParams } = new URL(request.url, 'http://localhost');
  if (pathname.endsWith('/configmaps') && searchParams.has('watch')) {
    response.writeHead(200, { 'content-type': 'application/json' });
    await watch(response, searchParams.get('sendInitialEvents') === 'true');
    return;
  }
  let body = '';
  for await (const part of request.setEncoding('utf8')) body += part;
  if (pathname === '/burst') change(Number(searchParams.get('count')));
  if (pathname === '/pace') [rate, sent, from] = [Number(searchParams.get('rate')), 0, performance.now()];
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer(request, body)));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit());
