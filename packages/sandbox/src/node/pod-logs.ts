import { Buffer } from 'node:buffer';
import type { LogRequest } from '@riata/apiserver';
import type { Pod } from 'riata/kinds';
import { type Clock, onAbort } from 'riata/runtime';

interface Line {
  readonly at: number;
  readonly text: string;
}

interface Log {
  /** The restart that the lines are of. */
  restarts: number;
  lines: Line[];
  previous: Line[];
  isOver: boolean;
  readonly listeners: Set<() => void>;
}

/** The logs of containers that run nothing: what tests write. A restart begins another log. */
export class PodLogs {
  readonly #clock: Clock;
  readonly #logs = new Map<string, Map<string, Log>>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** Adds lines; a line break at the end adds no empty one. */
  write(pod: Pod, container: string, text: string): void {
    const log = this.#logOf(pod, container);
    const at = this.#clock.now();
    for (const line of text.replace(/\n$/, '').split('\n')) log.lines.push({ at, text: line });
    notify(log);
  }

  /** What a client asks for. A followed log ends with its Pod. */
  async *read(pod: Pod, request: LogRequest): AsyncGenerator<Uint8Array> {
    const { follow, signal, previous, limitBytes = Number.POSITIVE_INFINITY } = request;
    const log = this.#logOf(pod, request.container);
    const lines = previous ? log.previous : log.lines;
    let next = this.#firstOf(lines, request);
    let left = limitBytes;
    let wake = () => {};
    const listener = () => wake();
    log.listeners.add(listener);
    using _ = onAbort(signal, listener);
    try {
      while (!signal.aborted) {
        for (; next < lines.length && left > 0; next++) {
          const bytes = encode(lines[next] as Line, request).subarray(0, left);
          left -= bytes.length;
          yield bytes;
        }
        // After a restart the lines are those of another run.
        if (!follow || previous || left <= 0 || log.isOver || log.lines !== lines) return;
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    } finally {
      log.listeners.delete(listener);
    }
  }

  /** Called with each state of a Pod: a restart begins another log, the end of the Pod ends it. */
  observe(pod: Pod): void {
    const restarts = restartsOf(pod);
    for (const [container, log] of this.#logs.get(pod.metadata.uid ?? '') ?? []) {
      const now = restarts.get(container) ?? 0;
      const isOver = pod.status.phase === 'Succeeded' || pod.status.phase === 'Failed';
      if (now === log.restarts && isOver === log.isOver) continue;
      if (now !== log.restarts) Object.assign(log, { restarts: now, previous: log.lines, lines: [] });
      log.isOver = isOver;
      notify(log);
    }
  }

  /** Forgets a Pod that was deleted. */
  remove(uid: string): void {
    for (const log of this.#logs.get(uid)?.values() ?? []) {
      log.isOver = true;
      notify(log);
    }
    this.#logs.delete(uid);
  }

  #firstOf(lines: readonly Line[], { tailLines, sinceMs, sinceSeconds }: LogRequest): number {
    const since = sinceSeconds === undefined ? (sinceMs ?? 0) : this.#clock.now() - sinceSeconds * 1000;
    const from = lines.findIndex(({ at }) => at >= since);
    const first = from < 0 ? lines.length : from;
    return tailLines === undefined ? first : Math.max(first, lines.length - tailLines);
  }

  #logOf(pod: Pod, container: string): Log {
    const uid = pod.metadata.uid ?? '';
    const logs = this.#logs.get(uid) ?? new Map<string, Log>();
    this.#logs.set(uid, logs);
    const log = logs.get(container) ?? {
      ...{ restarts: restartsOf(pod).get(container) ?? 0, lines: [], previous: [] },
      ...{ isOver: false, listeners: new Set<() => void>() },
    };
    logs.set(container, log);
    return log;
  }
}

function notify({ listeners }: Log): void {
  for (const listener of [...listeners]) listener();
}

function restartsOf(pod: Pod): ReadonlyMap<string, number> {
  return new Map((pod.status.containerStatuses ?? []).map(({ name, restartCount }) => [name, restartCount]));
}

function encode({ at, text }: Line, { timestamps }: LogRequest): Buffer {
  return Buffer.from(timestamps ? `${new Date(at).toISOString().replace('Z', '000000Z')} ${text}\n` : `${text}\n`);
}
