import { ConfigMap, Deployment, HorizontalPodAutoscaler, Service } from 'riata/kinds';
import {
  Apply,
  type Controllers,
  registerGeneratingHandler,
  registerStatusHandler,
  relatedResource,
  summarize,
} from 'riata/patterns';
import { App, objectsFor } from './app.js';

/**
 * Creates a Deployment, a Service, a ConfigMap and, if the App may scale, an autoscaler for every App, and summarizes them
 * in its status. Drift is corrected, objects that are no longer desired are pruned, and all of them go with the App.
 */
export function runApps(controllers: Controllers, { signal }: { readonly signal: AbortSignal }): void {
  const { clients, caches } = controllers.factory;
  const apps = controllers.for(App);
  const deployments = controllers.for(Deployment);
  const others = [controllers.for(Service), controllers.for(ConfigMap), controllers.for(HorizontalPodAutoscaler)];
  const parts = [deployments, ...others];
  const kinds = parts.map(({ kind }) => kind);
  const apply = new Apply(clients.client, { cache: caches.cache, kinds, lookup: 'given' });

  registerGeneratingHandler(apps, apply, { name: 'app-parts', condition: 'Deployed', signal }, (app) => ({
    objects: objectsFor(app),
  }));

  registerStatusHandler(apps, { name: 'app-summary', signal }, async ({ metadata }, status) => {
    const deployment = await deployments.cache.find(metadata);
    if (deployment === undefined) return { ...status, state: 'pending', message: '', replicas: 0 };
    const { state, message } = summarize(deployment);
    return { ...status, state, message: message.join(', '), replicas: deployment.status.availableReplicas ?? 0 };
  });

  // A change of one of the parts enqueues its App.
  relatedResource.watch('app-parts', relatedResource.ownerResolver(App), apps, parts, { signal });
}
