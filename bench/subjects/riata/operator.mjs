// operator.mjs <kubeconfig> <namespace> <user agent> ready|latency|idle: a controller of Widgets. `ready` gives each a
// ConfigMap and a status. `latency` writes nothing and says, when it is told to stop, how long after spec.at each reconcile
// has begun, in µs, as JSON in one line. `idle` watches fifty kinds and does nothing.
import { readFileSync } from 'node:fs';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager, signalHandler } from 'riata/manager';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger } from 'riata/runtime';
import { idleKinds, Widget } from './widget-kind.mjs';

const [kubeconfig, namespace, userAgent, mode] = process.argv.slice(2);
const latencies = [];

const definitions = {
  ready: () => [
    control(Widget, { concurrency: 10 })
      .owns(ConfigMap)
      .reconcile(async ({ object: { metadata, spec }, apply, status }) => {
        await apply(ConfigMap({ metadata: { name: metadata.name }, data: { size: String(spec.size) } }));
        await status({ size: spec.size });
      }),
  ],
  latency: () => [
    control(Widget, { concurrency: 10 }).reconcile(({ object }) => {
      const now = (performance.timeOrigin + performance.now()) * 1000;
      if (object.spec.at > 0) latencies.push(Math.round(now - object.spec.at));
    }),
  ],
  idle: () => idleKinds().map((kind) => control(kind).reconcile(() => {})),
};

using signals = signalHandler();
await using manager = await Manager.create({
  config: { ...(await configFromKubeconfig(readFileSync(kubeconfig))), userAgent },
  cache: { namespaces: [namespace] },
  leaderElection: { namespace, name: 'widgets' },
  runtime: { log: silentLogger },
});
for (const definition of definitions[mode]()) manager.add(definition);
const exit = await manager.run({ signal: signals.signal });
if (exit.reason !== 'stopped') throw new Error(`the manager has ended: ${exit.reason}`, { cause: exit.error });
process.stdout.write(`${JSON.stringify(latencies)}\n`);
