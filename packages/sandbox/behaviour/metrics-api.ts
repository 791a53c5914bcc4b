import { createServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import type { ConnectedClient } from 'riata';
import { Pod, Service } from 'riata/kinds';
import { APIService } from 'riata/kinds/apiregistration.k8s.io/v1';
import { createAuthority } from 'riata/runtime';

const group = 'metrics.k8s.io';
const annotation = 'sandbox.riata.dev/metrics';

/**
 * Serves `metrics.k8s.io` behind a real API server, from the annotations that the sandbox reads: kube-controller-manager's
 * autoscaler asks there.
 */
export async function serveMetrics(client: ConnectedClient): Promise<AsyncDisposable> {
  const now = Date.now();
  const validity = { notBefore: new Date(now - 86_400_000), notAfter: new Date(now + 86_400_000) };
  const server = createServer(
    createAuthority('metrics', validity).issue('localhost', ['localhost']),
    (request, response) => {
      const url = new URL(request.url ?? '', 'https://localhost');
      void answer(client, url).then((body) => {
        response.writeHead(body === undefined ? 404 : 200, { 'content-type': 'application/json' });
        response.end(JSON.stringify(body ?? { kind: 'Status', apiVersion: 'v1', status: 'Failure', code: 404 }));
      });
    },
  );
  await new Promise<void>((resolve) => server.listen(0, 'localhost', resolve));
  const { port } = server.address() as AddressInfo;
  const service = { namespace: 'kube-system', name: 'metrics' };
  const ports = [{ port }];
  await client.create(Service({ metadata: service, spec: { type: 'ExternalName', externalName: 'localhost', ports } }));
  const name = `v1beta1.${group}`;
  await client.create(
    APIService({
      metadata: { name },
      spec: {
        ...{ group, version: 'v1beta1', groupPriorityMinimum: 100, versionPriority: 100 },
        ...{ service: { ...service, port }, insecureSkipTLSVerify: true },
      },
    }),
  );
  return {
    async [Symbol.asyncDispose]() {
      await client.delete(APIService, { name });
      await client.delete(Service, service);
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

async function answer(client: ConnectedClient, url: URL): Promise<object | undefined> {
  const base = `/apis/${group}/v1beta1`;
  if (url.pathname === base) {
    const resources = [
      { name: 'pods', singularName: '', namespaced: true, kind: 'PodMetrics', verbs: ['get', 'list'] },
    ];
    return { kind: 'APIResourceList', apiVersion: 'v1', groupVersion: `${group}/v1beta1`, resources };
  }
  const [, namespace] = /\/namespaces\/([^/]+)\/pods$/.exec(url.pathname) ?? [];
  if (namespace === undefined) return undefined;
  const labelSelector = url.searchParams.get('labelSelector') ?? '';
  const { items } = await client.list(Pod, { namespace, labelSelector });
  const known = items.filter(({ metadata }) => metadata.annotations?.[annotation] !== undefined);
  return {
    kind: 'PodMetricsList',
    apiVersion: `${group}/v1beta1`,
    metadata: {},
    items: known.map(({ metadata, spec }) => ({
      metadata: { name: metadata.name, namespace, labels: metadata.labels },
      ...{ timestamp: new Date().toISOString(), window: '0s' },
      containers: [{ name: spec.containers[0]?.name, usage: JSON.parse(metadata.annotations?.[annotation] ?? '{}') }],
    })),
  };
}
