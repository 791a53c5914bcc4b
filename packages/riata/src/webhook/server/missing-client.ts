import type { Client } from '../../client/interfaces.js';

/** Stands in for a client that was not given: using it says what to do. */
export function missingClient(): Client {
  return new Proxy({} as Client, {
    get(_, name) {
      throw new TypeError(`WebhookServer: a webhook uses client.${String(name)}; give the server a client`);
    },
  });
}
