// informer.mjs <server> <events>: an informer of Pods until so many events have come;
// its handler reads metadata.name and spec.nodeName.
import { createClient } from 'riata';
import { listWatch, SharedIndexInformer } from 'riata/cache';
import { Pod } from 'riata/kinds';
import { InformerMeter } from '../informer-meter.mjs';

const [server, events] = process.argv.slice(2);
const meter = new InformerMeter(Number(events));
const client = createClient({ server });
const informer = new SharedIndexInformer(listWatch(client, Pod), { kind: Pod });
const handler = {
  onAdd: ({ metadata, spec }) => meter.take(metadata.name, spec.nodeName),
  onUpdate: (_, { metadata, spec }) => {
    meter.take(metadata.name, spec.nodeName);
    meter.event();
  },
};
// Loads what the first request loads, which is measured by first-list.mjs.
await client.list(Pod, { namespace: 'default' });
const registration = informer.addEventHandler(handler);
await meter.begin();
void informer.run({ signal: new AbortController().signal });
await registration.synced();
await meter.synced(() => informer.getStore().listKeys().length);
