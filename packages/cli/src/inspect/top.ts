import type { Readable, Writable } from 'node:stream';
import { isAbortOf } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { EndpointOptions } from './endpoint-options.js';
import { type FollowedOperator, followOperator } from './follow-operator.js';
import { openEndpoints } from './open-endpoints.js';
import { topFrame } from './top-model.js';
import { Screen } from './view/screen.js';
import { painter } from './view/text.js';
import { topLines } from './view/top-lines.js';

/** Options of {@link top}. */
export interface TopOptions extends EndpointOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

const everyMs = 1_000;
const hint = 'q quits · ↑ ↓ choose a controller';

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
  } else if (terminal !== undefined) await live(io, terminal, { name, followed });
}

async function live(
  io: CommandIo,
  terminal: { readonly input: Readable; readonly output: Writable; readonly columns: number },
  { name, followed }: { readonly name: string; readonly followed: FollowedOperator },
): Promise<void> {
  const { input, output } = terminal;
  const quit = new AbortController();
  const stop = AbortSignal.any([io.signal, quit.signal]);
  let selected: string | undefined;
  using screen = new Screen((text) => void output.write(text));
  const draw = () => {
    const { columns = terminal.columns, rows = 24 } = output as Partial<{ columns: number; rows: number }>;
    // The operator may be restarting: what is known stays until it answers.
    const last = followed.trouble() ?? hint;
    const shown = { columns, rows, paint: painter(io.env.NO_COLOR === undefined), hint: last };
    screen.show(topLines(topFrame(name, followed.replicas), { ...shown, ...(selected !== undefined && { selected }) }));
  };
  const onKey = (key: Buffer | string) => {
    const pressed = key.toString();
    if (pressed === 'q' || pressed === '\x03') quit.abort();
    else if (pressed === '\x1b[A' || pressed === '\x1b[B') {
      selected = neighbour(
        [undefined, ...topFrame(name, followed.replicas).controllers.map((each) => each.name)],
        selected,
        pressed === '\x1b[A' ? -1 : 1,
      );
      draw();
    }
  };
  using _keys = rawKeys(input, onKey);
  try {
    for (;;) {
      draw();
      await io.runtime.clock.sleep(everyMs, { signal: stop });
    }
  } catch (error) {
    if (!quit.signal.aborted && !isAbortOf(stop, error)) throw error;
    io.signal.throwIfAborted();
  }
}

function neighbour<T>(all: readonly T[], current: T, by: number): T {
  const at = all.indexOf(current);
  return all[Math.min(all.length - 1, Math.max(0, at + by))] as T;
}

/** Hands keys over as they are pressed; the terminal is as before when this is disposed. */
function rawKeys(input: Readable, onKey: (key: Buffer | string) => void): Disposable {
  const tty = input as Readable & { setRawMode?: (raw: boolean) => void };
  tty.setRawMode?.(true);
  input.on('data', onKey).resume();
  return {
    [Symbol.dispose]() {
      input.off('data', onKey).pause();
      tty.setRawMode?.(false);
    },
  };
}
