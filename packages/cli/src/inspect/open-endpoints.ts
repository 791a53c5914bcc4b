import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { hasConfig } from '../config/has-config.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import type { EndpointOptions } from './endpoint-options.js';
import { type EndpointAccess, type OperatorEndpoint, urlEndpoint } from './operator-endpoint.js';
import { OperatorPods } from './operator-pods.js';
import { podEndpoint } from './pod-endpoint.js';

/** All replicas of a running operator. */
export interface OperatorEndpoints extends AsyncDisposable {
  /** The operator's name, or the URL. */
  readonly name: string;
  /** Those that ran when they were last looked for. */
  readonly all: readonly OperatorEndpoint[];
  /** Looks for replicas again: those of Pods that are gone are closed, new ones added to {@link all}. Rejects if none runs. */
  refresh(): Promise<void>;
}

/** Connects to the operator that the options name: by `--url`, else to the Pods of the project's operator. */
export async function openEndpoints(io: CommandIo, options: EndpointOptions): Promise<OperatorEndpoints> {
  const { url, insecureSkipTlsVerify = false } = options;
  if (url === undefined) return podEndpoints(io, options);
  if (!URL.canParse(url) || !/^https?:/.test(url)) {
    throw new CommandError(`--url must be an http or https URL, got "${url}"`, { exitCode: exitCodes.usage });
  }
  const access: EndpointAccess = {
    token: givenToken(io, options),
    refusal: 'use the token of a user who may get /debug/* (a ClusterRole with nonResourceURLs)',
    ...{ runtime: io.runtime, signal: io.signal },
  };
  const endpoint = urlEndpoint(url.replace(/\/+$/, ''), access, { insecureSkipTlsVerify });
  return {
    ...{ name: url, all: [endpoint], refresh: async () => {} },
    [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose](),
  };
}

async function podEndpoints(io: CommandIo, options: EndpointOptions): Promise<OperatorEndpoints> {
  if (options.config === undefined && !hasConfig(resolve(io.cwd))) {
    throw new CommandError(
      `no riata.config.ts in ${io.cwd} or a folder above; run riata in the operator's folder, or give --config, or --url`,
    );
  }
  const { operator } = await loadOperator(io, options);
  const { port, isHttps } = metricsOf(operator);
  const pods = await OperatorPods.find(io, options, operator);
  const { namespace, serviceAccount } = pods;
  const isProtected = operator.options.metrics?.protected === true;
  const given = givenToken(io, options);
  const access: EndpointAccess = {
    token: isProtected ? async () => (await given()) ?? pods.token() : noToken,
    refusal: `bind a ClusterRole with nonResourceURLs: ['/debug/*'] to ServiceAccount ${namespace}/${serviceAccount}, or set RIATA_TOKEN to the token of a user who may get these paths`,
    ...{ runtime: io.runtime, signal: io.signal },
  };
  // By uid: the Pods of a StatefulSet keep their names.
  let byUid = new Map<string, OperatorEndpoint>();
  const open = async () => {
    const before = byUid;
    byUid = new Map(
      pods.found.map(({ name, uid }) => [uid, before.get(uid) ?? podEndpoint(pods, { name, port, isHttps }, access)]),
    );
    const gone = [...before].filter(([uid]) => !byUid.has(uid));
    await Promise.all(gone.map(([, endpoint]) => endpoint[Symbol.asyncDispose]()));
  };
  await open();
  return {
    name: operator.name,
    get all() {
      return [...byUid.values()];
    },
    async refresh() {
      await pods.refresh();
      await open();
    },
    async [Symbol.asyncDispose]() {
      await Promise.all([...byUid.values()].map((endpoint) => endpoint[Symbol.asyncDispose]()));
      await pods[Symbol.asyncDispose]();
    },
  };
}

const noToken = async () => undefined;

function metricsOf({ name, options: { metrics } }: Operator): { readonly port: number; readonly isHttps: boolean } {
  const remedy = 'set metrics: { port: 8080, debug: true, protected: true } in its options';
  if (metrics === undefined) throw new CommandError(`operator "${name}" serves no metrics; ${remedy}`);
  if (!metrics.debug) throw new CommandError(`operator "${name}" serves no /debug pages; ${remedy}`);
  const { port, tls } = metrics;
  if (port === 0) throw new CommandError(`operator "${name}" serves its metrics on any free port; ${remedy}`);
  return { port, isHttps: tls !== undefined };
}

/** The token that the user gives, read once: `--token-file`, else `$RIATA_TOKEN`. */
export function givenToken(
  io: CommandIo,
  { tokenFile }: Pick<EndpointOptions, 'tokenFile'>,
): () => Promise<string | undefined> {
  return once(async () => {
    if (tokenFile === undefined) return io.env.RIATA_TOKEN || undefined;
    const path = resolve(io.cwd, tokenFile);
    const token = await readFile(path, 'utf8').catch((error: unknown) => {
      throw new CommandError(`--token-file: ${(error as Error).message}`, { cause: error });
    });
    if (token.trim() === '') throw new CommandError(`--token-file: ${path} is empty`);
    return token.trim();
  });
}

function once<T>(make: () => Promise<T>): () => Promise<T> {
  let made: Promise<T> | undefined;
  return () => {
    made ??= make();
    return made;
  };
}
