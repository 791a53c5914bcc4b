import { Event, Ingress, Service } from 'riata/kinds';
import { describe, expect, test } from 'vitest';
import { describeClusters, eventually } from './cluster.js';

const ports = [{ port: 80 }];
const backend = { service: { name: 'web', port: { number: 80 } } };

describeClusters((cluster) => {
  describe.concurrent('load balancers', () => {
    const addressOf = async ({ status }: Service | Ingress) => status?.loadBalancer?.ingress ?? [];

    test('a Service of type LoadBalancer gets an address of its own, and gives it back', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const make = (name: string) =>
        client.create(Service({ metadata: { namespace, name }, spec: { type: 'LoadBalancer', ports } }));
      const addresses = async (name: string) => addressOf(await client.get(Service, { namespace, name }));
      await Promise.all([make('a'), make('b')]);
      await eventually(async () => {
        const [[a], [b]] = await Promise.all([addresses('a'), addresses('b')]);
        expect(a?.ip).toMatch(/^198\.1[89]\./);
        expect(b?.ip).toMatch(/^198\.1[89]\./);
        expect(a?.ip).not.toBe(b?.ip);
      });
      await eventually(async () => {
        const { items } = await client.list(Event, { namespace });
        const own = items.filter(({ involvedObject }) => involvedObject.name === 'a').map(({ reason }) => reason);
        expect(own.sort()).toEqual(['EnsuredLoadBalancer', 'EnsuringLoadBalancer']);
      });
      const body = { spec: { type: 'ClusterIP' as const, allocateLoadBalancerNodePorts: null, ports } };
      await client.patch(Service, { namespace, name: 'a' }, { type: 'merge', body });
      await eventually(async () => {
        const service = await client.get(Service, { namespace, name: 'a' });
        expect(await addressOf(service)).toEqual([]);
        expect(service.metadata.finalizers).toBeUndefined();
      });
      await client.delete(Service, { namespace, name: 'b' });
      await eventually(async () => expect(await client.find(Service, { namespace, name: 'b' })).toBeUndefined());
    });

    test('an address that is asked for is given: by the spec, or an annotation; also a host name, or none', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const make = (name: string, address?: string, more = {}) =>
        client.create(
          Service({
            metadata: { namespace, name, ...(address && { annotations: { 'sandbox.riata.dev/address': address } }) },
            spec: { type: 'LoadBalancer', ports, ...more },
          }),
        );
      await make('host', 'web.example.com');
      await make('fixed', undefined, { loadBalancerIP: '203.0.113.7' });
      await make('other', 'none');
      await make('classy', undefined, { loadBalancerClass: 'example.com/mine' });
      await make('last');
      const addresses = async (name: string) => addressOf(await client.get(Service, { namespace, name }));
      await eventually(async () => {
        expect(await addresses('host')).toMatchObject([{ hostname: 'web.example.com' }]);
        expect(await addresses('fixed')).toMatchObject([{ ip: '203.0.113.7' }]);
        expect(await addresses('last')).toHaveLength(1);
      });
      expect(await addresses('other')).toEqual([]);
      expect(await addresses('classy')).toEqual([]);
    });

    test('an Ingress gets an address, too', async () => {
      const { client, newNamespace } = cluster();
      const namespace = await newNamespace();
      const make = (name: string, annotations = {}) =>
        client.create(Ingress({ metadata: { namespace, name, annotations }, spec: { defaultBackend: backend } }));
      const addresses = async (name: string) => addressOf(await client.get(Ingress, { namespace, name }));
      await make('web');
      await make('host', { 'sandbox.riata.dev/address': 'ingress.example.com' });
      await eventually(async () => {
        expect(await addresses('web')).toMatchObject([{ ip: expect.stringMatching(/^198\.1[89]\./) }]);
        expect(await addresses('host')).toEqual([{ hostname: 'ingress.example.com' }]);
      });
    });
  });
});
