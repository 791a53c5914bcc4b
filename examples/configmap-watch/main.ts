import type { Client } from 'riata';
import { ConfigMap } from 'riata/kinds';

/**
 * Prints what happens to the ConfigMaps of a namespace until the signal aborts: what `kubectl get configmaps --watch
 * --output-watch-events` does. It begins with what is there, and goes on when the connection breaks or the server
 * restarts; `kubectl` ends then.
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
      // At the start; and again if the server no longer knows what happened while the connection was broken.
      case 'RESET':
        print('what there is:');
        break;
      case 'SYNCED':
        print('what changes:');
        break;
    }
  }
}
