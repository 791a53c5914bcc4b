import http from 'node:http';
import https from 'node:https';

/** A request to a forwarded port. */
export interface ForwardedRequest {
  readonly method?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly signal: AbortSignal;
}

/**
 * Sends a request to a forwarded port and resolves when its headers have come. Any certificate is accepted: its name is
 * another one, and the API server has led to the right Pod.
 */
export function forwardedRequest(url: string, given: ForwardedRequest): Promise<http.IncomingMessage> {
  const { method = 'GET', headers = {}, body, signal } = given;
  return new Promise((resolve, reject) => {
    const options = { method, headers, signal, agent: false } as const;
    const request = url.startsWith('https:')
      ? https.request(url, { ...options, rejectUnauthorized: false }, resolve)
      : http.request(url, options, resolve);
    request.on('error', reject);
    request.end(body);
  });
}

/** Reads a JSON answer; undefined for any other one. */
export async function jsonOf(answer: http.IncomingMessage): Promise<unknown> {
  let text = '';
  for await (const part of answer.setEncoding('utf8')) text += part;
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
