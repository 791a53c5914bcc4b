import { readFile } from 'node:fs/promises';
import { resolve } from 'node:path';
import { type ConnectedClient, createClient, isNotFound } from 'riata';
import { Deployment, Pod, ServiceAccount } from 'riata/kinds';
import { selectorFrom } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { clusterConfig } from '../command/cluster-options.js';
import { CommandError, exitCodes } from '../command/command-error.js';
import type { CommandIo } from '../command/command-io.js';
import { hasConfig } from '../config/has-config.js';
import { loadOperator } from '../config/load-operator.js';
import type { Operator } from '../config/resolve-operator.js';
import type { EndpointOptions } from './endpoint-options.js';
import { type EndpointAccess, type OperatorEndpoint, podEndpoint, urlEndpoint } from './operator-endpoint.js';

/** All replicas of a running operator. */
export interface OperatorEndpoints extends AsyncDisposable {
  /** The operator's name, or the URL. */
  readonly name: string;
  readonly all: readonly OperatorEndpoint[];
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
  return { name: url, all: [endpoint], [Symbol.asyncDispose]: () => endpoint[Symbol.asyncDispose]() };
}

async function podEndpoints(io: CommandIo, options: EndpointOptions): Promise<OperatorEndpoints> {
  if (options.config === undefined && !hasConfig(resolve(io.cwd))) {
    throw new CommandError(
      `no riata.config.ts in ${io.cwd} or a folder above; run riata in the operator's folder, or give --config, or --url`,
    );
  }
  const { operator } = await loadOperator(io, options);
  const { port, isHttps } = metricsOf(operator);
  const config = await clusterConfig(options);
  const client = createClient(config, { runtime: { ...io.runtime, log: silentLogger } });
  const { name, namespace } = operator;
  const { pods, serviceAccount } = await findPods(client, operator).catch(async (error: unknown) => {
    await client.close();
    throw error;
  });
  const access: EndpointAccess = {
    token: once(async () => (await givenToken(io, options)()) ?? requestToken(client, namespace, serviceAccount)),
    refusal: `bind a ClusterRole with nonResourceURLs: ['/debug/*'] to ServiceAccount ${namespace}/${serviceAccount}, or set RIATA_TOKEN to the token of a user who may get these paths`,
    ...{ runtime: io.runtime, signal: io.signal },
  };
  const isProtected = operator.options.metrics?.protected === true;
  const all = pods.map((pod) =>
    podEndpoint(config, { namespace, name: pod, port, isHttps }, isProtected ? access : { ...access, token: noToken }),
  );
  return {
    ...{ name, all },
    async [Symbol.asyncDispose]() {
      await Promise.all([client.close(), ...all.map((endpoint) => endpoint[Symbol.asyncDispose]())]);
    },
  };
}

const noToken = async () => undefined;

function metricsOf({ name, options: { metrics } }: Operator): { readonly port: number; readonly isHttps: boolean } {
  const remedy = 'set metrics: { port: 8080, debug: true, protected: true } in its options';
  if (metrics === undefined) throw new CommandError(`operator "${name}" serves no metrics; ${remedy}`);
  if (!metrics.debug) throw new CommandError(`operator "${name}" serves no /debug pages; ${remedy}`);
  const { host, port, tls } = metrics;
  if (host !== undefined && /^(?:localhost$|127\.|::1$)/.test(host)) {
    throw new CommandError(
      `operator "${name}" serves its metrics on ${host} alone; run kubectl port-forward deployment/${name} ${port}, then give --url http://127.0.0.1:${port}`,
    );
  }
  if (port === 0) throw new CommandError(`operator "${name}" serves its metrics on any free port; ${remedy}`);
  return { port, isHttps: tls !== undefined };
}

async function findPods(client: ConnectedClient, { name, namespace }: Operator) {
  const deployment = await client.get(Deployment, { namespace, name }).catch((error: unknown) => {
    if (!isNotFound(error)) throw error;
    throw new CommandError(
      `Deployment ${namespace}/${name} not found; is the operator deployed in this cluster? For one that runs elsewhere, give --url`,
    );
  });
  const labelSelector = selectorFrom(deployment.spec?.selector);
  const { items } = await client.list(Pod, { namespace, labelSelector });
  const pods = items.filter(({ status }) => status?.phase === 'Running').map(({ metadata }) => metadata.name);
  if (pods.length === 0) {
    throw new CommandError(`Deployment ${namespace}/${name} has no running Pod; see: kubectl get pods -n ${namespace}`);
  }
  return { pods: pods.sort(), serviceAccount: deployment.spec?.template.spec?.serviceAccountName ?? 'default' };
}

/** A short-lived token of the operator itself: it learns nothing by it that it does not have. */
async function requestToken(client: ConnectedClient, namespace: string, name: string): Promise<string> {
  const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 3600 } };
  const answer = await client
    .subresource('token')
    .create<{ readonly status: { readonly token: string } }>(ServiceAccount, { namespace, name }, body);
  return answer.status.token;
}

function givenToken(io: CommandIo, { tokenFile }: EndpointOptions): () => Promise<string | undefined> {
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
