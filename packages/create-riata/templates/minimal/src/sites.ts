import { control } from 'riata';
import { Deployment } from 'riata/kinds';
import { Site } from './site.js';

/** Runs a Deployment for each Site, and reports its Pods in the status. */
export const sites = control(Site)
  .owns(Deployment)
  .reconcile(async ({ object: { metadata, spec }, apply, status }) => {
    const { name } = metadata;
    const labels = { 'app.kubernetes.io/name': name };
    const deployment = await apply(
      Deployment({
        metadata: { name, labels },
        spec: {
          replicas: spec.replicas,
          selector: { matchLabels: labels },
          template: { metadata: { labels }, spec: { containers: [{ name: 'main', image: spec.image }] } },
        },
      }),
    );
    await status({ availableReplicas: deployment.status.availableReplicas ?? 0 });
  });
