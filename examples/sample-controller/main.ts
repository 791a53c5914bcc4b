import { control, defineKind, isControlledBy, type KindOf } from 'riata';
import { Deployment } from 'riata/kinds';
import { z } from 'zod';

/** Asks for a Deployment of this name and size: kind, type and CustomResourceDefinition in one. */
export const Foo = defineKind({
  group: 'samplecontroller.riata.dev',
  version: 'v1',
  kind: 'Foo',
  spec: z.object({ deploymentName: z.string().min(1), replicas: z.int().min(0).max(10).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
  printerColumns: [
    { name: 'Wanted', type: 'integer', jsonPath: '.spec.replicas' },
    { name: 'Available', type: 'integer', jsonPath: '.status.availableReplicas' },
  ],
});
export interface Foo extends KindOf<typeof Foo> {}

/**
 * Gives each Foo its Deployment, and the Foo's status what has become of it. Runs when a Foo or one of the Deployments
 * changes, whoever changed it; what is as it should be is not written again.
 */
export const foos = control(Foo)
  .owns(Deployment)
  .reconcile(async ({ object: foo, client, apply, status, event }) => {
    const { namespace } = foo.metadata;
    const name = foo.spec.deploymentName;
    const found = await client.find(Deployment, { namespace, name });
    if (found !== undefined && !isControlledBy(found, foo)) {
      const message = `Deployment ${name} is there already, and belongs to somebody else`;
      event({ type: 'Warning', reason: 'ErrResourceExists', message });
      // Said in the status, too; tried again later, since the other one may go.
      throw new Error(message);
    }
    const deployment = await apply(Deployment({ metadata: { name }, spec: podsFor(foo) }));
    if (found === undefined) event({ type: 'Normal', reason: 'Created', message: `made Deployment ${name}` });
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
