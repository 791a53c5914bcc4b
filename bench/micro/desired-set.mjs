// How long applying a large desired set blocks the event loop of the client: first, unchanged, with 1 % changed, as a dry
// run, and pruned. The server is another process, so that only the client's turns count.
//   npm run apiserver -- --port 0 --kubeconfig FILE
//   npx node@24 bench/micro/desired-set.mjs FILE [--count=5000] [--cached]
import { readFileSync } from 'node:fs';
import { cpuMs, LoopProbe } from '../subjects/probe.mjs';
import { loadSource } from './bundle.mjs';

const [file, ...args] = process.argv.slice(2);
const options = Object.fromEntries(args.map((arg) => arg.replace(/^--/, '').split('=')));
const count = Number(options.count ?? 5000);
const { Apply, createClient, configFromKubeconfig, silentLogger, Cache, ConfigMap, Deployment } = await loadSource({
  'patterns/index.js': ['Apply'],
  'client/index.js': ['createClient'],
  'rest/index.js': ['configFromKubeconfig'],
  'runtime/index.js': ['silentLogger'],
  'cache/index.js': ['Cache'],
  'kinds/index.js': ['ConfigMap', 'Deployment'],
});

const runtime = { log: silentLogger };
await using client = createClient(await configFromKubeconfig(readFileSync(file)), { runtime });
const stop = new AbortController();
await using cache = new Cache(client, { runtime });
if ('cached' in options) {
  for (const kind of [ConfigMap, Deployment]) cache.use(kind);
  void cache.run({ signal: stop.signal });
  await cache.waitForCacheSync();
}

/** Half of it ConfigMaps of 2 KB, half Deployments; the version goes into 1 % of them. */
const set = (version) =>
  Array.from({ length: count }, (_, at) => {
    const metadata = { name: `member-${at}`, namespace: 'default', labels: { app: 'shop' } };
    const note = at % 100 === 0 ? String(version) : '0';
    if (at % 2 === 0) return ConfigMap({ metadata, data: { note, text: 'x'.repeat(2000) } });
    const labels = { app: `shop-${at}` };
    const containers = [{ name: 'shop', image: 'shop:1', ports: [{ containerPort: 8080, protocol: 'TCP' }] }];
    const template = { metadata: { labels }, spec: { containers } };
    return Deployment({ metadata, spec: { replicas: 1, selector: { matchLabels: labels }, template } });
  });
const held = 'cached' in options ? { cache, lookup: 'given' } : {};
const applier = new Apply(client, { setId: 'large', defaultNamespace: 'default', runtime, ...held });
const turn = () => new Promise((resolve) => setTimeout(resolve, 'cached' in options ? 1000 : 50));

async function measured(name, objects, work = (set) => applier.apply(set)) {
  await turn();
  const probe = new LoopProbe().start();
  const [from, cpuFrom] = [performance.now(), process.cpuUsage()];
  await work(objects);
  const [tookMs, cpu] = [performance.now() - from, cpuMs(cpuFrom)];
  await new Promise((resolve) => setTimeout(resolve, 5)); // so that the last turn counts
  const { blockMs, blockCpuMs } = probe.stop();
  const ofIt = blockCpuMs === undefined ? '' : `, of it CPU ${blockCpuMs.toFixed(0)} ms`;
  const took = `${(tookMs / 1000).toFixed(1)} s, CPU ${(cpu / 1000).toFixed(1)} s`;
  console.log(`${name}: ${took}, longest turn ${blockMs.toFixed(0)} ms${ofIt}`);
}

await applier.apply(set(0).slice(0, 10));
await measured('first', set(0));
await measured('unchanged', set(0));
await measured('1 % changed', set(1));
await measured('dry run', set(2), (objects) => applier.dryRun(objects));
await measured('pruned', []);
stop.abort();
