import { Deployment } from 'riata/kinds';
import {
  Apply,
  type Controllers,
  registerGeneratingHandler,
  registerStatusHandler,
  relatedResource,
} from 'riata/patterns';
import { Site } from './site.js';

/** Generates a Deployment for each Site, and reports its Pods in the status. */
export function registerSites(controllers: Controllers): void {
  const { clients, caches, stopping: signal } = controllers.factory;
  const sites = controllers.for(Site);
  const deployments = controllers.for(Deployment);
  const apply = new Apply(clients.client, { cache: caches.cache, kinds: [Deployment], lookup: 'given' });

  registerGeneratingHandler(sites, apply, { name: 'deployment', condition: 'Deployed', signal }, (site) => ({
    objects: [deploymentFor(site)],
  }));
  registerStatusHandler(sites, { name: 'available', signal }, async ({ metadata }, status) => {
    const deployment = await deployments.cache.find(metadata);
    return { ...status, availableReplicas: deployment?.status.availableReplicas ?? 0 };
  });
  // A change of the Deployment enqueues its Site.
  relatedResource.watch('deployment', relatedResource.ownerResolver(Site), sites, [deployments], { signal });
}

function deploymentFor({ metadata: { name }, spec }: Site) {
  const labels = { 'app.kubernetes.io/name': name };
  return Deployment({
    metadata: { name, labels },
    spec: {
      replicas: spec.replicas,
      selector: { matchLabels: labels },
      template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: spec.image }] } },
    },
  });
}
