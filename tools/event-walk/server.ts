// A server in a process of its own, which writes the object that the controller watches whenever it gets a message.
import { ApiServer, adminKubeconfig } from '@riata/apiserver';
import { createClient } from 'riata';
import { ConfigMap } from 'riata/kinds';

const server = await ApiServer.start();
const { url, ca } = await server.listen({ port: 0 });
const client = createClient(server.config);
process.on('message', (text) => {
  const source = ConfigMap({ metadata: { namespace: 'default', name: 'source' }, data: { text: String(text) } });
  void client.apply(source, { fieldManager: 'event-walk' });
});
process.send?.(adminKubeconfig({ url, ca, token: server.token }));
