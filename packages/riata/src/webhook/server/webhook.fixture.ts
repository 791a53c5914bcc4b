import { Buffer } from 'node:buffer';
import { connect as connect2 } from 'node:http2';
import { request as request1 } from 'node:https';
import type { SecureVersion } from 'node:tls';
import type { WebhookDefinition } from '../webhook-definition.js';
import type { WebhookAnswer, WebhookParts, WebhookRequest } from '../webhook-route.js';
import { addWebhook } from './add-webhook.js';

/** A webhook with one path and a scripted answer. */
export function webhookAt(
  path: string,
  answer: (request: WebhookRequest, parts: WebhookParts) => WebhookAnswer | Promise<WebhookAnswer>,
  more: Partial<WebhookDefinition> = {},
): WebhookDefinition {
  const definition: WebhookDefinition = {
    name: path.slice(1),
    readKinds: [],
    targets: [],
    bind: (parts) => [{ path, answer: async (request) => answer(request, parts) }],
    addTo: (manager) => addWebhook(manager, definition),
    ...more,
  };
  return definition;
}

/** Says what it got. */
export const echo = ({ body }: WebhookRequest): WebhookAnswer => ({
  status: 200,
  body: JSON.stringify({ got: Buffer.from(body).toString() }),
});

interface Asked {
  readonly method?: string;
  readonly body?: string | Buffer;
  readonly headers?: Readonly<Record<string, string>>;
  readonly ca?: string;
  readonly versions?: { readonly minVersion?: SecureVersion; readonly maxVersion?: SecureVersion };
}

export interface Answered {
  readonly status: number;
  readonly body: string;
  readonly headers: Readonly<Record<string, string | string[] | number | undefined>>;
}

/** One request by HTTP/1.1, on a connection of its own. */
export function ask1(
  url: string,
  { method = 'POST', body = '', headers, ca, versions }: Asked = {},
): Promise<Answered> {
  return new Promise((resolve, reject) => {
    const trust = ca === undefined ? { rejectUnauthorized: false } : { ca };
    const sent = request1(url, { method, headers, agent: false, ...trust, ...versions }, (response) => {
      const pieces: Buffer[] = [];
      response.on('data', (piece: Buffer) => pieces.push(piece));
      response.on('end', () =>
        resolve({
          status: response.statusCode ?? 0,
          body: Buffer.concat(pieces).toString(),
          headers: response.headers as Answered['headers'],
        }),
      );
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });
}

/** One request by HTTP/2, on a connection of its own. */
export function ask2(url: string, { method = 'POST', body = '', headers, ca }: Asked = {}): Promise<Answered> {
  const { origin, pathname, search } = new URL(url);
  return new Promise((resolve, reject) => {
    const session = connect2(origin, ca === undefined ? { rejectUnauthorized: false } : { ca });
    session.on('error', reject);
    const stream = session.request({ ':method': method, ':path': `${pathname}${search}`, ...headers });
    let answered: Answered['headers'] = {};
    const pieces: Buffer[] = [];
    stream.on('response', (response) => {
      answered = response as Answered['headers'];
    });
    stream.on('data', (piece: Buffer) => pieces.push(piece));
    stream.on('error', reject);
    stream.on('end', () => {
      session.close();
      resolve({ status: Number(answered[':status']), body: Buffer.concat(pieces).toString(), headers: answered });
    });
    if (method !== 'GET') stream.end(body);
  });
}
