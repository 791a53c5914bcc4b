import type { Send } from './send.js';

/** Says who asks, unless the request does. */
export function withUserAgent(send: Send, userAgent: string): Send {
  return (request) =>
    request.headers['user-agent'] !== undefined
      ? send(request)
      : send({ ...request, headers: { ...request.headers, 'user-agent': userAgent } });
}
