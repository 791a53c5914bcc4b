// One replica, until SIGTERM or Ctrl-C: node tools/run-ts.mjs examples/sharded-fleet/run.ts NAMESPACE NAME
import { loadConfig, signalHandler } from 'riata';
import { replica } from './main.js';

const [namespace = 'default', identity = `pilot-${process.pid}`] = process.argv.slice(2);
using signals = signalHandler();
await using manager = replica(await loadConfig(), namespace, identity);
const exit = await manager.run(signals);
if (exit.reason !== 'stopped') process.exitCode = 1;
