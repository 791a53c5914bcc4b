import type { Client } from 'riata/client';
import { Deployment, Namespace, Pod, PodDisruptionBudget, ServiceAccount } from 'riata/kinds';
import { edit } from 'riata/object';
import { isBadRequest, isConflict, isNotFound, isTooManyRequests } from 'riata/rest';
import { expect, test } from 'vitest';
import { installKind } from './custom-kind.js';
import { describeServers, rejection, uniqueName } from './servers.js';

interface Scale {
  readonly apiVersion: string;
  readonly kind: string;
  readonly metadata: { readonly name: string; readonly resourceVersion: string };
  readonly spec: { readonly replicas?: number };
  readonly status: { readonly replicas: number; readonly selector?: string };
}

const labels = { app: 'web' };
const spec = { containers: [{ name: 'web', image: 'web:1' }] };

describeServers('subresources', (server) => {
  test('status: update and patch change it alone; the rest of the object is left', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const made = await newDeployment(client, namespace);
    const updated = await client.status.update(
      edit(made, (draft) => {
        draft.spec!.replicas = 9;
        draft.status = { observedGeneration: 1, replicas: 2 };
      }),
    );
    expect(updated.status).toMatchObject({ observedGeneration: 1, replicas: 2 });
    expect(updated.spec?.replicas).toBe(2);
    const patched = await client.status.patch(Deployment, made.metadata, {
      type: 'merge',
      body: { spec: { replicas: 7 }, status: { readyReplicas: 1 } },
    });
    expect(patched.status).toMatchObject({ replicas: 2, readyReplicas: 1 });
    expect(patched.spec?.replicas).toBe(2);
    expect(patched.metadata.generation).toBe(1);
    await expect(client.status.update(made)).rejects.toSatisfy(isConflict);
    const ignored = await client.patch(Deployment, made.metadata, { type: 'merge', body: { status: { replicas: 8 } } });
    expect(ignored.status?.replicas).toBe(2);
  });

  test('scale of a Deployment: get, replace, patch', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await newDeployment(client, namespace);
    const scale = client.subresource('scale');
    const read = await scale.get<Scale>(Deployment, metadata);
    expect(read).toMatchObject({ apiVersion: 'autoscaling/v1', kind: 'Scale', spec: { replicas: 2 } });
    expect(read.status.selector).toBe('app=web');
    const written = await scale.replace(Deployment, metadata, { ...read, spec: { replicas: 5 } });
    expect(written.spec).toEqual({ replicas: 5 });
    await expect(scale.replace(Deployment, metadata, { ...read, spec: { replicas: 6 } })).rejects.toSatisfy(isConflict);
    await scale.patch(Deployment, metadata, { type: 'merge', body: { spec: { replicas: 1 } } });
    expect((await client.get(Deployment, metadata)).spec?.replicas).toBe(1);
  });

  test('status and scale of a custom kind', async () => {
    const { client } = server();
    const Widget = await installKind(server());
    const namespace = await server().namespace();
    const { metadata } = await client.create(Widget({ metadata: { namespace, name: 'a' }, spec: { replicas: 2 } }));
    await client.status.patch(Widget, metadata, { type: 'merge', body: { status: { replicas: 1 } } });
    const scale = await client.subresource('scale').get<Scale>(Widget, metadata);
    expect(scale).toMatchObject({ kind: 'Scale', spec: { replicas: 2 }, status: { replicas: 1 } });
    await client.subresource('scale').replace(Widget, metadata, { ...scale, spec: { replicas: 3 } });
    const applied = await client.status.applyFields(
      Widget,
      { metadata: { namespace, name: 'a' }, status: { ready: true } },
      { fieldManager: 'me' },
    );
    expect(applied.spec).toEqual({ replicas: 3 });
    expect(applied.status).toEqual({ replicas: 1, ready: true });
    await expect(client.subresource('nothing').get(Widget, metadata)).rejects.toSatisfy(isNotFound);
  });

  test('eviction: the Pod goes, or a disruption budget says not now', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await client.create(Pod({ metadata: { namespace, name: 'a', labels }, spec }));
    const eviction = { apiVersion: 'policy/v1', kind: 'Eviction', metadata: { namespace, name: 'a' } };
    // Pending Pods are evicted whatever the budget: this one runs.
    const running = { phase: 'Running', conditions: [{ type: 'Ready', status: 'True' }] };
    await client.status.patch(Pod, metadata, { type: 'merge', body: { status: running as never } });
    const budget = PodDisruptionBudget({
      metadata: { namespace, name: 'keep' },
      spec: { minAvailable: 1, selector: { matchLabels: labels } },
    });
    const kept = await client.create(budget);
    // There is no controller: the budget is known, and used up.
    const used = {
      observedGeneration: 1,
      disruptionsAllowed: 0,
      currentHealthy: 1,
      desiredHealthy: 1,
      expectedPods: 1,
    };
    await client.status.update({ ...kept, status: used });
    const refused = await rejection(client.subresource('eviction').create(Pod, metadata, eviction));
    expect(refused).toSatisfy(isTooManyRequests);
    expect(refused.message).toContain("would violate the pod's disruption budget");
    await client.delete(PodDisruptionBudget, { namespace, name: 'keep' });
    const status = await client.subresource('eviction').create(Pod, metadata, eviction);
    expect(status).toMatchObject({ kind: 'Status', status: 'Success' });
    const gone = await client.find(Pod, metadata);
    expect(gone === undefined || gone.metadata.deletionTimestamp !== undefined).toBe(true);
  });

  test('token: a service account token that the server accepts', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await client.create(ServiceAccount({ metadata: { namespace, name: 'robot' } }));
    const body = { apiVersion: 'authentication.k8s.io/v1', kind: 'TokenRequest', spec: { expirationSeconds: 600 } };
    const answer = await client
      .subresource('token')
      .create<{ kind: string; status: { token: string } }>(ServiceAccount, metadata, body);
    expect(answer.kind).toBe('TokenRequest');
    expect(answer.status.token.split('.')).toHaveLength(3);
    const review = await client.rest
      .post()
      .absPath('/apis/authentication.k8s.io/v1/tokenreviews')
      .body({ apiVersion: 'authentication.k8s.io/v1', kind: 'TokenReview', spec: { token: answer.status.token } })
      .do();
    expect(review.json()).toMatchObject({
      status: { authenticated: true, user: { username: `system:serviceaccount:${namespace}:robot` } },
    });
  });

  test('binding puts a Pod on a node, once', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { metadata } = await client.create(Pod({ metadata: { namespace, name: 'a' }, spec }));
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    const binding = { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name: 'a' }, target };
    await client.subresource('binding').create(Pod, metadata, binding);
    const bound = await client.get(Pod, metadata);
    expect(bound.spec?.nodeName).toBe('node-1');
    expect(bound.status?.conditions).toMatchObject([{ type: 'PodScheduled', status: 'True' }]);
    const again = await rejection(client.subresource('binding').create(Pod, metadata, binding));
    expect(again).toSatisfy(isConflict);
  });

  test('logs: without a node or a kubelet, an error that says so', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const containers = [...spec.containers, { name: 'side', image: 'side:1' }];
    const { metadata } = await client.create(Pod({ metadata: { namespace, name: 'a' }, spec: { containers } }));
    const which = await rejection(client.logs(metadata));
    expect(which).toSatisfy(isBadRequest);
    expect(which.message).toContain('a container name must be specified for pod a, choose one of: [web side]');
    await expect(client.logs({ namespace, name: 'none' })).rejects.toSatisfy(isNotFound);
    // Not on a node yet: nothing was logged.
    const stream = await client.logs(metadata, { container: 'web', tailLines: 5, timestamps: true });
    const chunks: Uint8Array[] = [];
    for await (const chunk of stream) chunks.push(chunk);
    expect(chunks).toEqual([]);
    const target = { apiVersion: 'v1', kind: 'Node', name: 'node-1' };
    await client
      .subresource('binding')
      .create(Pod, metadata, { apiVersion: 'v1', kind: 'Binding', metadata: { namespace, name: 'a' }, target });
    await expect(client.logs(metadata, { container: 'web' })).rejects.toThrow(/node-1.*not found/);
  });

  test('a namespace is finalized by its subresource', async () => {
    const { client } = server();
    const name = uniqueName('fin-');
    const made = await client.create(Namespace({ metadata: { name } }));
    await client.delete(Namespace, { name });
    const read = await client.get(Namespace, { name });
    expect(read.status?.phase).toBe('Terminating');
    await client.subresource('finalize').replace(Namespace, { name }, { ...read, spec: { finalizers: [] } });
    expect(await client.find(Namespace, { name })).toBeUndefined();
    expect(made.spec?.finalizers).toEqual(['kubernetes']);
  });
});

function newDeployment(client: Client, namespace: string) {
  const template = { metadata: { labels }, spec };
  return client.create(
    Deployment({
      metadata: { namespace, name: 'web' },
      spec: { replicas: 2, selector: { matchLabels: labels }, template },
    }),
  );
}
