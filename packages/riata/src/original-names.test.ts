import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

/** The names that people who come from Go search for: each must lead to the doc comment of its counterpart. */
const names = {
  object: [
    ...['runtime.Object', 'GetObjectKind', 'DeepCopyObject', 'schema.ObjectKind', 'SetGroupVersionKind'],
    ...['GroupVersionKind', 'TypeMeta', 'metav1.Object', 'meta.Accessor', 'metav1.List', 'ListMeta', 'RawExtension'],
    ...['runtime.Scheme', 'AddToScheme', 'clientgoscheme', 'GroupVersionResource', 'RESTMapping', 'client.ObjectKey'],
  ],
  rest: [
    ...['clientcmd.NewClientConfigFromBytes', 'clientcmd.NewDefaultClientConfig', 'GetConfigOrDie'],
    ...['clientcmd.NewNonInteractiveDeferredLoadingClientConfig', 'clientcmd.BuildConfigFromFlags'],
    ...['rest.InClusterConfig', 'rest.RESTClientFor', 'rest.RESTClient', 'APIVersion', 'Get', 'Post', 'Put', 'Patch'],
    ...['Delete', 'Verb', 'GetRateLimiter', 'flowcontrol.RateLimiter', 'rest.BackoffManager', 'rest.Request'],
    ...['AbsPath', 'BackOff', 'Body', 'Do', 'DoRaw', 'MaxRetries', 'Name', 'Namespace', 'NamespaceIfScoped', 'Param'],
    ...['Prefix', 'RequestURI', 'Resource', 'SetHeader', 'SpecificallyVersionedParams', 'Stream', 'SubResource'],
    ...['Suffix', 'Throttle', 'Timeout', 'URL', 'VersionedParams', 'WarningHandler', 'Watch', 'Result.Into'],
    ...['watch.Interface', 'ResultChan', 'Interface.Stop', 'watch.Event'],
  ],
  client: [
    ...['client.Reader', 'Get', 'List', 'client.Writer', 'Create', 'Delete', 'Update', 'Patch', 'DeleteAllOf'],
    ...['client.StatusClient', 'client.StatusWriter', 'client.SubResourceClient', 'client.FieldIndexer', 'IndexField'],
    ...['client.Client', 'RESTMapper', 'meta.RESTMapper', 'client.ListOption', 'client.CreateOption'],
    ...['client.NewDelegatingClient', 'CacheReader', 'UncachedObjects', 'ClientDisableCacheFor'],
  ],
  queue: [
    ...['AddAfter', 'AddRateLimited', 'NumRequeues', 'ShutDown', 'ShutDownWithDrain', 'NewNamedRateLimitingQueue'],
    ...['DefaultControllerRateLimiter', 'ItemExponentialFailureRateLimiter', 'ItemFastSlowRateLimiter'],
    ...['BucketRateLimiter', 'MaxOfRateLimiter', 'WithMaxWaitRateLimiter'],
  ],
  cache: [
    ...[
      'cache.ListerWatcher',
      'NewListWatchFromClient',
      'cache.Store',
      'cache.ThreadSafeStore',
      'cache.ExpirationCache',
    ],
    ...['cache.Indexer', 'Index', 'IndexKeys', 'ListIndexFuncValues', 'ByIndex', 'GetIndexers', 'AddIndexers'],
    ...[
      'MetaNamespaceIndexFunc',
      'cache.Queue',
      'Pop',
      'cache.PopProcessFunc',
      'AddIfNotPresent',
      'HasSynced',
      'Close',
    ],
    ...['cache.ErrRequeue', 'cache.FIFO', 'cache.DeltaFIFO', 'cache.Delta', 'cache.Deltas', 'cache.DeltaType'],
    ...['KeyListGetter', 'DeletedFinalStateUnknown', 'NewNamedReflector', 'LastSyncResourceVersion', 'cache.Config'],
    ...['Config.Queue', 'FullResyncPeriod', 'ShouldResync', 'RetryOnError', 'WatchErrorHandler', 'WatchListPageSize'],
    ...['cache.SharedInformer', 'AddEventHandler', 'AddEventHandlerWithResyncPeriod', 'RemoveEventHandler', 'GetStore'],
    ...['GetController', 'Run', 'SetWatchErrorHandler', 'SetTransform', 'cache.SharedIndexInformer', 'GetIndexer'],
    ...['ResourceEventHandlerFuncs', 'cache.FilteringResourceEventHandler', 'cache.WaitForCacheSync'],
    ...[
      'informers.SharedInformerFactory',
      'cache.Cache',
      'GetInformer',
      'GetInformerForKind',
      'RemoveInformer',
      'Start',
    ],
    ...['WaitForCacheSync', 'IndexField'],
  ],
  controller: [
    ...['reconcile.Reconciler', 'reconcile.Request', 'reconcile.Result', 'reconcile.TerminalError', 'controller.New'],
    ...['NewUnmanaged', 'MaxConcurrentReconciles', 'RateLimiter', 'Watch', 'source.Source', 'source.SyncingSource'],
    ...['Source.Start', 'NewQueue', 'MakeQueue', 'NewControllerManagedBy', 'For', 'Owns', 'Watches', 'WithOptions'],
    ...['Complete'],
  ],
  manager: [
    ...['manager.Manager', 'Add', 'GetClient', 'GetAPIReader', 'GetConfig', 'AddHealthzCheck', 'AddReadyzCheck'],
    ...['GetScheme', 'GetCache', 'GetFieldIndexer', 'GetEventRecorderFor', 'Elected', 'Start', 'SetupSignalHandler'],
  ],
  shared: [
    ...['SharedControllerFactory', 'NewSharedControllerFactoryFromConfig', 'ForObject', 'ForKind', 'ForResource'],
    ...['ForResourceKind', 'SharedCacheFactory', 'Start', 'SharedController', 'RegisterHandler', 'Client'],
    ...['SharedControllerHandlerFunc', 'controller.New', 'ErrIgnore', 'Enqueue', 'EnqueueKey', 'EnqueueAfter'],
    ...['Informer', 'SharedClientFactory', 'WithAgent', 'WithImpersonation', 'client.Client', 'cache.Cache'],
  ],
  patterns: [
    ...['Register…StatusHandler', 'Register…GeneratingHandler', 'GeneratingHandlerOptions', 'AllowCrossNamespace'],
    ...['AllowClusterScoped', 'NoOwnerReference', 'UniqueApplyForResourceVersion', 'relatedresource.Watch'],
    ...[
      'WatchClusterScoped',
      'relatedresource.OwnerResolver',
      'relatedresource.TriggerAllKey',
      'relatedresource.AllKey',
    ],
    ...['relatedresource.Resolver', 'relatedresource.Enqueuer', 'relatedresource.ControllerWrapper', 'generic.Updater'],
    ...[
      'generic.ControllerInterface',
      'generic.NonNamespacedControllerInterface',
      'generic.CacheInterface',
      'OnChange',
    ],
    ...['OnRemove', 'AddGenericHandler', 'AddGenericRemoveHandler', 'generic.NewRemoveHandler', 'AddIndexer'],
    ...['GetByIndex', 'Enqueue', 'EnqueueAfter', 'Informer', 'GroupVersionKind', 'NewFactoryFromConfig', 'start.All'],
    ...['apply.Apply', 'Apply', 'ApplyObjects', 'DryRun', 'FindOwner', 'PurgeOrphan', 'WithSetID', 'WithOwner'],
    ...['WithDefaultNamespace', 'WithListerNamespace', 'WithRestrictClusterScoped', 'WithSetOwnerReference'],
    ...['WithInjector', 'WithNoDelete', 'WithNoDeleteGVK', 'WithGVK', 'WithCacheTypes', 'WithStrictCaching'],
    ...['WithDynamicLookup', 'WithRateLimiting', 'WithDiffPatch', 'WithIgnorePreviousApplied', 'apply.Reconciler'],
    ...['apply.Patcher', 'apply.Plan', 'objectset.ObjectSet', 'name.SafeConcatName', 'name.Limit', 'yaml.ToObjects'],
    ...['yaml.Export', 'crd.Factory', 'crd.BatchCreateCRDs', 'needacert.Register'],
    ...['condition.Cond', 'condition.Error', 'SetError', 'MatchesError', 'CreateUnknownIfNotExists', 'GetLastUpdated'],
    ...['kstatus.SetError', 'kstatus.SetTransitioning', 'kstatus.SetActive', 'kstatus.Reconciling', 'kstatus.Stalled'],
    ...['kstatus.Compute', 'status.Result', 'summary.Summarize', 'summary.Summary', 'summary.SummarizeOptions'],
    ...[
      'summary.Summarizer',
      'summary.Relationship',
      'summary.NormalizeConditions',
      'Summary.IsReady',
      'Summary.String',
    ],
    ...['trigger.Trigger', 'trigger.New', 'OnTrigger', 'apply.Apply'],
  ],
} as const;

function docComments(folder: string): string {
  const root = fileURLToPath(new URL('.', import.meta.url));
  const files = readdirSync(root, { recursive: true, encoding: 'utf8' });
  return files
    .filter((file) => file.endsWith('.ts') && !/\.test(-d)?\.ts$/.test(file) && new RegExp(folder).test(file))
    .flatMap((file) => readFileSync(root + file, 'utf8').match(/\/\*\*[\s\S]*?\*\//g) ?? [])
    .join('\n');
}

test.each([
  ['object', '^(object|kinds)/'],
  ['rest', '^rest/'],
  ['client', '^client/'],
  ['shared', '^shared/'],
  ['patterns', '^patterns/'],
  ['queue', '^queue/'],
  ['cache', '^cache/'],
  ['controller', '^controller/'],
  ['manager', '^manager/'],
] as const)('the names of the originals are found in the doc comments of %s/', (layer, folders) => {
  const text = docComments(folders);
  const isFound = (name: string) => new RegExp(`[\`.]${name.replaceAll('.', '\\.')}[\`(.]`).test(text);
  expect(names[layer].filter((name) => !isFound(name))).toEqual([]);
});
