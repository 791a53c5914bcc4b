import { isApiError, type RestConfig } from 'riata';
import { RestClient, type RestRequest } from 'riata/rest';
import { describeError, type Runtime, silentLogger } from 'riata/runtime';
import { CommandError } from '../command/command-error.js';

/** A running operator, as its pages below `/debug` show it. */
export interface OperatorEndpoint extends AsyncDisposable {
  /** Where it is: a URL, or a Pod. */
  readonly name: string;
  /** Reads one page. Rejects with a {@link CommandError} that names the remedy. */
  get<T>(path: string, query?: Readonly<Record<string, string>>): Promise<T>;
  /** Opens a page that does not end. Rejects as {@link get} does. */
  stream(path: string, options: { readonly signal: AbortSignal }): Promise<AsyncIterable<Uint8Array>>;
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

/** How {@link urlEndpoint} reads. */
export interface UrlEndpointOptions extends Pick<RestConfig, 'insecureSkipTlsVerify'> {
  /** For messages. @default the URL */
  readonly name?: string;
  /** Why connections fail behind the URL, if it is known. */
  readonly problem?: () => string | undefined;
}

/** An operator that can be reached by a URL. */
export function urlEndpoint(url: string, access: EndpointAccess, options: UrlEndpointOptions = {}): OperatorEndpoint {
  const { name = url, problem, ...tls } = options;
  const rest = RestClient.for({ server: url, ...tls }, { runtime: { ...access.runtime, log: silentLogger } });
  return { ...restEndpoint(rest, name, '', access, problem), [Symbol.asyncDispose]: () => rest[Symbol.asyncDispose]() };
}

/** An operator whose pages are below a path of a server. */
export function restEndpoint(
  rest: RestClient,
  name: string,
  prefix: string,
  access: EndpointAccess,
  problem?: () => string | undefined,
): Omit<OperatorEndpoint, keyof AsyncDisposable> {
  const page = { name, prefix, access, problem };
  return {
    name,
    get: (path, query) => readPage(rest, { ...page, path, query }),
    stream: (path, { signal }) =>
      request(rest, { ...page, path, query: {} }, 'never', (asked) => asked.stream({ signal })),
  };
}

interface Page {
  readonly name: string;
  /** Before the path. */
  readonly prefix: string;
  readonly path: string;
  readonly query: Readonly<Record<string, string>> | undefined;
  readonly access: EndpointAccess;
  readonly problem: (() => string | undefined) | undefined;
}

async function readPage<T>(rest: RestClient, page: Page): Promise<T> {
  const { name, path, access } = page;
  const bytes = await request(rest, page, '15s', (asked) => asked.doRaw({ signal: access.signal }));
  const text = new TextDecoder().decode(bytes);
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

/** Sends a request for a page. Rejects with a {@link CommandError} that names the remedy. */
async function request<T>(
  rest: RestClient,
  page: Page,
  timeout: '15s' | 'never',
  send: (asked: RestRequest) => Promise<T>,
): Promise<T> {
  const { name, prefix, path, query = {}, access } = page;
  const { signal } = access;
  const token = await access.token();
  const asked = rest.get().absPath(`${prefix}${path}`).maxRetries(1).timeout(timeout);
  for (const [key, value] of Object.entries(query)) asked.param(key, value);
  // Not as Authorization: that is the API server's own, and a proxy does not pass it on.
  if (token !== undefined) asked.setHeader('x-riata-authorization', `Bearer ${token}`);
  try {
    return await send(asked);
  } catch (error) {
    signal.throwIfAborted();
    const behind = isApiError(error) ? undefined : page.problem?.();
    const problem =
      behind === undefined
        ? problemOf(error, path, token !== undefined, access.refusal)
        : `${behind}; does the operator in this Pod serve its metrics?`;
    throw new CommandError(`${name}: ${problem}`, { cause: error });
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
