import type { Readable, Writable } from 'node:stream';
import { isAbortOf, type Scheduler } from 'riata/runtime';
import type { FollowedOperator } from '../follow-operator.js';
import { topFrame } from '../top-model.js';
import { Screen } from './screen.js';
import { painter } from './text.js';
import { type TopSurroundings, topLines } from './top-lines.js';

/** What {@link showLive} shows, and where. */
export interface LiveView {
  /** In the first line. */
  readonly name: string;
  readonly followed: FollowedOperator;
  readonly terminal: { readonly input: Readable; readonly output: Writable; readonly columns: number };
  readonly colors: boolean;
  readonly clock: Pick<Scheduler, 'sleep'>;
  readonly signal: AbortSignal;
  /** What a program shows beside its operator, asked for with each frame. @default nothing */
  readonly surroundings?: () => TopSurroundings;
}

const everyMs = 1_000;
const hint = 'q quits · ↑ ↓ choose a controller';

/** Shows on the whole terminal what an operator does, once a second, until `q` or Ctrl-C, or until the signal aborts. */
export async function showLive(view: LiveView): Promise<void> {
  const { name, followed, terminal, clock, signal, surroundings } = view;
  const { input, output } = terminal;
  const quit = new AbortController();
  const stop = AbortSignal.any([signal, quit.signal]);
  const paint = painter(view.colors);
  let selected: string | undefined;
  using screen = new Screen((text) => void output.write(text));
  const draw = () => {
    const { columns = terminal.columns, rows = 24 } = output as Partial<{ columns: number; rows: number }>;
    const { hints = [], ...around } = surroundings?.() ?? {};
    // The operator may be restarting: what is known stays until it answers.
    const shown = { ...around, columns, rows, paint, hints: [...hints, followed.trouble() ?? hint] };
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
      await clock.sleep(everyMs, { signal: stop });
    }
  } catch (error) {
    if (!quit.signal.aborted && !isAbortOf(stop, error)) throw error;
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
