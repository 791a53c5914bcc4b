import { type Client, Lister, type Logger, listWatch, SharedIndexInformer, splitKey, WorkQueue } from 'riata';
import { Pod } from 'riata/kinds';
import { onAbort } from 'riata/runtime';

/**
 * Logs the node that each Pod is scheduled on, until the signal aborts: a controller built from its parts, as in client-go.
 * An informer caches all Pods and reports changes; a queue holds the key of each changed Pod once, however often it
 * changed; workers take one key at a time and read the Pod's current state.
 */
export async function logPods(
  client: Client,
  { log, signal, workers = 2 }: { readonly log: Logger; readonly signal: AbortSignal; readonly workers?: number },
): Promise<void> {
  const informer = new SharedIndexInformer(listWatch(client, Pod), { kind: Pod, runtime: { log } });
  const queue = new WorkQueue({ name: 'pods', log });
  informer.addEventHandler({ onChange: ({ key }) => queue.add(key) });
  const pods = new Lister(informer.getIndexer(), Pod);

  const nodes = new Map<string, string>();

  using _ = onAbort(signal, () => queue.shutDown());
  const running = informer.run({ signal });
  // Workers start when the cache is complete. Rejects if the signal aborts before that.
  await informer.synced().catch(() => {});
  await Promise.all([running, ...Array.from({ length: workers }, work)]);

  async function work(): Promise<void> {
    for await (const { key } of queue) {
      try {
        logNode(key);
        queue.forget(key);
      } catch (error) {
        log.error('logging the Pod failed, retrying', { pod: key, error });
        queue.addRateLimited(key);
      }
    }
  }

  /** Level-triggered: acts on the current state, whatever changed. */
  function logNode(key: string): void {
    const { namespace = '', name } = splitKey(key);
    const pod = pods.namespace(namespace).find(name);
    const node = pod?.spec.nodeName;
    if (pod === undefined) {
      if (nodes.delete(key)) log.info('deleted', { pod: key });
    } else if (node !== undefined && nodes.get(key) !== node) {
      nodes.set(key, node);
      log.info('scheduled', { pod: key, node });
    }
  }
}
