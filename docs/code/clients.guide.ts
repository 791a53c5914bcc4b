// biome-ignore-all lint/suspicious/noConsole: code in guides prints.
import {
  createClient,
  defineKind,
  dryRun,
  edit,
  ignoreNotFound,
  inNamespace,
  isConflict,
  isNotFound,
  lines,
  loadConfig,
  makeKind,
  withFieldOwner,
} from 'riata';
import { fromLocal, inPod, toLocal } from 'riata/client';
import { ConfigMap, Deployment, Endpoints, Namespace, Pod, Service } from 'riata/kinds';
import type { Scale } from 'riata/kinds/types/autoscaling-v1';
import { expect, test, vi } from 'vitest';
import { z } from 'zod';
import { runningPod } from './cluster.js';

const log = vi.spyOn(console, 'log').mockImplementation(() => {});

test('clients', async () => {
  await using client = createClient(await loadConfig());
  await client.apply(Namespace({ metadata: { name: 'market' } }), { fieldManager: 'guide' });
  const prices = ConfigMap({ metadata: { namespace: 'market', name: 'prices' }, data: { apple: '1' } });
  const stored = await client.create(prices);
  const found = await client.get(ConfigMap, { namespace: 'market', name: 'prices' });
  const missing = await client.find(ConfigMap, { namespace: 'market', name: 'wages' }); // undefined
  const { items } = await client.list(Pod, { namespace: 'market', labelSelector: 'app=web' });
  for await (const pod of client.each(Pod, { limit: 500 })) console.log(pod.metadata.name);
  expect([found.metadata.uid, missing, items]).toEqual([stored.metadata.uid, undefined, []]);

  const edited = edit(found, (draft) => {
    draft.data = { ...draft.data, pear: '2' };
  });
  const updated = await client.update(edited); // 409 if the object has changed since
  await client.patch(ConfigMap, updated.metadata, { type: 'merge', body: { data: { pear: '3' } } });
  await client.apply(ConfigMap({ metadata: { namespace: 'market', name: 'prices' }, data: { plum: '4' } }), {
    fieldManager: 'guide',
  });
  try {
    await client.update(edited);
  } catch (error) {
    if (!isConflict(error)) throw error;
    console.log('conflict: the object has changed');
  }
  await client.delete(ConfigMap, { namespace: 'market', name: 'wages' }).catch(ignoreNotFound);
  expect(log).toHaveBeenCalledWith('conflict: the object has changed');
  const { data } = await client.get(ConfigMap, found.metadata);
  expect(data).toEqual({ apple: '1', pear: '3', plum: '4' });
  expect(await client.get(Pod, { namespace: 'market', name: 'a' }).catch(isNotFound)).toBe(true);

  const stop = new AbortController();
  const watch = client.retryingWatch(ConfigMap, { namespace: 'market', signal: stop.signal });
  for await (const change of watch) {
    console.log(change.type);
    if (change.type === 'ADDED' && change.object.metadata.name === 'prices') break;
  }
  stop.abort();
  expect(log).toHaveBeenCalledWith('ADDED');

  {
    await client.create(runningPod('market', 'web'));
    const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
    const pod = { namespace: 'market', name: 'web' };
    const who = await client.exec(pod, ['id']).text(); // throws an ExecError with exitCode and stderr

    await using ran = await client.exec(pod, ['sort'], { container: 'web', stdin: 'pear\napple\n' });
    for await (const bytes of ran.stdout) process.stdout.write(bytes);
    const { exitCode } = await ran.ended;
    const [[written] = []] = write.mock.calls;
    write.mockRestore();
    const [label, spec] = [{ app: 'page' }, { nodeName: 'node-1', containers: [{ name: 'web', image: 'nginx' }] }];
    const conditions = [{ type: 'Ready', status: 'True' }];
    await client.create(Pod({ metadata: { namespace: 'market', name: 'page', labels: label }, spec }));
    await client.status.patch(
      Pod,
      { namespace: 'market', name: 'page' },
      { type: 'merge', body: { status: { conditions } } },
    );
    await client.create(
      Service({ metadata: { namespace: 'market', name: 'web' }, spec: { selector: label, ports: [{ port: 80 }] } }),
    );
    await using to = await client.forward({ kind: Service, namespace: 'market', name: 'web' }, { ports: [[0, 80]] });
    const page = await fetch(to.url);
    expect(await page.text()).toBe('hello');
    const status = { containerStatuses: [{ name: 'web', image: 'n', imageID: '', ready: true, restartCount: 1 }] };
    await client.status.patch(Pod, { namespace: 'market', name: 'page' }, { type: 'merge', body: { status } });
    for await (const line of lines(await client.logs(pod, { tailLines: 10 }))) console.log(line);

    await using logs = await client.logs({ namespace: 'market', labelSelector: 'app=page' }, { follow: true });
    for await (const { pod, container, text } of logs) {
      console.log(pod, container, text);
      break;
    }
    expect(log).toHaveBeenCalledWith('page', 'web', 'ready');
    {
      const status = { podIP: '10.0.0.7', podIPs: [{ ip: '10.0.0.7' }] };
      await client.status.patch(Pod, pod, { type: 'merge', body: { status } });
      const addresses = [{ ip: '10.0.0.7', targetRef: { kind: 'Pod', ...pod } }];
      await client.create(Endpoints({ metadata: pod, subsets: [{ addresses, ports: [{ port: 8080 }] }] }));
      const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
      const metrics = await client.proxy({ ...pod, port: 9090 }, '/metrics').text(); // throws a ProxyError unless it is a success

      const service = { kind: Service, namespace: 'market', name: 'web', port: 80 };
      await using answer = await client.proxy(service, '/orders', { method: 'POST', body: '{"apples":3}' });
      for await (const bytes of answer) process.stdout.write(bytes);
      const [[written] = []] = write.mock.calls;
      write.mockRestore();
      expect([metrics, String(Buffer.from(written as Uint8Array))]).toEqual(['GET 9090/metrics', 'POST 8080/orders']);
    }
    // Tried with a node in packages/riata/behaviour/debug.test.ts.
    const debug = vi.spyOn(client, 'debug').mockImplementation(() => client.exec(pod, ['id']) as never);
    {
      const write = vi.spyOn(process.stdout, 'write').mockImplementation(() => true);
      await using shell = await client.debug(pod, { image: 'busybox', target: 'web', command: ['sh'], stdin: 'ps\n' });
      for await (const bytes of shell.stdout) process.stdout.write(bytes);
      write.mockRestore();
    }
    expect(debug).toHaveBeenCalledTimes(1);
    debug.mockRestore();
    // Tried with files in packages/riata/behaviour/copy.test.ts.
    const copy = vi.spyOn(client, 'copy').mockResolvedValue({ bytes: 0, files: 0 });
    await client.copy(fromLocal('./site'), inPod(pod, '/srv/site'), { verify: true });
    await client.copy(inPod(pod, '/var/log/app.log', { container: 'web' }), toLocal('./app.log'));
    expect(copy).toHaveBeenCalledTimes(2);
    copy.mockRestore();
    expect([who, exitCode, Buffer.from(written as Uint8Array).toString()]).toEqual(['root', 0, 'apple\npear\n']);
  }

  const market = inNamespace(withFieldOwner(client, 'guide'), 'market');
  await market.apply(ConfigMap({ metadata: { name: 'prices' }, data: { plum: '5' } }));
  await dryRun(market).delete(ConfigMap, { name: 'prices' }); // validated by the server, deletes nothing
  expect((await market.get(ConfigMap, { name: 'prices' })).data?.plum).toBe('5');

  const Fruit = defineKind({
    group: 'clients-guide.riata.dev',
    version: 'v1',
    kind: 'Fruit',
    spec: z.object({ price: z.int().min(0) }),
  });
  const Gadget = makeKind({
    group: 'example.com',
    version: 'v1',
    kind: 'Gadget',
    plural: 'gadgets',
    scope: 'Namespaced',
  });
  const named = await client.mapper.kindFor({ apiVersion: 'apps/v1', kind: 'Deployment' });
  expect([Fruit.plural, Gadget.plural, named.plural]).toEqual(['fruits', 'gadgets', 'deployments']);

  const key = { namespace: 'market', name: 'web' };
  const labels = { app: 'web' };
  const template = { metadata: { labels }, spec: { containers: [{ name: 'web', image: 'nginx' }] } };
  await client.create(Deployment({ metadata: key, spec: { selector: { matchLabels: labels }, template } }));
  await client.status.patch(Deployment, key, { type: 'merge', body: { status: { replicas: 1 } } });
  const scale = await client.subresource('scale').get<Scale>(Deployment, key);
  await client.subresource('scale').replace(Deployment, key, { ...scale, spec: { replicas: 3 } });
  expect((await client.get(Deployment, key)).spec?.replicas).toBe(3);
});
