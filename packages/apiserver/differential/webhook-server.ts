import { Buffer } from 'node:buffer';
import { once } from 'node:events';
import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { createAuthority, systemClock } from 'riata/runtime';

/** A review as it came, freely looked into. */
// biome-ignore lint/suspicious/noExplicitAny: reviews are looked into freely
type Review = any;

/** What a webhook answers: a response, put into the review that it belongs to, or a body of its own. */
export type HookAnswer =
  | { readonly response: object }
  | { readonly status?: number; readonly type?: string; readonly body: string }
  | 'never';

/** Answers reviews by the path that they are sent to. */
export type Hooks = Readonly<Record<string, (review: Review) => HookAnswer>>;

/** An HTTPS server whose webhooks both servers call. */
export interface WebhookServer {
  /** `clientConfig` of the webhook under a path. */
  client(path: string): { readonly url: string; readonly caBundle: string };
  /** `clientConfig` of a webhook whose certificate cannot be verified. */
  strangers(path: string): { readonly url: string; readonly caBundle: string };
  readonly port: number;
  close(): Promise<void>;
}

export async function startWebhooks(hooks: Hooks): Promise<WebhookServer> {
  const now = systemClock.now();
  const validity = { notBefore: new Date(now - 3_600_000), notAfter: new Date(now + 36_000_000) };
  const [authority, other] = [createAuthority('hooks', validity), createAuthority('other', validity)];
  const server = createServer(authority.issue('hooks', ['localhost', '127.0.0.1']), async (request, response) => {
    let text = '';
    for await (const piece of request) text += piece;
    const review: Review = JSON.parse(text);
    const { pathname } = new URL(request.url ?? '/', 'https://x');
    const answer = hooks[pathname]?.(review) ?? { status: 404, type: 'text/plain', body: 'no such hook' };
    if (answer === 'never') return;
    if ('response' in answer) {
      const { apiVersion, kind } = review;
      const reply = { apiVersion, kind, response: { uid: review.request.uid, ...answer.response } };
      response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(reply));
      return;
    }
    const { status = 200, type = 'application/json', body } = answer;
    response
      .writeHead(status, type === '' ? {} : { 'content-type': type })
      .end(body.replaceAll('$UID', review.request.uid));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const client = (path: string, cert: string) => ({
    url: `https://127.0.0.1:${port}${path}`,
    caBundle: Buffer.from(cert).toString('base64'),
  });
  return {
    port,
    client: (path) => client(path, authority.cert),
    strangers: (path) => client(path, other.cert),
    async close() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}

export const allowed = { response: { allowed: true } };

export const denied = (status?: object): HookAnswer => ({ response: { allowed: false, status } });

/** A response that patches the object. */
export const patched = (...steps: readonly object[]): HookAnswer => ({
  response: { allowed: true, patchType: 'JSONPatch', patch: Buffer.from(JSON.stringify(steps)).toString('base64') },
});

/**
 * Denies with the request that was reviewed, without the values that differ between servers: the user, uids, revisions.
 */
export function echo({ apiVersion, request }: Review): HookAnswer {
  const { userInfo: _, uid: __, ...rest } = request;
  const plain = (value: unknown, key = ''): unknown => {
    if (Array.isArray(value)) {
      const list = value.map((one) => plain(one));
      return key === 'managedFields' ? list.map((one) => JSON.stringify(one)).sort() : list;
    }
    if (typeof value === 'object' && value !== null) {
      const entries = Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1));
      return Object.fromEntries(entries.map(([name, member]) => [name, plain(member, name)]));
    }
    if (typeof value === 'string' && ['uid', 'resourceVersion', 'creationTimestamp', 'time'].includes(key)) {
      return value === '' ? '' : `<${key}>`;
    }
    return key === 'deletionTimestamp' ? '<time>' : value;
  };
  return denied({ message: `${apiVersion} ${JSON.stringify(plain(rest))}` });
}
