// One write and many watchers, all in this process.
import { performance } from 'node:perf_hooks';
import { ApiServer } from '@riata/apiserver';
import { cpuMs, report } from '../probe.mjs';

const watchers = Number(process.argv[2]);
const writes = 100;
const base = '/api/v1/namespaces/default/configmaps';
const server = await ApiServer.start();
const headers = { authorization: `Bearer ${server.token}`, 'content-type': 'application/json' };

const object = (step) =>
  JSON.stringify({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name: 'x' }, data: { step: String(step) } });

/** @returns {Promise<void>} when the answer is complete, or, with `onData`, when its head is there */
function ask(method, path, body, onData) {
  return new Promise((resolve, reject) => {
    server.transport.dispatch(
      { method, path, headers, body },
      { onHeaders: () => onData && resolve(), onData: onData ?? (() => {}), onEnd: resolve, onError: reject },
    );
  });
}

await ask('POST', base, object(0));
let missing = 0;
let reported = () => {};
for (let i = 0; i < watchers; i++) {
  await ask('GET', `${base}?watch=1&resourceVersion=${100}`, undefined, () => --missing === 0 && reported());
}
const times = [];
const cpu = process.cpuUsage();
for (let step = 1; step <= writes; step++) {
  missing = watchers;
  const all = new Promise((resolve) => {
    reported = resolve;
  });
  const from = performance.now();
  await Promise.all([ask('PUT', `${base}/x`, object(step)), all]);
  times.push(performance.now() - from);
}
report({ ms: times.sort((a, b) => a - b)[writes >> 1], cpuUs: (cpuMs(cpu) * 1000) / writes / watchers });
