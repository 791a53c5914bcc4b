import type { Faults } from '@riata/apiserver';
import type { RestConfig, Transport } from 'riata/rest';
import type { Runtime } from 'riata/runtime';
import { impersonationOf } from './identity.js';
import { type CutOptions, RecordingTransport } from './requests/recording-transport.js';
import { RequestRecorder } from './requests/request-recorder.js';
import type { RequestReader, RequestTarget } from './requests/request-target.js';
import { type ConnectOptions, TestConnection } from './test-connection.js';
import type { TestServer } from './test-server.js';

/** The ways to the server that are open, those of managers too. */
export class Connections {
  readonly #parts: ConnectionsParts;
  readonly #open = new Set<TestConnection>();
  readonly #transports = new WeakSet<Transport>();
  #opened = 0;

  constructor(parts: ConnectionsParts) {
    this.#parts = parts;
  }

  open({ name: given, onRequest, as }: ConnectOptions, faults: Faults = this.#parts.faults): TestConnection {
    const { server, runtime, reader, requests: all, onCreated } = this.#parts;
    if (given === undefined) this.#opened += 1;
    const name = given ?? `connection-${this.#opened}`;
    const requests = new RequestRecorder();
    const own = server.connect(name, faults);
    const config = as === undefined ? own : { ...own, impersonate: impersonationOf(as) };
    const transport = new RecordingTransport(config.transport, {
      ...{ recorders: [all, requests], reader, client: name, clock: server.time.clock, onCreated, onRequest },
    });
    const onClose = () => void this.#open.delete(connection);
    const connection: TestConnection = new TestConnection(name, { config, transport, requests, runtime, onClose });
    this.#open.add(connection);
    this.#transports.add(transport);
    return connection;
  }

  /** Whether what uses this goes one of these ways, so that its requests are recorded. */
  has({ transport }: Pick<RestConfig, 'transport'>): boolean {
    return transport !== undefined && this.#transports.has(transport);
  }

  /** Cuts what they have open. */
  cut(options?: CutOptions): void {
    for (const connection of [...this.#open]) connection.cut(options);
  }

  async close(): Promise<void> {
    await Promise.all([...this.#open].map((connection) => connection.close()));
  }
}

/** What {@link Connections} need. */
export interface ConnectionsParts {
  readonly server: TestServer;
  readonly runtime: Partial<Runtime>;
  readonly reader: RequestReader;
  /** Of all of them. */
  readonly requests: RequestRecorder;
  readonly faults: Faults;
  readonly onCreated: (target: RequestTarget) => void;
}
