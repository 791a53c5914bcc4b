import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { EndpointOptions } from './endpoint-options.js';
import { followOperator } from './follow-operator.js';
import { openEndpoints } from './open-endpoints.js';
import { topFrame } from './top-model.js';
import { showLive } from './view/live-view.js';
import { painter } from './view/text.js';
import { topLines } from './view/top-lines.js';

/** Options of {@link top}. */
export interface TopOptions extends EndpointOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

/** Shows what a running operator does: once, or until `q` or Ctrl-C. */
export async function top(io: CommandIo, options: TopOptions): Promise<void> {
  const { terminal } = io;
  const isOnce = options.once === true || options.json === true;
  if (!isOnce && terminal === undefined) {
    throw new CommandError('riata top needs a terminal; print one frame with --once, or as JSON with --json');
  }
  await using endpoints = await openEndpoints(io, options);
  await using followed = await followOperator(endpoints, { clock: io.runtime.clock, signal: io.signal });
  const { name } = endpoints;
  if (options.json) io.out(JSON.stringify(topFrame(name, followed.replicas), undefined, 2));
  else if (isOnce) {
    const layout = { columns: terminal?.columns ?? 80, rows: 60, paint: painter(io.colors) };
    for (const line of topLines(topFrame(name, followed.replicas), layout)) io.out(line);
  } else if (terminal !== undefined) {
    const { runtime, signal } = io;
    const colors = io.env.NO_COLOR === undefined;
    await showLive({ name, followed, terminal, colors, clock: runtime.clock, signal });
    signal.throwIfAborted();
  }
}
