import { control, defineKind, type KindOf, run } from 'riata';
import { Deployment } from 'riata/kinds';
import { z } from 'zod';

export const Foo = defineKind({
  group: 'samplecontroller.riata.dev',
  version: 'v1',
  kind: 'Foo',
  spec: z.object({ deploymentName: z.string(), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
});
export interface Foo extends KindOf<typeof Foo> {}

export const foos = control(Foo)
  .owns(Deployment)
  .reconcile(async ({ object: foo, apply, status }) => {
    const labels = { foo: foo.metadata.name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:1.29' }] } };
    // Owned by foo; no request if nothing would change.
    const deployment = await apply(
      Deployment({
        metadata: { name: foo.spec.deploymentName },
        spec: { replicas: foo.spec.replicas, selector: { matchLabels: labels }, template },
      }),
    );
    await status({ availableReplicas: deployment.status?.availableReplicas ?? 0 });
  });

await run(foos); // KUBECONFIG, in-cluster or ~/.kube/config; until SIGTERM
