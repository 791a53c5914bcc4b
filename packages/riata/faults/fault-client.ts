import { inspect } from 'node:util';
import { type ConnectedClient, createClient } from 'riata/client';
import type { RestConfig } from 'riata/rest';
import { staticCredentials } from 'riata/rest';
import type { Scheduler } from 'riata/runtime';
import { describeError, seededRandom, silentLogger } from 'riata/runtime';
import { type FaultScript, type FaultServer, type FaultServerOptions, startFaultServer } from './fault-server.js';

/** What every client of these tests authenticates with. No error may show it. */
export const token = 'q7Zs1kVbT0-never-to-be-seen';

export interface FaultClientOptions extends FaultServerOptions {
  /** @default the machine's own */
  readonly clock?: Scheduler;
  /** The certificate to trust. */
  readonly ca?: string;
  readonly config?: Partial<RestConfig>;
}

/** A server that does as scripted, and a client of it, as users make one. */
export interface FaultClient extends AsyncDisposable {
  readonly server: FaultServer;
  readonly client: ConnectedClient;
}

export async function startFaultClient(script: FaultScript, options: FaultClientOptions = {}): Promise<FaultClient> {
  const server = await startFaultServer(script, options);
  const client = connect(server, options);
  const dispose = async () => {
    await client.close();
    await server.close();
  };
  return { server, client, [Symbol.asyncDispose]: dispose };
}

/** Another client of that server. */
export function connect(server: FaultServer, { clock, ca, config }: FaultClientOptions = {}): ConnectedClient {
  const credentials = staticCredentials({ token, ...(ca !== undefined && { ca }) });
  const runtime = { log: silentLogger, random: seededRandom(1), ...(clock && { clock }) };
  return createClient({ server: server.url, credentials, ...config }, { runtime });
}

/** What `work` rejects with; it must, and with nothing secret in it. */
export async function failureOf(work: PromiseLike<unknown>): Promise<Error> {
  let value: unknown;
  try {
    value = await work;
  } catch (error) {
    return withoutSecrets(error);
  }
  throw new Error(`expected a failure, got ${inspect(value)}`);
}

/** Hands the error on, after looking for the token in it and in all that it holds. */
export function withoutSecrets(error: unknown): Error {
  const all = `${inspect(error, { depth: Number.POSITIVE_INFINITY, showHidden: true })} ${describeError(error)}`;
  const forms = [token, Buffer.from(token).toString('base64')];
  if (forms.some((form) => all.includes(form))) throw new Error('an error shows the token', { cause: error });
  if (error instanceof Error) return error;
  throw new Error(`expected an Error, got ${inspect(error)}`);
}

/** All that comes out of it, and what it ended with. */
export async function readAll<T>(source: AsyncIterable<T>): Promise<{ readonly all: T[]; readonly error?: Error }> {
  const all: T[] = [];
  try {
    for await (const each of source) all.push(each);
    return { all };
  } catch (error) {
    return { all, error: withoutSecrets(error) };
  }
}

/** Lets whatever has arrived on sockets be read. */
export async function turns(count = 50): Promise<void> {
  for (let turn = 0; turn < count; turn++) await new Promise(setImmediate);
}

/** A promise to be settled from elsewhere. */
export function deferred(): { readonly promise: Promise<void>; readonly resolve: () => void } {
  let resolve: () => void = () => {};
  const promise = new Promise<void>((done) => {
    resolve = done;
  });
  return { promise, resolve };
}
