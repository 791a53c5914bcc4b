/**
 * An operator as a separate process, to be killed, paused and cut off: each Widget gets one ConfigMap and a status. Its
 * replica's name is in the user agent, so that the server's audit log shows the writer of each write.
 */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { control } from 'riata/controller';
import { ConfigMap } from 'riata/kinds';
import { Manager, signalHandler } from 'riata/manager';
import { configFromKubeconfig } from 'riata/rest';
import { consoleLogger } from 'riata/runtime';
import { lostLeaseCode, upLine } from './operator-signs.js';
import { Widget } from './widget-kind.js';

const { WIDGET_KUBECONFIG = '', WIDGET_REPLICA = '', WIDGET_NAMESPACE = '', WIDGET_LOG_LEVEL = 'warn' } = process.env;
/** Nothing is lost or given up, however slow the machine is; and there is time between two writes. */
const isPatient = process.env.WIDGET_PATIENT === 'yes';
const lease = {
  namespace: WIDGET_NAMESPACE,
  name: 'widgets',
  identity: WIDGET_REPLICA,
  leaseDuration: isPatient ? '5m' : '4s',
  renewDeadline: isPatient ? '4m' : '3s',
  retryPeriod: '500ms',
} as const;

const widgets = control(Widget, {
  sharded: true,
  concurrency: 10,
  timeout: isPatient ? '5m' : '30s',
  drain: isPatient ? '2m' : '2s',
})
  .owns(ConfigMap)
  .reconcile(async ({ object: widget, apply, status, clock }) => {
    const { size } = widget.spec;
    await apply(ConfigMap({ metadata: { name: widget.metadata.name }, data: { size: String(size) } }));
    // Not all at the same pace: at any time some are between their writes.
    if (isPatient) await clock.sleep(20 + (size % 10) * 15);
    await status({ size });
  });

const config = await configFromKubeconfig(readFileSync(WIDGET_KUBECONFIG));
using signals = signalHandler();
// It can be stopped from here on, and not before: the test waits for this line.
process.stdout.write(`${upLine}\n`);
await using manager = await Manager.create({
  config: { ...config, userAgent: `widget-operator/${WIDGET_REPLICA}` },
  cache: { namespaces: [WIDGET_NAMESPACE], silence: isPatient ? '2m' : '5s' },
  ...(process.env.WIDGET_MODE === 'sharded' ? { sharding: lease } : { leaderElection: lease }),
  gracefulTimeout: isPatient ? '3m' : '5s',
  runtime: { log: consoleLogger({ level: WIDGET_LOG_LEVEL as 'warn' }) },
});
manager.add(widgets);
const exit = await manager.run({ signal: signals.signal });
// A replica that lost the lease has to start over.
if (exit.reason !== 'stopped') process.exitCode = exit.reason === 'lost-lease' ? lostLeaseCode : 1;
