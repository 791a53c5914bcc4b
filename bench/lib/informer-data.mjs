// informer-data.mjs <folder> <pods> <events> <resourceVersion of the list>: writes what the scripted server sends, ready
// to send. Lists and watches are framed as HTTP chunks, one for each object, as kube-apiserver streams them.
//   list.json     a PodList                      pages.json  offsets in it, of every 500th item
//   added.json    ADDED events                   added.ndjson     Pods, for what encodes them otherwise
//   modified.json MODIFIED events                modified.ndjson
//   bookmark.json where a streamed list ends
import { closeSync, openSync, writeFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { workloadPod } from '../micro/workload-pods.mjs';

const [folder, pods, events, resourceVersion] = process.argv.slice(2);
const REPLICAS = 5;
const count = Number(pods);
const BLOCK = 1 << 20;

/** A file that is written in blocks. */
class Output {
  size = 0;
  #file;
  #pieces = [];
  #held = 0;

  constructor(name) {
    this.#file = openSync(join(folder, name), 'w');
  }

  write(bytes) {
    this.#pieces.push(bytes);
    this.#held += bytes.length;
    this.size += bytes.length;
    if (this.#held >= BLOCK) this.#flush();
  }

  chunk(text) {
    const bytes = Buffer.from(text);
    this.write(Buffer.concat([Buffer.from(`${bytes.length.toString(16)}\r\n`), bytes, Buffer.from('\r\n')]));
  }

  close() {
    this.#flush();
    closeSync(this.#file);
  }

  #flush() {
    for (let bytes = Buffer.concat(this.#pieces); bytes.length > 0; )
      bytes = bytes.subarray(writeSync(this.#file, bytes));
    this.#pieces = [];
    this.#held = 0;
  }
}

const typed = (pod) => JSON.stringify({ kind: 'Pod', apiVersion: 'v1', ...pod });

function writeEvents(name, type, podsOfThem) {
  const stream = new Output(`${name}.json`);
  const lines = new Output(`${name}.ndjson`);
  for (const pod of podsOfThem) {
    const text = typed(pod);
    stream.chunk(`{"type":"${type}","object":${text}}\n`);
    lines.write(Buffer.from(`${text}\n`));
  }
  stream.close();
  lines.close();
}

// As the server keeps them: by namespace and name.
const order = Array.from({ length: count }, (_, i) => {
  const { namespace, name } = workloadPod(i, REPLICAS, 0).metadata;
  return { i, key: `${namespace}/${name}` };
}).sort((a, b) => (a.key < b.key ? -1 : 1));

let bytes = 0;
const list = new Output('list.json');
const pages = [];
order.forEach(({ i }, at) => {
  if (at % 500 === 0) pages.push(list.size);
  const text = JSON.stringify(workloadPod(i, REPLICAS, 0));
  bytes += text.length;
  list.chunk(`${at % 500 === 0 ? '' : ','}${text}`);
});
pages.push(list.size);
list.close();
writeFileSync(join(folder, 'pages.json'), JSON.stringify({ pages, podBytes: bytes / count }));

function* added() {
  for (const { i } of order) yield workloadPod(i, REPLICAS, 0);
}
function* modified() {
  for (let n = 0; n < Number(events); n++) {
    const version = 1 + Math.floor(n / count);
    const pod = workloadPod((n * 7) % count, REPLICAS, version);
    pod.metadata.resourceVersion = String(Number(resourceVersion) + 1 + n);
    const ready = pod.status.conditions[2];
    ready.lastTransitionTime = `2026-12-0${(version % 9) + 1}T10:00:00Z`;
    ready.status = version % 2 === 0 ? 'True' : 'False';
    yield pod;
  }
}
writeEvents('added', 'ADDED', added());
writeEvents('modified', 'MODIFIED', modified());
const bookmark = new Output('bookmark.json');
const metadata = { resourceVersion, creationTimestamp: null, annotations: { 'k8s.io/initial-events-end': 'true' } };
const nothing = { kind: 'Pod', apiVersion: 'v1', metadata, spec: { containers: null }, status: {} };
bookmark.chunk(`${JSON.stringify({ type: 'BOOKMARK', object: nothing })}\n`);
bookmark.close();
