// The client in one page: apply, watch, patch, conflict, clean up.
import {
  createClient,
  edit,
  inNamespace,
  isConflict,
  type RestConfig,
  type RetryingWatchEvent,
  withFieldOwner,
} from 'riata';
import { ConfigMap, Namespace } from 'riata/kinds';

export async function tour(config: RestConfig, print: (line: string) => void): Promise<void> {
  await using client = createClient(config);
  const { gitVersion } = await client.discovery.serverVersion();
  print(`connected to Kubernetes ${gitVersion}`);

  const namespace = await client.create(Namespace({ metadata: { generateName: 'riata-tour-' } }));
  const here = withFieldOwner(inNamespace(client, namespace.metadata.name), 'tour');

  // A watch that survives a bad network. It starts with the existing objects; SYNCED marks their end.
  await using changes = here.retryingWatch(ConfigMap, { fieldSelector: { 'metadata.name': 'prices' } });
  let seen = Promise.resolve();
  await new Promise<void>((watching, failed) => {
    seen = follow(changes, print, watching);
    seen.catch(failed);
  });

  // Server-side apply states the desired fields; applied again, it is a no-op.
  const desired = ConfigMap({ metadata: { name: 'prices' }, data: { apple: '1' } });
  const first = await here.apply(desired);
  const again = await here.apply(desired, { current: first });
  print(`applied twice, stored once: ${first.metadata.resourceVersion === again.metadata.resourceVersion}`);

  // Objects are read-only. `edit` returns a copy; the server refuses it if the object has changed since.
  await here.patch(ConfigMap, { name: 'prices' }, { type: 'merge', body: { data: { pear: '2' } } });
  const late = edit(first, (draft) => {
    draft.data = { apple: '3' };
  });
  await here.update(late).catch((error: unknown) => {
    if (!isConflict(error)) throw error;
    print('conflict: the object has changed; read it again, or patch it');
  });

  await here.delete(ConfigMap, { name: 'prices' });
  await seen;
  await client.delete(Namespace, namespace.metadata);
}

async function follow(
  changes: AsyncIterable<RetryingWatchEvent<ConfigMap>>,
  print: (line: string) => void,
  watching: () => void,
): Promise<void> {
  for await (const change of changes) {
    if (change.type === 'BOOKMARK' || change.type === 'RESET') continue;
    if (change.type === 'SYNCED') watching();
    else print(`${change.type} ${change.object.metadata.name} ${JSON.stringify(change.object.data)}`);
    if (change.type === 'DELETED') return;
  }
}
