import { ignoreNotFound, loadConfig, Manager, silentLogger } from 'riata';
import { ConfigMap, Secret } from 'riata/kinds';
import { DynamicController, HandlerTransaction, IgnoreError, SharedControllerFactory } from 'riata/shared';
import { expect, test, vi } from 'vitest';

const log = silentLogger;

test('shared handlers', async () => {
  const seen: string[] = [];
  const stop = new AbortController();
  const { signal } = stop;
  await using factory = await SharedControllerFactory.fromConfig(await loadConfig(), { runtime: { log } });
  const configMaps = factory.forKind(ConfigMap); // nothing is listed or watched yet
  configMaps.registerHandler(
    'stamp',
    async (_key, map, { client }) => {
      if (map?.metadata.labels?.stamp !== 'requested') throw new IgnoreError('not requested');
      const body = { metadata: { labels: { stamp: 'done' } } };
      return client.patch(map.metadata, { type: 'merge', body }); // the next handler sees the answer
    },
    { signal },
  );
  configMaps.registerHandler(
    'report',
    (key, map) => {
      seen.push(`${key} ${map === undefined ? 'is gone' : map.metadata.labels?.stamp}`);
    },
    { signal },
  );
  await factory.start({ workers: 5, signal });
  const client = factory.clients.forKind(ConfigMap);
  const metadata = { namespace: 'default', name: 'stamped', labels: { stamp: 'requested' } };
  await client.create(ConfigMap({ metadata }));
  await vi.waitFor(() => expect(seen).toContain('default/stamped done'), 45_000);

  const rotate = () => void seen.push('rotated');
  const audit = (what: string) => void (what === 'ConfigMap default/stamped' && seen.push('audited'));
  configMaps.enqueue({ namespace: 'default', name: 'stamped' });
  configMaps.enqueueAfter({ namespace: 'default', name: 'stamped' }, '5m');

  const transaction = new HandlerTransaction();
  const registration = factory.forKind(Secret).registerHandler('rotate', rotate, { transaction });
  transaction.commit(); // activates its handlers; rollback() drops them
  await registration.remove(); // removes a handler at any time

  const dynamic = new DynamicController(factory);
  dynamic.onChange(
    'audit',
    ({ kind }) => kind === 'ConfigMap',
    (kind, key) => audit(`${kind.kind} ${key}`),
    { signal },
  );
  await vi.waitFor(() => expect(seen).toContain('audited'), 45_000);
  await client.delete(metadata).catch(ignoreNotFound);
  await vi.waitFor(() => expect(seen).toContain('default/stamped is gone'), 45_000);
  stop.abort();
});

test('with a manager', async () => {
  const stop = new AbortController();
  const keys: string[] = [];
  const handler = (key: string) => void keys.push(key);
  const config = await loadConfig();
  await using manager = new Manager({ config, runtime: { log } });
  await using factory = SharedControllerFactory.fromManager(manager, { runtime: { log } });
  factory.forKind(ConfigMap).registerHandler('my-handler', handler);
  manager.add(factory, { stage: 'leader' }); // over the manager's connection, caches and leader election
  const ended = manager.run({ signal: stop.signal });
  await vi.waitFor(() => expect(keys).toContain('default/kube-root-ca.crt'), 45_000);
  stop.abort();
  await ended;
});
