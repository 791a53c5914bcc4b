import process from 'node:process';
import type { ControllerDefinition } from '../controller/define/controller-definition.js';
import { Shutdown } from '../runtime/stop-reasons.js';
import type { Timer } from '../runtime/time/clock.js';
import { systemClock } from '../runtime/time/system-clock.js';
import { endProcessLater } from './end-process-later.js';
import { type Addable, isAddable, Manager } from './manager.js';
import type { ManagerExit } from './manager-exit.js';
import type { ManagerOptions } from './manager-options.js';
import { definitionProblem } from './runnable.js';

const dayMs = 86_400_000;

/**
 * Aborts on SIGTERM and SIGINT; a second signal ends the process at once (`SetupSignalHandler`). Until then the process
 * is kept alive, though nothing else may do so: a server in the same process has no socket. Dispose to stop listening.
 */
export function signalHandler(): { readonly signal: AbortSignal } & Disposable {
  const stop = new AbortController();
  const stayAlive = () =>
    systemClock.after(dayMs, () => {
      alive = stayAlive();
    });
  let alive = stayAlive();
  const onSignal = (name: NodeJS.Signals) => {
    // 128 and the number of the signal, as shells have it.
    if (stop.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
    alive.cancel();
    stop.abort(new Shutdown(`received ${name}`));
  };
  process.on('SIGTERM', onSignal);
  process.on('SIGINT', onSignal);
  return {
    signal: stop.signal,
    [Symbol.dispose]() {
      alive.cancel();
      process.off('SIGTERM', onSignal);
      process.off('SIGINT', onSignal);
    },
  };
}

/** Set when a run has ended but the process may keep running; another run cancels it. */
let ending: Timer | undefined;

/**
 * Runs controllers and webhooks until SIGTERM or SIGINT, with the config that `loadConfig` finds; the short form of a
 * `Manager`. Options may come last. If it ends for another reason than a signal, it sets the exit code of the process. Then,
 * or if a runnable did not end in time, the process exits after ten seconds, whatever keeps it alive: it leads nothing,
 * answers no probes, and has to be restarted. Use a `Manager` if you need anything else.
 *
 * @example
 * await run(foos, buckets);
 */
export async function run(...args: readonly (ControllerDefinition | Addable | ManagerOptions)[]): Promise<ManagerExit> {
  for (const arg of args) {
    const problem = Array.isArray(arg) ? 'got an array: spread it, run(...controllers)' : definitionProblem(arg);
    if (problem !== undefined) throw new TypeError(`run: ${problem}`);
  }
  const isDefinition = (arg: object): arg is ControllerDefinition | Addable => 'reconciler' in arg || isAddable(arg);
  const definitions = args.filter(isDefinition);
  const [options = {}, ...more] = args.filter((arg): arg is ManagerOptions => !isDefinition(arg));
  if (definitions.length === 0)
    throw new TypeError('run: give at least one controller, e.g. run(control(Foo).reconcile(…))');
  if (more.length > 0) throw new TypeError('run: give options once, last');
  ending?.cancel();
  using signals = signalHandler();
  await using manager = await Manager.create(options);
  for (const definition of definitions) manager.add(definition);
  const exit = await manager.run({ signal: signals.signal });
  if (exit.reason !== 'stopped') process.exitCode = 1;
  if (exit.reason !== 'stopped' || exit.unfinished.length > 0)
    ending = endProcessLater(manager.runtime, exit.unfinished);
  return exit;
}
