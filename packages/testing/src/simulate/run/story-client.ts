import type { ConnectedClient } from 'riata/client';

/** A client whose calls are followed by something: `after` gets the answer to come, and gives what the caller waits for. */
export function storyClient(
  connected: ConnectedClient,
  before: () => number,
  after: (call: Promise<unknown>, before: number) => Promise<unknown>,
): ConnectedClient {
  return new Proxy(connected, {
    get: (client, name) => {
      const value: unknown = Reflect.get(client, name, client);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const known = before();
        const result: unknown = value.apply(client, args);
        return result instanceof Promise ? after(result, known) : result;
      };
    },
  });
}
