import type { ConnectedClient } from 'riata/client';
import type { ControllerDefinition } from 'riata/controller';
import type { Addable, Runnable } from 'riata/manager';
import type { RestConfig } from 'riata/rest';
import { type Identity, impersonationOf } from './identity.js';
import type { ConnectOptions, TestConnection } from './test-connection.js';
import type { TestManager, TestManagerOptions } from './test-manager.js';

/**
 * A user of a test environment: its requests are subject to RBAC, are recorded, and meet faults. Made by
 * `TestEnvironment.as`; its connections end with the next reset.
 */
export class TestIdentity {
  /** Its name, e.g. `system:serviceaccount:shop:robot`. */
  readonly user: string;
  readonly #parts: TestIdentityParts;
  #connection: TestConnection | undefined;

  /** @internal */
  constructor(identity: Identity, parts: TestIdentityParts) {
    this.user = impersonationOf(identity).user;
    this.#parts = parts;
  }

  /** A client on the clock of the environment. */
  get client(): ConnectedClient {
    return this.#own().client;
  }

  /** For more clients. */
  get config(): RestConfig {
    return this.#own().config;
  }

  /** As `TestEnvironment.connect`. */
  connect(options: Omit<ConnectOptions, 'as'> = {}): TestConnection {
    return this.#parts.connect(options);
  }

  /** As `TestEnvironment.run`. */
  run(...definitions: readonly (ControllerDefinition | Runnable | Addable)[]): Promise<TestManager> {
    return this.#parts.startManager({ run: definitions });
  }

  /** As `TestEnvironment.startManager`. */
  startManager(options: Omit<TestManagerOptions, 'as'> = {}): Promise<TestManager> {
    return this.#parts.startManager(options);
  }

  #own(): TestConnection {
    this.#connection ??= this.#parts.connect({ name: this.user });
    return this.#connection;
  }
}

/** @internal What a {@link TestIdentity} is made of. */
export interface TestIdentityParts {
  readonly connect: (options: Omit<ConnectOptions, 'as'>) => TestConnection;
  readonly startManager: (options: Omit<TestManagerOptions, 'as'>) => Promise<TestManager>;
}
