import '../resource/kind-parts.fixture.js';
import { Buffer } from 'node:buffer';
import { type Logger, type Scheduler, silentLogger, systemClock, systemRandom } from 'riata/runtime';
import { TokenAuthenticator } from '../authentication/token-authenticator.js';
import { AccessControl } from '../authorization/access-control.js';
import { builtInResources } from '../resource/built-in/built-in-resource.js';
import { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import { ServedResources } from '../resource/resource-table.js';
import { MemoryStorage } from '../storage/memory-storage.js';
import { Dispatcher } from './dispatcher.js';
import type { Reply, ReplyHeaders } from './reply.js';
import type { ServerRequest } from './server-request.js';
import type { VerbAnswer, VerbHandlers } from './verb-handlers.js';

/** The call of a verb, as far as it can be compared. */
export interface Call {
  readonly verb: string;
  readonly resource: string;
  readonly subresource: string;
  readonly namespace: string;
  readonly name: string;
  readonly options: unknown;
  readonly body?: unknown;
}

export interface ToyOptions {
  readonly clock?: Scheduler;
  readonly log?: Logger;
  readonly handlers?: Partial<VerbHandlers>;
  readonly stopping?: AbortSignal;
}

/** A front with nothing behind it: it remembers what it was asked and answers with a fixed object. */
export function toyServer(options: ToyOptions = {}) {
  const calls: Call[] = [];
  const table = new ServedResources(builtInResources());
  table.setCustom('foos.example.com', customResources());
  const { clock = systemClock, log = silentLogger, stopping } = options;
  const handlers: VerbHandlers = { ...toyHandlers(calls), ...options.handlers };
  const storage = new MemoryStorage({ clock });
  const store = new ObjectStore(storage, systemRandom, () => {});
  const core = (plural: string) => table.find('', 'v1', plural) as Resource;
  const tokens = new TokenAuthenticator({ store, core, token: 'secret', now: () => clock.now() });
  const gate = new AccessControl(storage, tokens);
  const dispatcher = new Dispatcher({ table, handlers, gate, clock, log, stopping });
  return { calls, table, dispatcher, ask: (request: Partial<Asked>) => ask(dispatcher, request) };
}

export const toyObject = { kind: 'ConfigMap', apiVersion: 'v1', metadata: { name: 'toy' }, data: { a: '1' } };

function toyHandlers(calls: Call[]): VerbHandlers {
  const note =
    (verb: string, status: number) =>
    async (request: Parameters<VerbHandlers['get']>[0] & { readonly body?: unknown }): Promise<VerbAnswer> => {
      const { resource, subresource, namespace, name, options, body } = request as typeof request & { body?: unknown };
      const said = { namespace, name, options, ...(body === undefined ? {} : { body }) };
      calls.push({ verb, resource: resource.plural, subresource: subresource?.name ?? '', ...said });
      return { status, object: toyObject };
    };
  const simple = (verb: string, status = 200) => note(verb, status) as unknown as VerbHandlers['get'];
  return {
    get: simple('get'),
    list: simple('list') as unknown as VerbHandlers['list'],
    create: simple('create', 201) as unknown as VerbHandlers['create'],
    update: simple('update') as unknown as VerbHandlers['update'],
    delete: simple('delete') as unknown as VerbHandlers['delete'],
    connect: simple('connect') as unknown as VerbHandlers['connect'],
    deleteCollection: simple('deletecollection') as unknown as VerbHandlers['deleteCollection'],
    patch: async (request) => {
      const body = { [request.patch.kind]: request.patch.read() };
      return simple('patch')({ ...request, body } as unknown as Parameters<VerbHandlers['get']>[0]);
    },
    watch: async (request) => {
      await simple('watch')(request as unknown as Parameters<VerbHandlers['get']>[0]);
      request.reply.head(200, request.headers);
      request.reply.end();
    },
  };
}

function customResources(): readonly Resource[] {
  const model = builtInResources().find(({ plural }) => plural === 'deployments');
  if (model === undefined) throw new Error('there are no deployments');
  const { strategicPatch: _, ...schema } = model.schema;
  const [group, kind, plural] = ['example.com', 'Foo', 'foos'];
  return ['v1alpha1', 'v1'].map((version) => ({
    ...model,
    ...{ group, version, kind, plural, schema, apiVersion: `${group}/${version}`, storedAs: `${group}/v1` },
    ...{ listKind: 'FooList', singular: 'foo', shortNames: ['fo'], table: 'foos' },
    verbs: ['delete', 'deletecollection', 'get', 'list', 'patch', 'create', 'update', 'watch'],
    subresources: version === 'v1' ? [{ name: 'status', group, version, kind, verbs: ['get', 'patch', 'update'] }] : [],
  }));
}

interface Asked {
  readonly method: string;
  readonly path: string;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly body: string | Uint8Array;
  readonly signal: AbortSignal;
}

/** Asks a dispatcher without a transport between, with the token unless the headers say otherwise. */
export async function ask(dispatcher: Dispatcher, asked: Partial<Asked>): Promise<CollectedReply> {
  const { method = 'GET', path = '/', headers = {}, body = '', signal = new AbortController().signal } = asked;
  const request: ServerRequest = {
    method,
    path,
    headers: { authorization: 'Bearer secret', ...headers },
    body: typeof body === 'string' ? Buffer.from(body) : body,
    signal,
  };
  const reply = new CollectedReply();
  await dispatcher.handle(request, reply);
  return reply;
}

/** Keeps what is answered. */
export class CollectedReply implements Reply {
  status = 0;
  headers: ReplyHeaders = {};
  bytes = Buffer.alloc(0);
  started = false;
  ended = false;
  aborted = false;
  readonly bufferedBytes = 0;

  get text(): string {
    return this.bytes.toString('utf8');
  }

  /** The body as JSON. */
  get json(): Readonly<Record<string, unknown>> {
    return JSON.parse(this.text) as Readonly<Record<string, unknown>>;
  }

  /** The message of the Status in the body. */
  get message(): string {
    return String(this.json.message);
  }

  head(status: number, headers: ReplyHeaders): void {
    if (this.started) throw new Error('the head was sent twice');
    this.started = true;
    this.status = status;
    this.headers = headers;
  }

  write(bytes: Uint8Array): boolean {
    if (!this.started || this.ended) throw new Error('written before the head, or after the end');
    this.bytes = Buffer.concat([this.bytes, bytes]);
    return true;
  }

  end(): void {
    if (!this.started || this.ended) throw new Error('ended before the head, or twice');
    this.ended = true;
  }

  abort(): void {
    this.ended = true;
    this.aborted = true;
  }

  async drained(): Promise<void> {}
}
