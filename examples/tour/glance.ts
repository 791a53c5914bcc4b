import { createClient, edit, loadConfig } from 'riata';
import { ConfigMap, Pod } from 'riata/kinds';

await using client = createClient(await loadConfig());

const desired = ConfigMap({ metadata: { namespace: 'shop', name: 'prices' }, data: { apple: '1' } });
const stored = await client.apply(desired, { fieldManager: 'tour' });
const edited = edit(stored, (draft) => {
  draft.data = { apple: '2' };
});
await client.update(edited);

for await (const pod of client.each(Pod, { labelSelector: 'app=web' })) console.log(pod.metadata.name);

// Survives disconnects, 429, 5xx and expired watches.
for await (const change of client.retryingWatch(ConfigMap, { namespace: 'shop' })) console.log(change.type);
