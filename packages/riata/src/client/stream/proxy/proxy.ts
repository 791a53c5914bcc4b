import { Pod } from '../../../kinds/generated/groups/core/v1.js';
import type { KindRef } from '../../../object/kind.js';
import type { ByteStream } from '../../../rest/stream/byte-stream.js';
import { refuseUnknownOptions } from '../../../runtime/option-names.js';
import type { Operation, Run } from '../../operation/operation.js';
import { type CallOptions, callOptionNames } from '../../options.js';
import type { Input } from '../exec-options.js';
import { type ProxyQuery, proxyName, proxyPath } from './proxy-path.js';
import { ProxyResponse } from './proxy-response.js';

/** Options of `client.proxy`. */
export interface ProxyOptions extends CallOptions {
  /** @default 'GET' */
  readonly method?: string;
  /** Headers for the target. The API server keeps `Authorization` for itself. */
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  /** Parameters of the query, after those of the path. */
  readonly query?: ProxyQuery;
  /** The body: all at once, or piece by piece, read only as fast as the target takes it. @default none */
  readonly body?: Input;
}

const proxyOptionNames = callOptionNames.and<ProxyOptions>({
  method: true,
  headers: true,
  query: true,
  body: true,
});

/** What a request is proxied to. */
export interface ProxyTarget {
  /** A Pod, a Service or a Node. @default Pod */
  readonly kind?: KindRef;
  readonly namespace?: string;
  /** Also with scheme and port, as the API has it: `https:web:8443`. */
  readonly name: string;
  /**
   * The number of a port, or for a Service its name. @default the first port of the Pod; a Service's only, unnamed port;
   * the kubelet of the Node
   */
  readonly port?: number | string;
  /** How the API server speaks to the target. It does not check certificates. @default 'http' */
  readonly scheme?: 'http' | 'https';
}

const kinds: ReadonlySet<string> = new Set(['Pod', 'Service', 'Node']);
const methods: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Sends a request to a Pod, Service or Node through the API server. */
export async function proxyTo(
  run: Run,
  target: ProxyTarget,
  path: string,
  options: ProxyOptions,
): Promise<ProxyResponse> {
  refuseUnknownOptions('client.proxy', options, proxyOptionNames);
  const operation = proxyOperation(target, path, options);
  const source = new BodySource(options.body);
  let stream: ByteStream;
  try {
    stream = await run({ ...operation, ...source.parts });
  } catch (error) {
    // The failure of the body's source is the outcome, whatever the connection has made of it.
    if (source.failure !== undefined) throw source.failure.error;
    throw error;
  }
  const what = `proxy to ${operation.kind.kind} ${operation.name}, ${operation.method} ${path.split('?', 1)[0]}`;
  if (!source.isSent && stream.statusCode < 300) {
    stream.close();
    throw new Error(
      `${what}: the target answered before it had read the whole body, and API servers drop a part of the rest; use client.forward for targets that do both at once`,
    );
  }
  return ProxyResponse.from(stream, { what, method: operation.method ?? 'GET', url: urlOf(operation) });
}

function proxyOperation(target: ProxyTarget, path: string, options: ProxyOptions): Operation<'connect'> {
  const { kind = Pod, namespace, name, port, scheme } = target;
  const { method = 'GET', headers = {}, query, signal, maxRetries = 0, span } = options;
  if (kind.group !== '' || !kinds.has(kind.kind)) {
    throw new TypeError(`client.proxy: the target must be a Pod, a Service or a Node, got a ${kind.kind}`);
  }
  if (!methods.has(method)) {
    throw new TypeError(
      `client.proxy: method must be one of ${[...methods].join(', ')}, got ${JSON.stringify(method)}`,
    );
  }
  for (const header of Object.keys(headers)) {
    if (header.toLowerCase() !== 'authorization') continue;
    throw new TypeError(
      'client.proxy: the API server takes the header "authorization" for its own; use client.forward to send one',
    );
  }
  return {
    ...{ verb: 'connect', kind: kind as KindRef, namespace, name: proxyName(name, port, scheme), subresource: 'proxy' },
    ...{ params: {}, proxied: proxyPath(path, query), method, headers: { accept: '*/*', ...headers } },
    // A target may think for long, and be silent for longer.
    ...{ idleTimeoutMs: 0, signal, maxRetries, span },
  };
}

/** The path of a request, for messages. */
function urlOf({ kind, namespace, name, proxied = '' }: Operation<'connect'>): string {
  const place = namespace === undefined ? '' : `/namespaces/${namespace}`;
  return `/api/v1${place}/${kind.plural}/${name}/proxy${proxied}`;
}

/** The body of a request, and the error that its source has thrown. */
class BodySource {
  readonly parts: Pick<Operation<'connect'>, 'rawBody' | 'headersTimeoutMs'>;
  failure: { readonly error: unknown } | undefined;
  /** Whether all of it was handed out. */
  isSent = true;

  constructor(body: Input | undefined) {
    if (body === undefined) this.parts = {};
    else if (typeof body === 'string' || body instanceof Uint8Array) this.parts = { rawBody: body };
    // Sending it may take longer than an answer may.
    else this.parts = { rawBody: this.#pieces(body), headersTimeoutMs: 0 };
  }

  async *#pieces(source: Exclude<Input, string | Uint8Array>): AsyncGenerator<Uint8Array> {
    const encoder = new TextEncoder();
    this.isSent = false;
    try {
      for await (const piece of source) yield typeof piece === 'string' ? encoder.encode(piece) : piece;
      this.isSent = true;
    } catch (error) {
      this.failure = { error };
      throw error;
    }
  }
}
