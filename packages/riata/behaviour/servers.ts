import { environmentPerFile, eventually, type TestEnvironment, type TestEnvironmentOptions } from '@riata/testing';
import { configFromKubeconfig } from 'riata/rest';
import { silentLogger, systemRandom } from 'riata/runtime';
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';

/** What only the real control plane can do. */
export type ControlPlane = ReturnType<typeof controlPlaneFromEnv>;

/** The servers there are: the embedded one in this process and over HTTPS, and the real one. What that does is the truth. */
export type ServerName = keyof typeof servers;

// The real one runs without kube-controller-manager unless a test starts it: so the embedded ones do without its work.
const servers = {
  'in-process': () => ({ server: 'in-process', time: 'real', embedded: { controllers: false, cuts: systemRandom } }),
  https: () => ({ server: 'https', embedded: { controllers: false } }),
  'kube-apiserver': async () => {
    const plane = controlPlaneFromEnv();
    return {
      server: {
        config: await configFromKubeconfig(plane.kubeconfig),
        suspend: (options) => plane.stopApiServer(options),
        resume: () => plane.startApiServer(),
        compact: async () => void (await plane.compact()),
        isThrownAway: true,
      },
    };
  },
} as const satisfies Record<string, () => TestEnvironmentOptions | Promise<TestEnvironmentOptions>>;

/** Those that this run is for: `RIATA_SERVERS`, set by the vitest projects. */
const expected = (process.env.RIATA_SERVERS ?? 'kube-apiserver').split(',') as ServerName[];

/**
 * Runs a suite on every server that it means something on, all by default. `server()` may be called inside tests only.
 */
export function describeServers(
  title: string,
  suite: (server: () => TestEnvironment) => void,
  on: readonly ServerName[] = ['in-process', 'https', 'kube-apiserver'],
): void {
  for (const name of expected.filter((w) => on.includes(w))) {
    describe(`${title} (${name})`, () => {
      describing = name;
      suite(environmentOn(name));
    });
  }
  // A file with no suite at all would be an error of the test runner.
  if (!expected.some((w) => on.includes(w))) {
    describe(title, () => test(`is about ${on.join(' and ')}`, () => expect(expected).not.toContain(on[0])));
  }
}

/** An environment for a file or suite on one of them; asked for within tests and hooks. */
export function environmentOn(name: ServerName): () => TestEnvironment {
  const options = async () => ({ log: silentLogger, ...(await servers[name]()) });
  return environmentPerFile({ beforeAll, afterAll, afterEach }, options);
}

/** The server that tests are being declared for. */
let describing: ServerName | undefined;

/** The server that a suite is being declared for: for what is slower on some of them. */
export function describedServer(): ServerName {
  if (describing === undefined)
    throw new Error('describedServer is for suites of describeServers, while they are declared');
  return describing;
}

/** A test that means something on some of the servers only: the real one, for what the embedded one does not do yet. */
export function testOn(on: readonly ServerName[], title: string, run: () => Promise<void>): void {
  if (describing !== undefined && on.includes(describing)) test(title, run);
}

/** For what comes with users and RBAC, with nodes, and with kube-controller-manager. */
export const realOnly: readonly ServerName[] = ['kube-apiserver'];

export function controlPlane(): ControlPlane {
  return controlPlaneFromEnv();
}

/** As `eventually`, where undefined is no answer either; and an error is one: it ends at once with that. */
export async function until<T>(what: string, probe: () => Promise<T | undefined | false>): Promise<T> {
  const ask = async () => {
    const [asked] = await Promise.allSettled([probe()]);
    return (asked.status === 'rejected' || (asked.value !== undefined && asked.value !== false)) && asked;
  };
  const asked = await eventually(ask, { what });
  if (asked.status === 'rejected') throw asked.reason;
  return asked.value as T;
}

/** What a promise rejects with; an error if it does not. */
export async function rejection(promise: Promise<unknown>): Promise<Error> {
  const outcome = await promise.then(
    (value) => ({ value }),
    (error: unknown) => ({ error }),
  );
  if ('error' in outcome && outcome.error instanceof Error) return outcome.error;
  throw new Error('expected a rejection with an Error, got another outcome', { cause: outcome });
}

/** A name that no other test has. */
export function uniqueName(prefix: string): string {
  return `${prefix}${systemRandom.int(0, 0xffff_ffff).toString(36)}`;
}
