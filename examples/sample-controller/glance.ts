import { control, defineKind, run } from 'riata';
import { Deployment } from 'riata/kinds';
import { z } from 'zod';

const spec = z.object({ deploymentName: z.string(), replicas: z.int().min(0).max(10).default(1) });
const state = z.object({ availableReplicas: z.int() });
export const Foo = defineKind({ group: 'demo.riata.dev', version: 'v1', kind: 'Foo', spec, status: state });

export const foos = control(Foo)
  .owns(Deployment)
  .reconcile(async ({ object: foo, apply, status }) => {
    const { deploymentName: name, replicas } = foo.spec;
    const labels = { foo: foo.metadata.name };
    const template = { metadata: { labels }, spec: { containers: [{ name: 'nginx', image: 'nginx:1.29' }] } };
    const desired = { metadata: { name }, spec: { replicas, selector: { matchLabels: labels }, template } };
    const deployment = await apply(Deployment(desired)); // owned by foo; no request when it is a no-op
    await status({ availableReplicas: deployment.status.availableReplicas ?? 0 });
  });

await run(foos); // KUBECONFIG, in-cluster or ~/.kube/config; until SIGTERM
