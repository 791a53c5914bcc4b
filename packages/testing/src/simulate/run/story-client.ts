import type { ConnectedClient } from 'riata/client';

/** Gives what the caller of a client waits for, instead of the answer to come. */
export type AfterCall = (call: Promise<unknown>, before: number) => Promise<unknown>;

/** A client whose calls are followed by something, those of its subresources as well. */
export function storyClient(connected: ConnectedClient, before: () => number, after: AfterCall): ConnectedClient {
  return followed(connected, before, after);
}

function followed<T extends object>(target: T, before: () => number, after: AfterCall): T {
  return new Proxy(target, {
    get: (client, name) => {
      const value: unknown = Reflect.get(client, name, client);
      if (name === 'status') return followed(value as object, before, after);
      if (typeof value !== 'function') return value;
      return (...args: unknown[]) => {
        const known = before();
        const result: unknown = value.apply(client, args);
        if (result instanceof Promise) return after(result, known);
        return name === 'subresource' ? followed(result as object, before, after) : result;
      };
    },
  });
}
