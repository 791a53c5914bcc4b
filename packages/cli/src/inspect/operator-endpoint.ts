import { createClient, isApiError, type RestConfig } from 'riata';
import { RestClient } from 'riata/rest';
import { describeError, type Runtime, silentLogger } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';

/** A running operator, as its pages below `/debug` show it. */
export interface OperatorEndpoint extends AsyncDisposable {
  /** Where it is: a URL, or a Pod. */
  readonly name: string;
  /** Reads one page. Rejects with a {@link CommandError} that names the remedy. */
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
}

/** What an endpoint is read with. */
export interface EndpointAccess {
  /** Returns the token for protected pages; undefined without one. */
  readonly token: () => Promise<string | undefined>;
  /** Why pages may be refused in spite of the token, and what to do. */
  readonly refusal: string;
  readonly runtime: Runtime;
  readonly signal: AbortSignal;
}

/** An operator that can be reached by a URL. */
export function urlEndpoint(
  url: string,
  access: EndpointAccess,
  tls: Pick<RestConfig, 'insecureSkipTlsVerify'> = {},
): OperatorEndpoint {
  const rest = RestClient.for({ server: url, ...tls }, { runtime: { ...access.runtime, log: silentLogger } });
  return {
    name: url,
    get: (path, query) => readPage(rest, { name: url, prefix: '', path, query, access }),
    [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose](),
  };
}

/** A Pod that can be reached through the API server. */
export interface PodPlace {
  readonly namespace: string;
  readonly name: string;
  readonly port: number;
  readonly isHttps: boolean;
}

/** An operator in a Pod, read through the Pod's proxy of the API server. */
export function podEndpoint(config: RestConfig, pod: PodPlace, access: EndpointAccess): OperatorEndpoint {
  const client = createClient(config, { runtime: { ...access.runtime, log: silentLogger } });
  const { namespace, name, port, isHttps } = pod;
  const prefix = `/api/v1/namespaces/${namespace}/pods/${isHttps ? 'https:' : ''}${name}:${port}/proxy`;
  return {
    name: `Pod ${namespace}/${name}`,
    get: (path, query) => readPage(client.rest, { name: `Pod ${namespace}/${name}`, prefix, path, query, access }),
    [Symbol.asyncDispose]: () => client.close(),
  };
}

interface Page {
  readonly name: string;
  /** Before the path. */
  readonly prefix: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly access: EndpointAccess;
}

async function readPage<T>(rest: RestClient, page: Page): Promise<T> {
  const { name, prefix, path, query = {}, access } = page;
  const { signal } = access;
  const token = await access.token();
  const request = rest.get().absPath(`${prefix}${path}`).maxRetries(1).timeout('15s');
  for (const [key, value] of Object.entries(query)) request.param(key, value);
  // Not as Authorization: that is the API server's own, and a proxy does not pass it on.
  if (token !== undefined) request.setHeader('x-riata-authorization', `Bearer ${token}`);
  let text: string;
  try {
    text = new TextDecoder().decode(await request.doRaw({ signal }));
  } catch (error) {
    signal.throwIfAborted();
    throw new CommandError(`${name}: ${problemOf(error, path, token !== undefined, access.refusal)}`, { cause: error });
  }
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new CommandError(
      `${name}: ${path} is not JSON; --url must lead to the metrics of an operator made with Riata`,
      {
        cause: error,
      },
    );
  }
}

function problemOf(error: unknown, path: string, hasToken: boolean, refusal: string): string {
  const code = isApiError(error) ? error.code : undefined;
  switch (code) {
    case 404:
      return `${path}: not found; start the operator's manager with metrics: { port, debug: true, protected: true }`;
    case 401:
      return hasToken
        ? 'the token is not known to the cluster'
        : 'its metrics are protected; set RIATA_TOKEN, or give --token-file';
    case 403:
      return `access to ${path} is forbidden; ${refusal}`;
    default:
      // Its own remedy is about API servers.
      return code === undefined
        ? `${describeError(error).split(';')[0]}; is the operator running, and are its metrics served there?`
        : `${path} cannot be read: ${describeError(error)}`;
  }
}
