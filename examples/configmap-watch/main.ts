import type { Client } from 'riata';
import { ConfigMap } from 'riata/kinds';

/**
 * Prints changes of the ConfigMaps in a namespace until the signal aborts, as `kubectl get configmaps --watch
 * --output-watch-events` does. It starts with the existing objects, and survives broken connections and restarts of the
 * server; `kubectl` exits then.
 */
export async function watchConfigMaps(
  client: Client,
  print: (line: string) => void,
  { namespace, signal }: { readonly namespace: string; readonly signal: AbortSignal },
): Promise<void> {
  const changes = client.retryingWatch(ConfigMap, { namespace });
  signal.addEventListener('abort', () => changes.stop());
  for await (const change of changes) {
    switch (change.type) {
      case 'ADDED':
      case 'MODIFIED':
      case 'DELETED':
        print(`${change.type} ${change.object.metadata.name} ${JSON.stringify(change.object.data ?? {})}`);
        break;
      // At the start, and again if the server has compacted the events since the connection broke.
      case 'RESET':
        print('existing:');
        break;
      case 'SYNCED':
        print('changes:');
        break;
    }
  }
}
