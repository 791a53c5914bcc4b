import type { ConnectOptions, RequestRecorder, TestEnvironment } from '@riata/testing';
import type { ConnectedClient } from 'riata/client';
import { ConfigMap, Secret } from 'riata/kinds';
import { Apply, type ApplyOptions } from 'riata/patterns';
import { silentLogger } from 'riata/runtime';

/** A process that applies sets, and all that it asks the server for. */
export interface SetPlay extends AsyncDisposable {
  readonly applier: Apply;
  readonly client: ConnectedClient;
  readonly requests: RequestRecorder;
  /** How many writes since the last call. */
  writes(): number;
}

/**
 * One process; the next call is another process, which knows nothing of this one. Does not look for other kinds by
 * default.
 */
export function startApply(
  server: TestEnvironment,
  options: ApplyOptions = {},
  onRequest?: ConnectOptions['onRequest'],
): SetPlay {
  const connection = server.connect({ onRequest });
  const { client, requests } = connection;
  const runtime = { log: silentLogger };
  return {
    ...{ client, requests, applier: new Apply(client, { runtime, lookup: 'given', ...options }) },
    writes() {
      const { length } = requests.select({ verb: 'write' });
      requests.clear();
      return length;
    },
    [Symbol.asyncDispose]: () => connection.close(),
  };
}

export function map(namespace: string, name: string, data: Readonly<Record<string, string>> = { a: '1' }) {
  return ConfigMap({ metadata: { namespace, name }, data });
}

export function secret(namespace: string, name: string, text = 'x') {
  return Secret({ metadata: { namespace, name }, stringData: { text } });
}

/** The names of members. */
export function names(members: readonly { readonly name: string }[]): string[] {
  return members.map(({ name }) => name).sort();
}
