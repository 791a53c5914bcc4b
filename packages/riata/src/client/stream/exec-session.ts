import type { OpenWebSocket } from '../../rest/websocket/open-web-socket.js';
import { ExecError } from './exec-error.js';
import type { Input } from './exec-options.js';
import { exitCodeOf, RemoteCommand } from './remote-command.js';

/** How a command has ended. */
export interface ExecResult {
  /** 0 for success. */
  readonly exitCode: number;
}

/** The input of a running command. */
export interface ExecInput {
  /** Sends bytes or text. Resolves when more can be sent: await it, and a slow command slows you down. */
  write(input: string | Uint8Array): Promise<void>;
  /** Ends the input, so that a command that reads to the end goes on. */
  end(): void;
}

/** As much of stderr is kept for an {@link ExecError}. */
const keptStderrBytes = 64 * 1024;

/**
 * A command that runs in a container (`remotecommand.Executor`), or a process that one is attached to. Disposing it
 * closes the connection.
 *
 * Nothing is cut in silence: `ended` resolves, and the loops over `stdout` and `stderr` end, only after the server has
 * reported how the command ended and closed the stream. If the connection breaks before that, they throw.
 *
 * Both outputs share one connection, and it is read only as fast as you read: output that nobody reads stops the
 * command once 256 KiB wait. Read both, or leave one out (`stderr: false`).
 */
export class ExecSession implements AsyncDisposable {
  /** What the command writes, in pieces of any size: to be read once. */
  readonly stdout: AsyncIterableIterator<Uint8Array>;
  /** What it writes to stderr; empty with `tty`. */
  readonly stderr: AsyncIterableIterator<Uint8Array>;
  /** With the option `stdin: true`. */
  readonly stdin: ExecInput;
  /** How the command has ended, whatever its exit code; rejects unless the server reported it. */
  readonly ended: Promise<ExecResult>;
  /** The subprotocol: `v5.channel.k8s.io` or `v4.channel.k8s.io`. */
  readonly protocol: string;
  readonly #command: RemoteCommand;
  readonly #what: string;

  /** `what` names the command in errors. */
  constructor(socket: OpenWebSocket, what: string, input: Input | boolean = false) {
    const command = new RemoteCommand(socket);
    this.#command = command;
    this.#what = what;
    this.stdout = command.stdout;
    this.stderr = command.stderr;
    this.protocol = command.protocol;
    this.stdin = {
      write: (given) => {
        if (input === true) return command.write(bytesOf(given));
        return Promise.reject(new TypeError(`${what}: stdin.write requires the option stdin: true`));
      },
      end: () => command.endInput(),
    };
    this.ended = command.ended.then((status) => ({ exitCode: exitCodeOf(status) ?? 0 }));
    // As with that of the command: reading the output fails as well.
    this.ended.catch(() => {});
    if (typeof input !== 'boolean') void this.#send(input);
  }

  /** Reports the size of the terminal, in characters. Requires `tty`. */
  resize({ columns, rows }: { readonly columns: number; readonly rows: number }): void {
    this.#command.resize(columns, rows);
  }

  /** All of stdout. Throws an {@link ExecError} with the exit code and stderr unless the command succeeded. */
  async bytes(): Promise<Uint8Array> {
    const [out, err] = await Promise.all([collect(this.stdout), collectEnd(this.stderr)]);
    const { exitCode } = await this.ended;
    if (exitCode === 0) return out;
    const stderr = new TextDecoder().decode(err);
    const [line = ''] = stderr.trim().split('\n').slice(-1);
    throw new ExecError(`${this.#what}: exit code ${exitCode}${line === '' ? '' : `: ${line}`}`, { exitCode, stderr });
  }

  /** All of stdout as text, like {@link bytes}. */
  async text(): Promise<string> {
    return new TextDecoder().decode(await this.bytes());
  }

  /** Closes the connection. A command that has not ended is not killed by that, but its streams end. */
  async close(): Promise<void> {
    this.#command.close(new ExecError(`${this.#what}: closed before it had ended`));
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }

  async #send(input: Input): Promise<void> {
    try {
      if (typeof input === 'string' || input instanceof Uint8Array) await this.#command.write(bytesOf(input));
      else {
        for await (const piece of input) {
          if (this.#command.isOver) break;
          await this.#command.write(bytesOf(piece));
        }
      }
      this.#command.endInput();
    } catch (error) {
      this.#command.close(error);
    }
  }
}

function bytesOf(input: string | Uint8Array): Uint8Array {
  return typeof input === 'string' ? new TextEncoder().encode(input) : input;
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  for await (const chunk of stream) chunks.push(chunk);
  return Buffer.concat(chunks);
}

async function collectEnd(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array> {
  let kept = Buffer.alloc(0);
  for await (const chunk of stream) kept = Buffer.concat([kept, chunk]).subarray(-keptStderrBytes);
  return kept;
}
