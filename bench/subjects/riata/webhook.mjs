// webhook.mjs <folder>: a webhook server as Riata's users write it, with the certificate in the folder. It defaults a field
// of Widgets and of Pods, and denies what breaks a rule. Prints the port that it listens on.
import { join } from 'node:path';
import { Pod } from 'riata/kinds';
import { signalHandler } from 'riata/manager';
import { defineKind } from 'riata/object';
import { silentLogger } from 'riata/runtime';
import { admit, WebhookServer } from 'riata/webhook';

const [folder] = process.argv.slice(2);
const spec = { type: 'object', properties: { zone: { type: 'string' }, replicas: { type: 'integer' } } };
const Widget = defineKind({ group: 'bench.riata.dev', version: 'v1', kind: 'Widget', spec });

const widgets = admit(Widget)
  .mutates({ path: '/mutate-widgets' }, (widget) => {
    widget.spec.zone ??= 'a';
  })
  .validates({ path: '/validate-widgets' }, ({ object, old, deny, path }) => {
    if (old && old.spec.zone !== object.spec.zone) deny(path.spec.zone, 'is immutable');
    if (object.spec.replicas > 100) deny(path.spec.replicas, 'must be at most 100');
  });

const pods = admit(Pod)
  .mutates({ path: '/mutate-pods' }, (pod) => {
    pod.spec.priorityClassName ??= 'standard';
  })
  .validates({ path: '/validate-pods' }, ({ object, deny, path }) => {
    for (const [i, { image }] of object.spec.containers.entries()) {
      if (!image.startsWith('registry.example.com/')) {
        deny(path.spec.containers[i].image, 'must come from registry.example.com');
      }
    }
  });

using signals = signalHandler();
const server = new WebhookServer({
  webhooks: [widgets, pods],
  ...{ host: '127.0.0.1', port: 0, install: false },
  certificates: { certFile: join(folder, 'tls.crt'), keyFile: join(folder, 'tls.key') },
  runtime: { log: silentLogger },
});
const stopped = server.run(signals);
await server.listening;
process.stdout.write(`${new URL(server.url).port}\n`);
await stopped;
