// What objects take in a server in this process: heap and RSS before and after, collected.
import { ApiServer } from '@riata/apiserver';
import { deployment } from '../../lib/api-objects.mjs';
import { peakMb, report, rssMb } from '../probe.mjs';

const count = Number(process.argv[2]);
const server = await ApiServer.start();
const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };

function ask(method, path, body) {
  return new Promise((resolve, reject) => {
    let bytes = 0;
    const onHeaders = (status) => status < 300 || reject(new Error(`${method} ${path}: ${status}`));
    const onData = (chunk) => {
      bytes += chunk.length;
    };
    server.transport.dispatch(
      { method, path, headers, body: body && JSON.stringify(body) },
      { onHeaders, onData, onEnd: () => resolve(bytes), onError: reject },
    );
  });
}

function held() {
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return { heap: heapUsed, outside: external, rss: rssMb() };
}

await ask('POST', '/apis/apps/v1/namespaces/default/deployments', deployment(count));
const before = held();
let jsonBytes = 0;
for (let i = 0; i < count; i++) {
  jsonBytes += await ask('POST', '/apis/apps/v1/namespaces/default/deployments', deployment(i));
}
const after = held();
await ask('GET', '/apis/apps/v1/deployments');
const listed = held();
const each = (from, to) => ({ heap: (to.heap - from.heap) / count, outside: (to.outside - from.outside) / count });
report({
  jsonBytes: jsonBytes / count,
  idleMb: before.rss,
  heapBytes: each(before, after).heap,
  outsideBytes: each(before, after).outside,
  rssBytes: ((after.rss - before.rss) * 2 ** 20) / count,
  listedBytes: each(before, listed).heap + each(before, listed).outside,
  peakMb: peakMb(),
});
