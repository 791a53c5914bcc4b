import { type ConnectedClient, createClient } from 'riata/client';
import type { RestConfig, Transport } from 'riata/rest';
import { optionNames, type Runtime, refuseUnknownOptions } from 'riata/runtime';
import type { Identity } from './identity.js';
import { type CutOptions, cutOptionNames, type RecordingTransport } from './requests/recording-transport.js';
import type { RecordedRequest, RequestRecorder } from './requests/request-recorder.js';

/** Options of `TestEnvironment.connect`. */
export interface ConnectOptions {
  /** Its name in the record of requests and in rules for faults. @default 'connection-1', … */
  readonly name?: string;
  /**
   * Called with every request before it is sent; a returned promise delays the request, and an error fails it. So a
   * test can act at the very moment in which something happens. @default all are sent at once
   */
  readonly onRequest?: (request: RecordedRequest) => unknown;
  /** Whom it acts as, subject to RBAC. @default the administrator */
  readonly as?: Identity;
}

export const connectOptionNames = optionNames<ConnectOptions>({ name: true, onRequest: true, as: true });

/**
 * A way to the server for code that is no manager: clients, informers, factories, that take a configuration. Its requests
 * are recorded, faults hit it, and it can be cut. Made by `TestEnvironment.connect`; it ends with the next reset, too.
 *
 * @example
 * await using connection = env.connect({ name: 'importer' });
 * await importAll(connection.client);
 * expect(connection.requests.lines({ verb: 'write' })).toEqual(['create ConfigMap shop/cart']);
 */
export class TestConnection implements AsyncDisposable {
  readonly name: string;
  /** For more clients. */
  readonly config: RestConfig & { readonly transport: Transport };
  /** Its requests alone; they are among those of the environment as well. */
  readonly requests: RequestRecorder;
  readonly #transport: RecordingTransport;
  readonly #parts: TestConnectionParts;
  #client: ConnectedClient | undefined;

  /** @internal */
  constructor(name: string, parts: TestConnectionParts) {
    this.name = name;
    this.requests = parts.requests;
    this.config = { ...parts.config, transport: parts.transport };
    this.#transport = parts.transport;
    this.#parts = parts;
  }

  /** A client that uses it, on the clock of the environment; ends with it. */
  get client(): ConnectedClient {
    this.#client ??= createClient(this.config, { runtime: this.#parts.runtime });
    return this.#client;
  }

  /** Cuts all its open connections, watches too; it may reconnect at once. */
  cut(options?: CutOptions): void {
    refuseUnknownOptions('TestConnection.cut', options, cutOptionNames);
    this.#transport.cut(options);
  }

  /** Ends what is open; no request leaves any more. */
  async close(): Promise<void> {
    this.#parts.onClose();
    await this.#client?.close();
    await this.#transport.close();
  }

  [Symbol.asyncDispose](): Promise<void> {
    return this.close();
  }
}

/** @internal What a {@link TestConnection} is made of. */
export interface TestConnectionParts {
  readonly config: RestConfig;
  readonly transport: RecordingTransport;
  readonly requests: RequestRecorder;
  readonly runtime: Partial<Runtime>;
  readonly onClose: () => void;
}
