import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { Agent, request as sendTls } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { RestConfig } from 'riata/rest';
import type { Random } from 'riata/runtime';
import { Exchange, statusOf } from './faulty-exchange.js';
import type { FaultyNetwork, Mischief } from './faulty-network.js';

/** A request that came to the gateway. */
export interface GatewayRequest {
  readonly verb: 'list' | 'watch' | 'other';
  readonly method: string;
  readonly query: URLSearchParams;
}

/**
 * An HTTP gateway in front of a server that is reached over HTTPS. It knows requests and answers, so it can also give
 * wrong ones. Plain HTTP on the side of the client, without credentials: those are its own business.
 */
export interface FaultyGateway extends FaultyNetwork {
  /** All that came, in order. */
  readonly requests: readonly GatewayRequest[];
  /** How many of them are in flight. */
  readonly open: number;
  /** From now on, nothing passes on open watches, without an error. */
  swallowWatches(): void;
  /** The same for the next request, after so many bytes of its answer. */
  swallowNext(bytes: number): void;
}

export interface FaultyGatewayOptions {
  readonly config: RestConfig;
  readonly random: Random;
  /** How many requests have something bad done to them, from 0 to 1, until it is calmed. @default 0.3 */
  readonly share?: number;
}

export async function startFaultyGateway(options: FaultyGatewayOptions): Promise<FaultyGateway> {
  const { config, random } = options;
  const target = new URL(config.server);
  const [tls, authorization] = await Promise.all([config.credentials?.tls(), config.credentials?.authorization()]);
  const agent = new Agent({ keepAlive: true, ...(tls as object) });
  const exchanges = new Set<Exchange>();
  const requests: GatewayRequest[] = [];
  const done: Partial<Record<Mischief, number>> = {};
  let share = options.share ?? 0.3;
  let nextBytes: number | undefined;
  const count = (what: Mischief) => {
    done[what] = (done[what] ?? 0) + 1;
  };

  const server = createServer((near, answer) => {
    const seen = describe(near);
    requests.push(seen);
    const exchange: Exchange = new Exchange(near, answer, seen.verb === 'watch', () => exchanges.delete(exchange));
    exchanges.add(exchange);
    if (random.next() < share) {
      const what = random.pick(seen.verb === 'watch' ? forWatches : seen.verb === 'list' ? forLists : forWrites);
      count(what);
      if (answerInstead(what, answer)) return;
      exchange.suffer(what, random);
    }
    if (exchange.isOver) return;
    if (nextBytes !== undefined) exchange.swallow(nextBytes);
    nextBytes = undefined;
    const headers = { ...near.headers, host: target.host, ...(authorization && { authorization }) };
    const { hostname, port } = target;
    exchange.forward(sendTls({ hostname, port, path: near.url, method: near.method, headers, agent }));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    ...{ done, requests },
    get open() {
      return exchanges.size;
    },
    act() {
      for (const exchange of exchanges) {
        if (random.next() < 0.5) continue;
        const what = random.pick(exchange.isWatch ? forStreams : forWrites);
        if (what.startsWith('answer')) continue;
        count(what);
        exchange.suffer(what, random);
      }
    },
    calm() {
      share = 0;
    },
    swallowWatches() {
      for (const exchange of exchanges) if (exchange.isWatch) exchange.swallow();
    },
    swallowNext(bytes) {
      nextBytes = bytes;
    },
    async [Symbol.asyncDispose]() {
      for (const exchange of exchanges) exchange.end();
      agent.destroy();
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

const anywhere: readonly Mischief[] = ['reset', 'delay', 'truncate', 'stall', 'answer 429', 'answer 500', 'answer 502'];
const forStreams: readonly Mischief[] = ['reset', 'close', 'delay', 'truncate', 'stall', 'event 410', 'event 500'];
const forWrites: readonly Mischief[] = [...anywhere, 'lose'];
const forLists: readonly Mischief[] = [...anywhere, 'close', 'answer 410'];
const forWatches: readonly Mischief[] = [...anywhere, ...forStreams, 'answer 410'];

/** Answers in place of the server, if the script says so. */
function answerInstead(what: Mischief, answer: ServerResponse): boolean {
  const [kind, code] = what.split(' ');
  if (kind !== 'answer') return false;
  const isStatus = code !== '502';
  answer.writeHead(Number(code), {
    'content-type': isStatus ? 'application/json' : 'text/html',
    ...(code === '429' && { 'retry-after': '1' }),
  });
  answer.end(isStatus ? JSON.stringify(statusOf(Number(code))) : '<html><h1>502 Bad Gateway</h1></html>');
  return true;
}

function describe({ method = '', url = '' }: IncomingMessage): GatewayRequest {
  const { pathname, searchParams: query } = new URL(url, 'http://gateway');
  // Collections are plural, and no object of these tests has such a name.
  const isCollection = method === 'GET' && pathname.endsWith('s');
  const verb = !isCollection ? 'other' : query.has('watch') ? 'watch' : 'list';
  return { verb, method, query };
}
