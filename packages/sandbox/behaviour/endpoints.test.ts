import type { PodFate } from '@riata/sandbox';
import { EndpointSlice, Endpoints, Pod, Service } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { describeClusters, eventually, fateAnnotation } from './cluster.js';

const labels = { app: 'web' };

describeClusters((cluster) => {
  const pod = (
    at: { readonly namespace: string; readonly name: string },
    { fate, ...more }: { readonly fate?: PodFate; readonly port?: number; readonly hostname?: string } = {},
  ) =>
    Pod({
      metadata: { ...at, labels, ...(fate && { annotations: { [fateAnnotation]: JSON.stringify(fate) } }) },
      spec: {
        containers: [{ name: 'web', image: 'web:1', ports: [{ name: 'http', containerPort: more.port ?? 8080 }] }],
        ...(more.hostname && { hostname: more.hostname, subdomain: 'web' }),
        terminationGracePeriodSeconds: 1,
      },
    });
  const slicesOf = async (namespace: string) =>
    (await cluster().client.list(EndpointSlice, { namespace, labelSelector: 'kubernetes.io/service-name=web' })).items;

  describe.concurrent('Endpoints', () => {
    test('of a Service are the Pods that it selects, ready or not', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const at = { namespace, name: 'web' };
      await client.create(
        Service({
          metadata: { ...at, labels: { team: 'a' } },
          spec: { selector: labels, ports: [{ name: 'http', port: 80, targetPort: 'http' }] },
        }),
      );
      await eventually(async () => expect((await client.get(Endpoints, at)).subsets ?? []).toEqual([]));
      await client.create(pod({ namespace, name: 'a' }, { hostname: 'first' }));
      await client.create(pod({ namespace, name: 'b' }, { fate: { readyAfter: 'never' } }));
      await client.create(pod({ namespace, name: 'c' }, { port: 9090 }));
      const addressOf = async (name: string, hostname?: string) => {
        const { metadata, spec, status } = await client.get(Pod, { namespace, name });
        return {
          ip: status.podIP,
          ...(hostname && { hostname }),
          nodeName: spec.nodeName,
          targetRef: { kind: 'Pod', namespace, name, uid: metadata.uid },
        };
      };
      await eventually(async () => {
        const { metadata, subsets = [] } = await client.get(Endpoints, at);
        expect(metadata.labels).toEqual({ team: 'a', 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });
        expect([...subsets].sort((a, b) => (a.ports?.[0]?.port ?? 0) - (b.ports?.[0]?.port ?? 0))).toEqual([
          {
            addresses: [await addressOf('a', 'first')],
            notReadyAddresses: [await addressOf('b')],
            ports: [{ name: 'http', port: 8080, protocol: 'TCP' }],
          },
          { addresses: [await addressOf('c')], ports: [{ name: 'http', port: 9090, protocol: 'TCP' }] },
        ]);
      });
      await eventually(async () => {
        const slices = await slicesOf(namespace);
        const shown = slices.map(({ ports, endpoints = [] }) => [
          ports?.[0]?.port,
          endpoints
            .map(({ addresses, conditions, hostname }) => `${addresses[0]} ${conditions?.ready} ${hostname ?? ''}`)
            .sort(),
        ]);
        expect(shown.sort((a, b) => (a[0] as number) - (b[0] as number))).toEqual([
          [8080, [`${(await addressOf('a')).ip} true first`, `${(await addressOf('b')).ip} false `].sort()],
          [9090, [`${(await addressOf('c')).ip} true `]],
        ]);
      });
      await client.delete(Pod, { namespace, name: 'c' });
      await client.delete(Pod, { namespace, name: 'b' });
      await eventually(async () => {
        const { subsets = [] } = await client.get(Endpoints, at);
        expect(subsets.map(({ addresses = [] }) => addresses.map(({ hostname }) => hostname))).toEqual([['first']]);
        expect(await slicesOf(namespace)).toHaveLength(1);
      });
      await client.delete(Service, at);
      await eventually(async () => {
        expect(await client.find(Endpoints, at)).toBeUndefined();
        expect(await slicesOf(namespace)).toEqual([]);
      });
    });

    test('of a headless Service without ports have addresses alone', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const at = { namespace, name: 'web' };
      const spec = { selector: labels, clusterIP: 'None', publishNotReadyAddresses: true };
      await client.create(Service({ metadata: at, spec }));
      await client.create(pod({ namespace, name: 'a' }, { fate: { readyAfter: 'never' } }));
      await eventually(async () => {
        const { metadata, subsets = [] } = await client.get(Endpoints, at);
        expect(metadata.labels).toEqual({
          'endpoints.kubernetes.io/managed-by': 'endpoint-controller',
          'service.kubernetes.io/headless': '',
        });
        expect(subsets.map(({ ports }) => ports ?? [])).toEqual([[]]);
        expect(subsets[0]?.addresses?.map(({ targetRef }) => targetRef?.name)).toEqual(['a']);
      });
      await eventually(async () => {
        const [slice] = await slicesOf(namespace);
        expect(slice?.metadata.labels).toMatchObject({ 'service.kubernetes.io/headless': '' });
        expect(slice?.ports ?? []).toEqual([]);
        expect(slice?.endpoints?.map(({ conditions }) => conditions)).toEqual([
          { ready: true, serving: false, terminating: false },
        ]);
      });
    });

    test('that a user makes for a Service without a selector are mirrored', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const at = { namespace, name: 'web' };
      await client.create(Service({ metadata: at, spec: { ports: [{ port: 80 }] } }));
      const made = await client.create(
        Endpoints({
          metadata: { ...at, labels: { team: 'a' }, annotations: { note: 'mine' } },
          subsets: [
            {
              addresses: [{ ip: '192.0.2.1', hostname: 'one' }, { ip: '2001:db8::1' }],
              notReadyAddresses: [{ ip: '192.0.2.2' }],
              ports: [{ port: 80, protocol: 'TCP' }],
            },
          ],
        }),
      );
      const mirrored = async () =>
        (await slicesOf(namespace))
          .map(({ addressType, endpoints = [], ports }) => ({
            addressType,
            ports: ports?.map(({ name, port, protocol }) => `${name}:${port}/${protocol}`),
            endpoints: endpoints
              .map(({ addresses, conditions, hostname }) => `${addresses} ${conditions?.ready} ${hostname ?? ''}`)
              .sort(),
          }))
          .sort((a, b) => a.addressType.localeCompare(b.addressType));
      await eventually(async () =>
        expect(await mirrored()).toEqual([
          { addressType: 'IPv4', ports: [':80/TCP'], endpoints: ['192.0.2.1 true one', '192.0.2.2 false '] },
          { addressType: 'IPv6', ports: [':80/TCP'], endpoints: ['2001:db8::1 true '] },
        ]),
      );
      const [slice] = await slicesOf(namespace);
      expect(slice?.metadata).toMatchObject({
        labels: {
          team: 'a',
          'kubernetes.io/service-name': 'web',
          'endpointslice.kubernetes.io/managed-by': 'endpointslicemirroring-controller.k8s.io',
        },
        annotations: { note: 'mine' },
        ownerReferences: [
          { apiVersion: 'v1', kind: 'Endpoints', name: 'web', uid: made.metadata.uid, controller: true },
        ],
      });
      await client.patch(Endpoints, at, {
        type: 'merge',
        body: { subsets: [{ addresses: [{ ip: '192.0.2.3' }], ports: [{ port: 81, protocol: 'TCP' }] }] },
      });
      await eventually(async () =>
        expect(await mirrored()).toEqual([{ addressType: 'IPv4', ports: [':81/TCP'], endpoints: ['192.0.2.3 true '] }]),
      );
      const skip = { metadata: { labels: { 'endpointslice.kubernetes.io/skip-mirror': 'true' } } };
      await client.patch(Endpoints, at, { type: 'merge', body: skip });
      await eventually(async () => expect(await mirrored()).toEqual([]));
    });
  });
});
