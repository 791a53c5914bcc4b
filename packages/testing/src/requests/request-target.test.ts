import { ConfigMap } from 'riata/kinds';
import { expect, test } from 'vitest';
import { Widget } from '../widget.fixture.js';
import { matches, RequestReader } from './request-target.js';

const reader = new RequestReader([Widget]);

test.each([
  ['GET', '/api/v1/namespaces/shop/configmaps/cart', 'get ConfigMap shop/cart'],
  ['GET', '/api/v1/namespaces/shop/configmaps?limit=500', 'list ConfigMap shop'],
  ['GET', '/api/v1/configmaps?watch=true', 'watch ConfigMap'],
  ['GET', '/api/v1/namespaces', 'list Namespace'],
  ['GET', '/api/v1/namespaces/shop', 'get Namespace shop'],
  ['PUT', '/api/v1/namespaces/shop/finalize', 'update Namespace shop/finalize'],
  ['PATCH', '/apis/testing.riata.dev/v1/namespaces/shop/widgets/w/status', 'patch Widget shop/w/status'],
  ['DELETE', '/apis/apps/v1/namespaces/shop/deployments/web', 'delete Deployment shop/web'],
  ['DELETE', '/apis/apps/v1/namespaces/shop/deployments', 'deletecollection Deployment shop'],
  ['GET', '/apis/strange.example.com/v1/things/a%3Ab', 'get things a:b'],
  ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
  ['GET', '/readyz?verbose', 'get /readyz'],
])('%s %s is: %s', (method, path, line) => {
  const { verb, object } = reader.read(method, path);
  expect(`${verb} ${object}`).toBe(line);
});

test('the name of what is created is in the body', () => {
  const path = '/api/v1/namespaces/shop/configmaps';
  const read = (body?: string | Uint8Array) => reader.read('POST', path, body).object;
  expect(read('{"metadata":{"name":"cart"}}')).toBe('ConfigMap shop/cart');
  expect(read(new TextEncoder().encode('{"metadata":{"generateName":"cart-"}}'))).toBe('ConfigMap shop/cart-*');
  expect([read(), read('no JSON'), read('{}')]).toEqual(Array(3).fill('ConfigMap shop'));
});

test('all that a match says must be so', () => {
  const read = reader.read('PATCH', '/apis/testing.riata.dev/v1/namespaces/shop/widgets/w/status?dryRun=All');
  const status = { ...read, client: 'first' };
  expect(status).toMatchObject({ group: 'testing.riata.dev', version: 'v1', subresource: 'status', isDryRun: true });
  const yes = [
    {},
    { verb: 'write' },
    { verb: 'patch', kind: Widget },
    { kind: 'Widget', namespace: 'shop', name: 'w' },
    { client: 'first', verb: 'write' },
  ];
  for (const match of [...yes, { subresource: 'status' }]) expect(matches(status, match)).toBe(true);
  const no = [{ verb: 'read' }, { verb: 'update' }, { kind: ConfigMap }, { kind: 'Gadget' }, { namespace: 'other' }];
  for (const match of [...no, { name: 'x' }, { subresource: '' }, { client: 'second' }])
    expect(matches(status, match)).toBe(false);
});
