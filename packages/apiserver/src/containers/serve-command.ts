import { Buffer } from 'node:buffer';
import type { Status } from 'riata/object';
import { ByteChannel, describeError, type Scheduler, type WebSocketLink } from 'riata/runtime';
import type { ServerRequest } from '../http/server-request.js';
import { offeredWebSocket } from './accept-web-socket.js';
import type { ContainerIo, ProcessEnd } from './container-runtime.js';

const protocols = ['v5.channel.k8s.io', 'v4.channel.k8s.io'];
const channels = { stdin: 0, stdout: 1, stderr: 2, error: 3, resize: 4, close: 255 } as const;
const highWaterBytes = 256 * 1024;
const messageBytes = 32 * 1024;

/** Which streams of a process a client asks for (`PodExecOptions`). */
export interface CommandStreams {
  readonly container: string;
  readonly stdin: boolean;
  readonly stdout: boolean;
  readonly stderr: boolean;
  readonly tty: boolean;
}

export interface ServedCommand {
  readonly request: ServerRequest;
  /** Called when the connection has left HTTP. */
  readonly onSwitch: () => void;
  readonly streams: CommandStreams;
  readonly clock: Scheduler;
  readonly process: (io: ContainerIo) => ProcessEnd;
}

/**
 * Serves exec or attach over a WebSocket (`remotecommand.ServeExec`): runs `process`, then reports its end as a Status
 * and closes. Resolves when that is done. Throws before anything is sent if the client asks for another protocol.
 */
export async function serveCommand({ request, onSwitch, streams, clock, process }: ServedCommand): Promise<void> {
  const offered = offeredWebSocket(request, protocols, clock);
  const gone = new AbortController();
  const stdin = new ByteChannel(highWaterBytes, () => (stdin.isFull ? link.pause() : link.resume()));
  const sizes = new SizeQueue();
  let waiting: (() => void)[] = [];
  const release = () => {
    const resolved = waiting;
    waiting = [];
    for (const resolve of resolved) resolve();
  };
  let channel = -1;
  let resize = '';
  const link: WebSocketLink = offered.accept({
    onPiece: (piece, { first, last }) => {
      if (first) channel = piece[0] ?? -1;
      const bytes = first ? piece.subarray(1) : piece;
      if (channel === channels.stdin) stdin.push(Uint8Array.from(bytes));
      else if (channel === channels.close && offered.protocol === protocols[0] && bytes[0] === channels.stdin)
        stdin.end();
      else if (channel === channels.resize) {
        resize += Buffer.from(bytes).toString();
        if (!last) return;
        sizes.push(resize);
        resize = '';
      }
    },
    onDrain: release,
    onEnd: (end) => {
      stdin.end('error' in end ? { error: end.error } : {});
      gone.abort('error' in end ? end.error : new Error('the client has closed the stream'));
      release();
    },
  });
  onSwitch();
  if (!streams.stdin) stdin.end();
  const write = (to: number) => async (output: string | Uint8Array) => {
    const bytes = typeof output === 'string' ? Buffer.from(output) : output;
    for (let at = 0; at < bytes.length && link.isOpen; at += messageBytes) {
      // A copy: who writes may use its memory again.
      if (link.send(Uint8Array.from(bytes.subarray(at, at + messageBytes)), to)) continue;
      await new Promise<void>((resolve) => waiting.push(resolve));
    }
  };
  const nothing = async () => {};
  const stdout = streams.stdout ? write(channels.stdout) : nothing;
  const status = await statusOf(() =>
    process({
      ...{ container: streams.container, tty: streams.tty, stdin, sizes, signal: gone.signal, stdout },
      stderr: streams.tty ? stdout : streams.stderr ? write(channels.stderr) : nothing,
    }),
  );
  sizes.end();
  link.send(Buffer.from(JSON.stringify(status)), channels.error);
  link.close();
}

async function statusOf(run: () => ProcessEnd): Promise<Status> {
  try {
    const code = (await run()) ?? 0;
    if (code === 0) return { metadata: {}, status: 'Success' };
    return {
      metadata: {},
      status: 'Failure',
      message: `command terminated with non-zero exit code: exit status ${code}`,
      reason: 'NonZeroExitCode',
      details: { causes: [{ reason: 'ExitCode', message: String(code) }] },
    };
  } catch (error) {
    const message = `Internal error occurred: error executing command in container: ${describeError(error)}`;
    return { metadata: {}, status: 'Failure', message, reason: 'InternalError', code: 500 };
  }
}

/** The sizes of a terminal, as they come. */
class SizeQueue implements AsyncIterable<{ readonly columns: number; readonly rows: number }> {
  readonly #sizes: { readonly columns: number; readonly rows: number }[] = [];
  #wake: () => void = () => {};
  #isOver = false;

  push(text: string): void {
    try {
      const { Width: columns = 0, Height: rows = 0 } = JSON.parse(text) as { Width?: number; Height?: number };
      this.#sizes.push({ columns, rows });
    } catch {
      return;
    }
    this.#wake();
  }

  end(): void {
    this.#isOver = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator]() {
    while (true) {
      const size = this.#sizes.shift();
      if (size !== undefined) yield size;
      else if (this.#isOver) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
      }
    }
  }
}
