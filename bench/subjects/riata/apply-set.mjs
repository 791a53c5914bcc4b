// apply-set.mjs <kubeconfig> <namespace> <user agent> live|cached <set.json>…: applies sets one after the other, and says
// when each began and ended, in µs, and what it took, as JSON in one line. `live` reads from the server, `cached` from
// caches of the kinds in the sets.
import { readFileSync } from 'node:fs';
import { Cache } from 'riata/cache';
import { createClient } from 'riata/client';
import { ConfigMap, Deployment, Secret, Service, ServiceAccount } from 'riata/kinds';
import { Apply } from 'riata/patterns';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger } from 'riata/runtime';

const [kubeconfig, namespace, userAgent, mode, ...files] = process.argv.slice(2);
const runtime = { log: silentLogger };
const kinds = [ConfigMap, Secret, Service, ServiceAccount, Deployment];
const nowUs = () => Math.round((performance.timeOrigin + performance.now()) * 1000);
const cpuMs = () => {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
};

const config = { ...(await configFromKubeconfig(readFileSync(kubeconfig))), userAgent };
await using client = createClient(config, { runtime });
const stop = new AbortController();
await using cache = new Cache(client, { runtime });
const options = { setId: `bench-${namespace}`, defaultNamespace: namespace, runtime };
if (mode === 'cached') {
  for (const kind of kinds) cache.use(kind, { namespaces: [namespace] });
  void cache.run({ signal: stop.signal });
  await cache.waitForCacheSync();
}
const applier = new Apply(client, mode === 'cached' ? { ...options, cache, lookup: 'given' } : options);
const steps = [];
for (const file of files) {
  const objects = JSON.parse(readFileSync(file, 'utf8'));
  const [from, before] = [nowUs(), cpuMs()];
  await applier.apply(objects);
  steps.push({ from, to: nowUs(), cpuMs: cpuMs() - before });
  // So that caches have seen what was written, and the audit log can tell the steps apart.
  await new Promise((resolve) => setTimeout(resolve, 500));
}
stop.abort();
process.stdout.write(`${JSON.stringify(steps)}\n`);
