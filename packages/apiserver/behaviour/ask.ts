import { request } from 'node:https';
import { controlPlaneFromEnv } from '../../../tools/control-plane/client.mjs';

/** What a server said. */
export interface Answer {
  readonly code: number;
  // biome-ignore lint/suspicious/noExplicitAny: answers are looked into freely by the tests
  readonly body: any;
  readonly warnings: readonly string[];
}

/** Sends one request to the real server as an administrator. A string is sent as it is. */
export function askReal(
  method: string,
  path: string,
  body?: unknown,
  contentType = 'application/json',
): Promise<Answer> {
  const { url, ca, token } = controlPlaneFromEnv();
  const headers = { authorization: `Bearer ${token}`, 'content-type': contentType };
  return new Promise((resolve, reject) => {
    const sent = request(new URL(path, url), { method, ca, headers }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (chunk) => {
        text += chunk;
      });
      response.on('end', () => {
        const warnings = [...String(response.headers.warning ?? '').matchAll(/299 - ("(?:[^"\\]|\\.)*")/g)].map((m) =>
          JSON.parse(m[1] as string),
        );
        resolve({ code: response.statusCode ?? 0, body: text.startsWith('{') ? JSON.parse(text) : text, warnings });
      });
    });
    sent.on('error', reject);
    sent.end(body === undefined ? undefined : typeof body === 'string' ? body : JSON.stringify(body));
  });
}
