import { Manager, type RestConfig, silentLogger, systemClock } from 'riata';
import { Controllers } from 'riata/patterns';
import { SharedControllerFactory } from 'riata/shared';
import { runApps } from '../app-platform/main.js';
import { foos } from '../sample-controller/main.js';
import { namespace } from './place.js';

/** The demo's operator: both examples in one manager, limited to the demo's namespace, with its `/debug` pages. */
export async function startOperator(config: RestConfig) {
  const manager = await Manager.create({
    config,
    cache: { namespaces: [namespace] },
    metrics: { host: '127.0.0.1', port: 0, debug: true },
    runtime: { log: silentLogger },
  });
  manager.add(foos);
  const controllers = new Controllers(SharedControllerFactory.fromManager(manager, { everywhere: true }));
  const stop = new AbortController();
  runApps(controllers, stop);
  manager.add(controllers);
  const running = manager.run(stop);
  // A manager that fails at the start ends, and never listens.
  let hasEnded = false;
  void running.then(() => {
    hasEnded = true;
  });
  while (manager.urls.metrics === undefined && !hasEnded) await systemClock.sleep(10);
  return {
    /** Where `riata top --url` finds it. */
    url: manager.urls.metrics ?? '',
    explain: () => [...manager.explain, ...controllers.factory.explain],
    async [Symbol.asyncDispose]() {
      stop.abort();
      await running;
      await controllers[Symbol.asyncDispose]();
      await manager[Symbol.asyncDispose]();
    },
  };
}
