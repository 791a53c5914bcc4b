// paced-server.mjs <objects> <events a second>: an API server with so many ConfigMaps, of which so many change each second.
// It prints its URL as its first line, and ends with its parent. Writes get an answer and change nothing.
import { createServer } from 'node:http';

const [objects, rate] = process.argv.slice(2).map(Number);
const turnMs = 20;
let version = objects;

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

/** Sends all objects, then changes until the caller goes. */
async function watch(response, isInitial) {
  if (isInitial) {
    for (let at = 0; at < objects; at += 500) {
      let text = '';
      for (let next = at; next < Math.min(objects, at + 500); next++) text += line('ADDED', configMap(next));
      if (!response.write(text)) await new Promise((resolve) => response.once('drain', resolve));
    }
    const annotations = { 'k8s.io/initial-events-end': 'true' };
    const metadata = { resourceVersion: String(version), annotations };
    response.write(line('BOOKMARK', { apiVersion: 'v1', kind: 'ConfigMap', metadata }));
  }
  let sent = 0;
  const from = performance.now();
  const timer = setInterval(() => {
    const due = Math.floor(((performance.now() - from) / 1000) * rate);
    let text = '';
    for (; sent < due; sent++) text += line('MODIFIED', configMap(sent % objects, ++version));
    if (text !== '') response.write(text);
  }, turnMs);
  response.once('close', () => clearInterval(timer));
}

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
  response.writeHead(200, { 'content-type': 'application/json' });
  response.end(JSON.stringify(answer(request, body)));
});
server.listen(0, '127.0.0.1', () => console.log(`http://127.0.0.1:${server.address().port}`));
process.stdin.resume().on('end', () => process.exit());
