import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, test } from 'vitest';
import {
  Cache,
  createIndexer,
  createStore,
  DeltaFIFO,
  ExpirationCache,
  listWatch,
  OrderedFIFO,
  Reflector,
  SharedIndexInformer,
  SharedInformerFactory,
} from './cache/index.js';
import { createClient, mergeFrom } from './client/index.js';
import {
  Controller,
  channelSource,
  control,
  createOrUpdate,
  cronSource,
  enqueueRequestForOwner,
  intervalSource,
  kindSource,
  pollerSource,
  retryOnError,
  waitFor,
} from './controller/index.js';
import { ConfigMap, Pod } from './kinds/index.js';
import { EventBroadcaster, LeaderElector, LeaseLock, Manager, ShardRing } from './manager/index.js';
import { defineKind, setControllerReference } from './object/index.js';
import {
  Apply,
  Controllers,
  computeStatus,
  installCrds,
  rbacManifests,
  registerGeneratingHandler,
  registerStatusHandler,
  summarize,
  waitServed,
} from './patterns/index.js';
import { bucketRateLimiter, itemExponentialFailureRateLimiter, WorkQueue } from './queue/index.js';
import {
  httpTransport,
  kubeconfigFor,
  loadConfig,
  nodeTransport,
  scriptedTransport,
  staticCredentials,
} from './rest/index.js';
import { consoleLogger, resolveRuntime, silentLogger, VirtualClock } from './runtime/index.js';
import { DynamicController, SharedCacheFactory, SharedControllerFactory, sharedKind } from './shared/index.js';

import {
  admit,
  allowed,
  authenticates,
  authorizes,
  WebhookServer,
  webhookManifests,
  webhookRights,
} from './webhook/index.js';

/** An unknown option. The compiler refuses it as well, so it is cast. */
const wrong = { notAnOption: 1 } as never;
const runtime = { log: silentLogger, clock: new VirtualClock() };
const config = { server: 'http://127.0.0.1:1' };
const client = createClient(config, { runtime });
const key = { namespace: 'shop', name: 'cart' };
const configMap = ConfigMap({ metadata: key });
const shared = () => new SharedControllerFactory(client, { runtime });
const controller = () => new Controllers(shared()).for(ConfigMap);
const election = { namespace: 'shop', name: 'lease', ...(wrong as object) } as never;
const informer = (options?: never) => new SharedIndexInformer(listWatch(client, Pod), options);

/** Every public way to give options, by what errors call it. */
const entries: Readonly<Record<string, () => unknown>> = {
  Manager: () => new Manager({ config, ...(wrong as object) }),
  'Manager.create': () => Manager.create({ config, ...(wrong as object) }),
  'Manager: controllers': () => new Manager({ config, runtime, controllers: wrong }),
  'Manager: leaderElection': () => new Manager({ config, runtime, leaderElection: election }),
  'Manager: sharding': () => new Manager({ config, runtime, sharding: election }),
  'Manager: health': () => new Manager({ config, runtime, health: wrong }),
  'Manager: metrics': () => new Manager({ config, runtime, metrics: wrong }),
  'Manager: webhooks': () => new Manager({ config, runtime, webhooks: wrong }),
  'Manager: webhooks: service': () => new Manager({ config, runtime, webhooks: { service: wrong } }),
  'Manager: webhooks: certificates': () => new Manager({ config, runtime, webhooks: { certificates: wrong } }),
  WebhookServer: () => new WebhookServer({ client, ...(wrong as object) }),
  webhookManifests: () => webhookManifests([], { name: 'a', namespace: 'b', ...(wrong as object) }),
  webhookRights: () => webhookRights([], { name: 'a', namespace: 'b', ...(wrong as object) }),
  'Manager: cache': () => new Manager({ config, runtime, cache: wrong }),
  'Manager: clientOptions': () => new Manager({ config, runtime, clientOptions: wrong }),
  'Manager: events': () => new Manager({ config, runtime, events: wrong }),
  'Manager: runtime': () => new Manager({ config, runtime: wrong }),
  EventBroadcaster: () => new EventBroadcaster(client, wrong),
  'EventBroadcaster: correlator': () => new EventBroadcaster(client, { runtime, correlator: wrong }),
  LeaseLock: () => new LeaseLock(client, election),
  LeaderElector: () => new LeaderElector(wrong),
  ShardRing: () => new ShardRing(wrong),
  control: () => control(Pod, wrong),
  'control.owns': () => control(ConfigMap).owns(Pod, wrong),
  'control.watches': () => control(ConfigMap).watches(Pod, () => [], wrong),
  'control.finalize': () => control(ConfigMap).finalize(() => {}, wrong),
  Controller: () => new Controller('web', { reconcile: () => {}, ...(wrong as object) }),
  channelSource: () => channelSource([] as never, wrong),
  cronSource: () => cronSource('* * * * *', () => [], wrong),
  intervalSource: () => intervalSource('1m', () => [], wrong),
  pollerSource: () => pollerSource(wrong),
  kindSource: () => kindSource(new Cache(client, { runtime }), Pod, () => {}, wrong),
  enqueueRequestForOwner: () => enqueueRequestForOwner(Pod, wrong),
  retryOnError: () =>
    retryOnError(
      () => true,
      () => {},
      wrong,
    ),
  waitFor: () => waitFor(client, Pod, key, () => true, wrong),
  createOrUpdate: () => createOrUpdate(client, ConfigMap, key, () => {}, wrong),
  createClient: () => createClient(config, wrong),
  'createClient: config': () => createClient({ ...config, ...(wrong as object) }),
  'client.get': () => client.get(Pod, key, wrong),
  'client.find': () => client.find(Pod, key, wrong),
  'client.list': () => client.list(Pod, wrong),
  'client.each': () => client.each(Pod, wrong),
  'client.pages': () => client.pages(Pod, wrong),
  'client.watch': () => client.watch(Pod, wrong),
  'client.retryingWatch': () => client.retryingWatch(Pod, wrong),
  'client.create': () => client.create(configMap, wrong),
  'client.update': () => client.update(configMap as never, wrong),
  'client.patch': () => client.patch(Pod, key, { type: 'merge', body: {} }, wrong),
  'client.apply': () => client.apply(configMap, { fieldManager: 'test', ...(wrong as object) }),
  'client.delete': () => client.delete(Pod, key, wrong),
  'client.deleteCollection': () => client.deleteCollection(Pod, wrong),
  'client.table': () => client.table(Pod, wrong),
  'client.logs': () => client.logs(key, wrong),
  'client.status.patch': () => client.status.patch(Pod, key, { type: 'merge', body: {} }, wrong),
  'client.subresource.get': () => client.subresource('scale').get(Pod, key, wrong),
  mergeFrom: () => mergeFrom(configMap as never, configMap as never, wrong),
  Cache: () => new Cache(client, wrong),
  'cache.use': () => new Cache(client, { runtime }).use(Pod, wrong),
  'cache.get': () => new Cache(client, { runtime }).get(Pod, key, wrong),
  'cache.list': () => new Cache(client, { runtime }).list(Pod, wrong),
  SharedIndexInformer: () => informer(wrong),
  addEventHandler: () => informer().addEventHandler({}, wrong),
  changes: () => informer().changes(wrong),
  SharedInformerFactory: () => new SharedInformerFactory(client, wrong),
  'SharedInformerFactory.forKind': () => new SharedInformerFactory(client).forKind(Pod, wrong),
  Reflector: () => new Reflector(listWatch(client, Pod), createStore() as never, wrong),
  listWatch: () => listWatch(client, Pod, wrong),
  createStore: () => createStore(wrong),
  createIndexer: () => createIndexer(wrong),
  OrderedFIFO: () => new OrderedFIFO(wrong),
  DeltaFIFO: () => new DeltaFIFO(wrong),
  ExpirationCache: () => new ExpirationCache(wrong),
  WorkQueue: () => new WorkQueue(wrong),
  'WorkQueue: priority': () => new WorkQueue({ priority: wrong }),
  itemExponentialFailureRateLimiter: () => itemExponentialFailureRateLimiter(wrong),
  bucketRateLimiter: () => bucketRateLimiter(wrong),
  defineKind: () =>
    defineKind({ group: 'example.com', version: 'v1', kind: 'Foo', spec: {}, ...(wrong as object) } as never),
  setControllerReference: () => setControllerReference({} as never, configMap as never, wrong),
  httpTransport: () => httpTransport(config, wrong),
  nodeTransport: () => nodeTransport(config, wrong),
  kubeconfigFor: () => kubeconfigFor(wrong),
  loadConfig: () => loadConfig(wrong),
  scriptedTransport: () => scriptedTransport(() => ({}) as never, wrong),
  staticCredentials: () => staticCredentials(wrong),
  resolveRuntime: () => resolveRuntime(wrong),
  consoleLogger: () => consoleLogger(wrong),
  VirtualClock: () => new VirtualClock(wrong),
  SharedControllerFactory: () => new SharedControllerFactory(client, wrong),
  SharedCacheFactory: () => new SharedCacheFactory(client, wrong),
  sharedKind: () => sharedKind(Pod, wrong),
  'SharedControllerFactory.dedicated': () => shared().dedicated('web', Pod, () => undefined as never, wrong),
  'SharedControllerFactory.start': () => shared().start(wrong),
  DynamicController: () => new DynamicController(shared(), wrong),
  registerHandler: () => controller().registerHandler('web', () => undefined as never, wrong),
  onRemove: () => controller().onRemove('web', () => undefined as never, wrong),
  registerStatusHandler: () => registerStatusHandler(controller(), wrong, () => ({})),
  registerGeneratingHandler: () => registerGeneratingHandler(controller(), {} as never, wrong, () => ({}) as never),
  Controllers: () => new Controllers(shared(), wrong),
  Apply: () => new Apply(client, wrong),
  'Apply.apply': () => new Apply(client, { runtime }).apply([], wrong),
  'Apply.with': () => new Apply(client, { runtime }).with(wrong),
  installCrds: () => installCrds(client, [], wrong),
  waitServed: () => waitServed(client, Pod, wrong),
  rbacManifests: () => rbacManifests([], wrong),
  computeStatus: () => computeStatus(configMap, wrong),
  summarize: () => summarize(configMap, wrong),
  admit: () => admit(Pod, wrong),
  'admit.any': () => admit.any(wrong),
  'admit.any: options': () => admit.any({}, wrong),
  'admit.mutates': () => admit(Pod).mutates(wrong, () => {}),
  'admit.validates': () => admit(Pod).validates(wrong, () => {}),
  authenticates: () => authenticates(() => undefined, wrong),
  authorizes: () => authorizes(() => 'allow', wrong),
  'admit.handles': () => admit(Pod).handles({ type: 'mutating', ...(wrong as object) }, () => allowed()),
};

describe('an unknown option is refused by', () => {
  test.each(Object.keys(entries))('%s', async (name) => {
    const call = async () => entries[name]?.();
    await expect(call()).rejects.toThrow(/: unknown option "notAnOption"; known options are /);
  });
});

/** Options that are not checked: those of calls by the framework alone, of single bytes and keys, and of one signal. */
const unchecked = new Set([
  ...[
    'AddOptions',
    'CallOptions',
    'DecodeOptions',
    'ExchangeOptions',
    'ListStreamOptions',
    'PageOptions',
    'PopOptions',
  ],
  ...['SendOptions', 'TimerOptions', 'WaitOptions', 'WatchStreamOptions', 'WriteOptions'],
  ...['ElectionRunOptions', 'FenceOptions', 'LockOptions', 'RequestQueueOptions', 'ShardRunOptions', 'SourceOptions'],
  ...['HandlerErrorOptions', 'TransportErrorOptions', 'ListDecodeOptions', 'WatchDecodeOptions', 'BodyReaderOptions'],
  ...['ExchangerOptions', 'FilteringOptions', 'MergeSchemaOptions', 'OwnWritesOptions', 'PlacingOptions'],
  ...['SetApplyOptions', 'AuthOptions', 'LinkOptions', 'OnWriteOptions'],
  // Sent by API servers.
  ...['AdmissionCallOptions', 'PodAttachOptions', 'PodExecOptions', 'PodPortForwardOptions', 'ProxyOptions'],
]);

test('every exported options type has its names listed', () => {
  const src = dirname(fileURLToPath(import.meta.url));
  const texts = readdirSync(src, { recursive: true, encoding: 'utf8' })
    .filter((path) => path.endsWith('.ts') && !/\.(test|test-d|fixture)\.ts$|generated/.test(path))
    .map((path) => ({ path, text: readFileSync(join(src, path), 'utf8') }));
  const listed = new Set(
    texts.flatMap(({ text }) => [...text.matchAll(/(?:optionNames|\.and)<\s*(\w+)/g)].map(([, name]) => name)),
  );
  const exported = texts
    .filter(({ path }) => path.endsWith('index.ts'))
    .flatMap(({ text }) => [...text.matchAll(/\b[A-Z]\w+Options\b/g)].map(([name]) => name));
  const missing = [...new Set(exported)].filter((name) => !listed.has(name) && !unchecked.has(name));
  expect(missing).toEqual([]);
});
