import type { Readable, Writable } from 'node:stream';
import type { ReconcileRecord } from 'riata/controller';
import { isAbortOf } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import type { EndpointOptions } from './endpoint-options.js';
import { type OperatorEndpoints, openEndpoints } from './open-endpoints.js';
import type { OperatorEndpoint } from './operator-endpoint.js';
import { readOperatorState, readReconciles } from './operator-state.js';
import { type ReplicaSample, type TopFrame, TopModel } from './top-model.js';
import { Screen } from './view/screen.js';
import { painter } from './view/text.js';
import { topLines } from './view/top-lines.js';

/** Options of {@link top}. */
export interface TopOptions extends EndpointOptions {
  readonly once?: boolean;
  readonly json?: boolean;
}

const everyMs = 1_000;
/** Records are asked for from so long before the last time on, as clocks and answers overlap. */
const overlapMs = 2_000;
const hint = 'q quits · ↑ ↓ choose a controller';

/** Shows what a running operator does: once, or until `q` or Ctrl-C. */
export async function top(io: CommandIo, options: TopOptions): Promise<void> {
  const { terminal } = io;
  const isOnce = options.once === true || options.json === true;
  if (!isOnce && terminal === undefined) {
    throw new CommandError('riata top needs a terminal; print one frame with --once, or as JSON with --json');
  }
  await using endpoints = await openEndpoints(io, options);
  const read = frameReader(endpoints);
  if (options.json) io.out(JSON.stringify(await read(), undefined, 2));
  else if (isOnce) {
    const layout = { columns: terminal?.columns ?? 80, rows: 60, paint: painter(io.colors) };
    for (const line of topLines(await read(), layout)) io.out(line);
  } else if (terminal !== undefined) await live(io, terminal, read);
}

function frameReader({ name, all }: OperatorEndpoints): () => Promise<TopFrame> {
  const model = new TopModel(name);
  const lastMs = new Map<OperatorEndpoint, number>();
  return async () => {
    const samples = await Promise.all(
      all.map(async (endpoint): Promise<ReplicaSample> => {
        const since = lastMs.get(endpoint);
        const [state, records] = await Promise.all([
          readOperatorState(endpoint),
          readReconciles(endpoint, since === undefined ? undefined : since - overlapMs) as Promise<ReconcileRecord[]>,
        ]);
        lastMs.set(endpoint, state.process.now);
        return { state, records };
      }),
    );
    return model.update(samples);
  };
}

async function live(
  io: CommandIo,
  terminal: { readonly input: Readable; readonly output: Writable; readonly columns: number },
  read: () => Promise<TopFrame>,
): Promise<void> {
  const { input, output } = terminal;
  const quit = new AbortController();
  const stop = AbortSignal.any([io.signal, quit.signal]);
  let selected: string | undefined;
  let frame = await read();
  let trouble: string | undefined;
  using screen = new Screen((text) => void output.write(text));
  const draw = () => {
    const { columns = terminal.columns, rows = 24 } = output as Partial<{ columns: number; rows: number }>;
    const shown = { columns, rows, paint: painter(io.env.NO_COLOR === undefined), hint: trouble ?? hint };
    screen.show(topLines(frame, { ...shown, ...(selected !== undefined && { selected }) }));
  };
  const onKey = (key: Buffer | string) => {
    const pressed = key.toString();
    if (pressed === 'q' || pressed === '\x03') quit.abort();
    else if (pressed === '\x1b[A' || pressed === '\x1b[B') {
      selected = neighbour(
        [undefined, ...frame.controllers.map(({ name }) => name)],
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
      try {
        frame = await read();
        trouble = undefined;
      } catch (error) {
        if (stop.aborted) throw error;
        // The operator may be restarting: the last frame stays until it answers.
        trouble = (error as Error).message;
      }
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
