/** Migrates the stored objects of a kind, as a process that can be killed. Logs how far it is. */
import { readFileSync } from 'node:fs';
import process from 'node:process';
import { Manager, signalHandler } from 'riata/manager';
import { configFromKubeconfig } from 'riata/rest';
import { consoleLogger } from 'riata/runtime';
import { migration } from 'riata/webhook';
import { Site } from './site-kind.js';

const { MIGRATOR_KUBECONFIG = '' } = process.env;
using signals = signalHandler();
const config = await configFromKubeconfig(readFileSync(MIGRATOR_KUBECONFIG));
await using manager = await Manager.create({ config, runtime: { log: consoleLogger({ level: 'info' }) } });
manager.add(migration(Site, { pace: '1000/s', grace: '1s' }));
const exit = await manager.run({ signal: signals.signal });
if (exit.reason !== 'stopped') process.exitCode = 1;
