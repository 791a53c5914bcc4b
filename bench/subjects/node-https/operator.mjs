// operator.mjs <kubeconfig> <namespace> <user agent> ready: what an operator of Widgets sends and receives, over Node's own
// https, and nothing else: two watches, whose events are parsed, and for each Widget that comes an apply of its ConfigMap
// and one of its status, ten Widgets at a time. It caches, compares, retries and elects nothing.
import { readFileSync } from 'node:fs';
import { Agent, request } from 'node:https';

const [kubeconfig, namespace, userAgent] = process.argv.slice(2);
const config = readFileSync(kubeconfig, 'utf8');
const field = (name) => new RegExp(`\\b${name}: (\\S+)`).exec(config)[1];
const { hostname: host, port } = new URL(field('server'));
const ca = Buffer.from(field('certificate-authority-data'), 'base64');
const agent = new Agent({ keepAlive: true, ca });
const headers = { authorization: `Bearer ${field('token')}`, 'user-agent': userAgent };

const widgets = `/apis/bench.riata.dev/v1/namespaces/${namespace}/widgets`;
const configMaps = `/api/v1/namespaces/${namespace}/configmaps`;
const waiting = [];
const idle = [];

function apply(path, object) {
  const options = { host, port, agent, method: 'PATCH', path: `${path}?fieldManager=widgets&force=true` };
  const type = { 'content-type': 'application/apply-patch+yaml' };
  return new Promise((resolve, reject) => {
    const sent = request({ ...options, headers: { ...headers, ...type } }, (answer) => {
      let text = '';
      answer.setEncoding('utf8');
      answer.on('data', (chunk) => {
        text += chunk;
      });
      answer.on('end', () => {
        if (answer.statusCode < 300) resolve(JSON.parse(text));
        else reject(new Error(`${path}: ${answer.statusCode} ${text}`));
      });
    });
    sent.on('error', reject);
    sent.end(JSON.stringify(object));
  });
}

function watch(path, onEvent) {
  const sent = request({ host, port, ca, agent: new Agent(), path: `${path}?watch=1`, headers }, (answer) => {
    let rest = '';
    answer.setEncoding('utf8');
    answer.on('data', (chunk) => {
      const lines = (rest + chunk).split('\n');
      rest = lines.pop();
      for (const line of lines) onEvent(JSON.parse(line));
    });
  });
  sent.end();
}

async function work() {
  for (;;) {
    const { metadata, spec } = waiting.shift() ?? (await new Promise((resolve) => idle.push(resolve)));
    const { name, uid, generation } = metadata;
    const place = { name, namespace };
    const owner = { apiVersion: 'bench.riata.dev/v1', kind: 'Widget', name, uid, controller: true };
    await apply(`${configMaps}/${name}`, {
      ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: { ...place, ownerReferences: [owner] } },
      data: { size: String(spec.size) },
    });
    const ready = { type: 'Ready', status: 'True', reason: 'Reconciled', message: '' };
    const conditions = [{ ...ready, lastTransitionTime: new Date().toISOString().replace(/\.\d+/, '') }];
    await apply(`${widgets}/${name}/status`, {
      ...{ apiVersion: 'bench.riata.dev/v1', kind: 'Widget', metadata: place },
      status: { size: spec.size, observedGeneration: generation, conditions },
    });
  }
}

watch(configMaps, () => {});
watch(widgets, ({ type, object }) => {
  if (type !== 'ADDED') return;
  const next = idle.shift();
  if (next) next(object);
  else waiting.push(object);
});
for (let at = 0; at < 10; at++) void work();
process.on('SIGTERM', () => process.exit(0));
