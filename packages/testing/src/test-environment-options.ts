import type { CrdManifest, KindRef } from 'riata/object';
import { type Logger, optionNames } from 'riata/runtime';
import type { Definition } from './install-definitions.js';
import type { EmbeddedOptions, OwnServer, TestServerChoice } from './test-server.js';

/** A kind that brings its own definition, as `defineKind` makes it. */
export type InstallableKind = KindRef & { crd(): CrdManifest };

/** Options of `TestEnvironment.start`. */
export interface TestEnvironmentOptions {
  /** Kinds of `defineKind`: the server serves them from the start, and after every reset. @default none */
  readonly kinds?: readonly InstallableKind[];
  /** More definitions to install, e.g. of other projects. @default none */
  readonly crds?: readonly Definition[];
  /** Which server, or one that the test has started. @default what the variable `RIATA_TEST_SERVER` says, else 'in-process' */
  readonly server?: TestServerChoice | OwnServer;
  /** The time of the in-process server: `real` for code that waits on sockets or files of its own. @default 'virtual' */
  readonly time?: 'virtual' | 'real';
  /** How the embedded server is, in-process and over HTTPS. @default as `ApiServer` has it */
  readonly embedded?: EmbeddedOptions;
  /** Of all randomness: uids, generated names, jitter. On the in-process server the same seed gives the same run. @default 1 */
  readonly seed?: number;
  /** Where the virtual clock starts, in milliseconds since the epoch. @default 2026-01-01T00:00:00Z */
  readonly startTime?: number;
  /** The log of managers and server. @default `env.log`, in memory */
  readonly log?: Logger;
}

export const testEnvironmentOptionNames = optionNames<TestEnvironmentOptions>({
  kinds: true,
  crds: true,
  server: true,
  time: true,
  embedded: true,
  seed: true,
  startTime: true,
  log: true,
});
