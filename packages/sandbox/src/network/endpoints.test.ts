import { TestEnvironment } from '@riata/testing';
import { EndpointSlice, Endpoints, Service } from 'riata/kinds';
import { expect, test } from 'vitest';
import { endpointMirroring } from './endpoint-mirroring.js';
import { endpointSlices, inSlices } from './endpoint-slice.js';
import { endpoints, subsetsOf } from './endpoints.js';
import type { ServicePods } from './service-pods.js';

const namespace = 'default';
const key = { namespace, name: 'web' };
const labels = { app: 'web' };

const pod = (index: number, status: 'True' | 'False') =>
  ({
    metadata: { namespace, name: `web-${index}`, uid: `${index}` },
    spec: { nodeName: 'a', containers: [] },
    status: { podIP: `10.0.${index >> 8}.${index & 255}`, conditions: [{ type: 'Ready', status }] },
  }) as unknown as ServicePods['pods'][number];
const service = { metadata: key, spec: { selector: labels, clusterIP: '10.0.0.1', ports: [{ port: 80 }] } };

test('Endpoints hold a thousand addresses, those that are ready first', () => {
  const ports = [{ name: '', port: 80, protocol: 'TCP' }];
  const group = (unready: number, ready: number) => ({
    ports,
    pods: Array.from({ length: unready + ready }, (_, index) => pod(index, index < unready ? 'False' : 'True')),
  });
  const counts = (...groups: readonly ServicePods[]) => {
    const { subsets, isTruncated } = subsetsOf(service as unknown as Service, groups);
    const sizes = subsets.map(({ addresses = [], notReadyAddresses = [] }) => [addresses, notReadyAddresses]);
    return { isTruncated, sizes: sizes.map(([good, bad]) => `${good?.length}+${bad?.length}`) };
  };
  expect(counts(group(2, 998))).toEqual({ isTruncated: false, sizes: ['998+2'] });
  expect(counts(group(3, 999))).toEqual({ isTruncated: true, sizes: ['999+1'] });
  expect(counts(group(600, 0), group(0, 600))).toEqual({ isTruncated: true, sizes: ['0+400', '600+0'] });
  expect(counts({ ports: [], pods: [pod(1, 'True')] })).toEqual({ isTruncated: false, sizes: [] });
});

test('an EndpointSlice holds a hundred endpoints', () => {
  const pods = Array.from({ length: 201 }, (_, index) => pod(index, 'True'));
  expect(inSlices({ ports: [], pods }).map((slice) => slice.pods.length)).toEqual([100, 100, 1]);
});

test('Endpoints that a user makes stay without a Service, and are not mirrored then', async () => {
  await using env = await TestEnvironment.start();
  const { client } = env;
  await env.run(endpoints, endpointSlices, endpointMirroring);
  const subsets = [{ addresses: [{ ip: '192.0.2.1' }], ports: [{ port: 80, protocol: 'TCP' as const }] }];
  await client.create(Endpoints({ metadata: key, subsets }));
  await env.settle();
  const slices = async () =>
    (await client.list(EndpointSlice, { namespace })).items.filter(
      ({ metadata }) => metadata.labels?.['kubernetes.io/service-name'] === 'web',
    );
  expect(await client.find(Endpoints, key)).toBeDefined();
  expect(await slices()).toEqual([]);
  await client.create(Service({ metadata: key, spec: { ports: [{ port: 80 }] } }));
  await env.settle();
  expect(await slices()).toHaveLength(1);
  await client.patch(Service, key, { type: 'merge', body: { spec: { selector: labels } } });
  await env.settle();
  const { metadata, subsets: now = [] } = await client.get(Endpoints, key);
  expect(metadata.labels).toMatchObject({ 'endpoints.kubernetes.io/managed-by': 'endpoint-controller' });
  expect(now).toEqual([]);
  const [own, ...others] = await slices();
  expect(others).toEqual([]);
  expect(own?.metadata.labels?.['endpointslice.kubernetes.io/managed-by']).toBe('endpointslice-controller.k8s.io');
  await client.delete(Service, key);
  await env.settle();
  expect(await client.find(Endpoints, key)).toBeUndefined();
  await env.expectConverged();
});
