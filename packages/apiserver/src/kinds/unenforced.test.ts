import { VirtualClock } from 'riata/runtime';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

let server: ApiServer;
let url = '';

beforeAll(async () => {
  server = await ApiServer.start({ clock: new VirtualClock() });
  ({ url } = await server.listen({ tls: false }));
});

afterAll(() => server.stop());

async function warningsOf(method: string, path: string, body: object): Promise<readonly string[]> {
  const type = method === 'PATCH' ? 'application/merge-patch+json' : 'application/json';
  const headers = { authorization: `Bearer ${server.token}`, 'content-type': type };
  const response = await fetch(url + path, { method, headers, body: JSON.stringify(body) });
  expect(response.status).toBeLessThan(300);
  const header = response.headers.get('warning') ?? '';
  return [...header.matchAll(/299 - "((?:[^"\\]|\\.)*)"/g)].map(([, text = '']) => text.replaceAll('\\"', '"'));
}

const ns = '/api/v1/namespaces/default';
const named = (spec: object = {}) => ({ metadata: { name: 'a' }, spec });
const driver = { deviceClassName: 'gpu' };

test.each([
  [
    `${ns}/secrets`,
    {
      metadata: { name: 'a', annotations: { 'kubernetes.io/service-account.name': 'default' } },
      type: 'kubernetes.io/service-account-token',
    },
    'no token is created for Secrets of type kubernetes.io/service-account-token; use a TokenRequest',
  ],
  [
    `${ns}/resourcequotas`,
    named({ hard: { 'gpu.deviceclass.resource.k8s.io/devices': '1', pods: '10' } }),
    'gpu.deviceclass.resource.k8s.io/devices: the devices of ResourceClaims are not counted',
  ],
  [
    '/apis/networking.k8s.io/v1/servicecidrs',
    named({ cidrs: ['10.9.0.0/24'] }),
    'Services get addresses of the ServiceCIDR "kubernetes" only',
  ],
  ['/apis/storage.k8s.io/v1/csidrivers', named(), 'the fields of a CSIDriver are not validated'],
  [
    '/apis/resource.k8s.io/v1/namespaces/default/resourceclaims',
    named({ devices: { requests: [{ name: 'r', exactly: driver }] } }),
    'the fields of a ResourceClaim are not validated',
  ],
])('a write to %s warns about what is not enforced', async (path, body, warning) => {
  expect(await warningsOf('POST', path, body)).toEqual([`not enforced by this server: ${warning}`]);
});

test('features that a node declares restrict nothing', async () => {
  const node = '/api/v1/nodes/n';
  expect(await warningsOf('POST', '/api/v1/nodes', { metadata: { name: 'n' } })).toEqual([]);
  expect(await warningsOf('PATCH', `${node}/status`, { status: { declaredFeatures: ['GuaranteedQoS'] } })).toEqual([
    'not enforced by this server: status.declaredFeatures does not restrict changes of the Pods on the node',
  ]);
});

test('what is enforced gets no warning', async () => {
  const networkPolicy = { metadata: { name: 'a' }, spec: { podSelector: {}, policyTypes: ['Ingress'] } };
  const written: readonly [string, object][] = [
    [`${ns}/secrets`, { metadata: { name: 'plain' } }],
    [`${ns}/resourcequotas`, { metadata: { name: 'plain' }, spec: { hard: { pods: '10' } } }],
    ['/apis/scheduling.k8s.io/v1/priorityclasses', { metadata: { name: 'high' }, value: 10 }],
    ['/apis/node.k8s.io/v1/runtimeclasses', { metadata: { name: 'sandboxed' }, handler: 'gvisor' }],
    ['/apis/networking.k8s.io/v1/namespaces/default/networkpolicies', networkPolicy],
  ];
  for (const [path, body] of written) expect(await warningsOf('POST', path, body)).toEqual([]);
});
