import { control, defineKind, isControlledBy, type KindOf } from 'riata';
import { Deployment } from 'riata/kinds';
import { z } from 'zod';

/** A Deployment of this name and size: kind, type and CustomResourceDefinition in one. */
export const Foo = defineKind({
  group: 'samplecontroller.riata.dev',
  version: 'v1',
  kind: 'Foo',
  spec: z.object({ deploymentName: z.string().min(1), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
  // The Deployment of the old name would stay.
  rules: [
    {
      require: ({ self, oldSelf }) => self.deploymentName.equals(oldSelf.deploymentName),
      message: 'deploymentName cannot be changed',
    },
  ],
  printerColumns: [
    { name: 'Desired', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
  ],
});
export interface Foo extends KindOf<typeof Foo> {}

/**
 * Creates the Deployment of each Foo and reports its availability in the Foo's status. Runs when a Foo or one of its
 * Deployments changes; no-op writes are skipped.
 */
export const foos = control(Foo)
  .owns(Deployment)
  .reconcile(async ({ object: foo, client, apply, status, event }) => {
    const { namespace } = foo.metadata;
    const name = foo.spec.deploymentName;
    const found = await client.find(Deployment, { namespace, name });
    if (found !== undefined && !isControlledBy(found, foo)) {
      const message = `Deployment ${name} already exists and is not controlled by this Foo`;
      event({ type: 'Warning', reason: 'ErrResourceExists', message });
      // Also sets Ready to false. Retried with backoff, since the other Deployment may be deleted.
      throw new Error(message);
    }
    const deployment = await apply(Deployment({ metadata: { name }, spec: podsFor(foo) }));
    if (found === undefined) event({ type: 'Normal', reason: 'Created', message: `created Deployment ${name}` });
    const availableReplicas = deployment.status.availableReplicas ?? 0;
    const isComplete = availableReplicas >= foo.spec.replicas;
    await status({
      availableReplicas,
      conditions: [
        {
          type: 'Available',
          status: isComplete ? 'True' : 'False',
          reason: isComplete ? 'AllReplicasAvailable' : 'ReplicasMissing',
          message: `${availableReplicas} of ${foo.spec.replicas} replicas are available`,
        },
      ],
    });
  });

function podsFor(foo: Foo) {
  const labels = { app: 'nginx', controller: foo.metadata.name };
  return {
    replicas: foo.spec.replicas,
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:1.29' }] } },
  };
}
