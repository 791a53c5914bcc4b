import { expect, test } from 'vitest';
import { extractFields } from './extract-fields.js';

const metadata = { name: 'web', namespace: 'shop', uid: 'u', resourceVersion: '1', creationTimestamp: '' };
const fieldsV1 = {
  'f:metadata': { 'f:labels': { '.': {}, 'f:app': {} }, 'f:finalizers': { 'v:"x.dev/f"': {} } },
  'f:spec': {
    'f:replicas': {},
    'f:selector': {},
    'f:template': {
      'f:spec': {
        'f:containers': { 'k:{"name":"web"}': { '.': {}, 'f:name': {}, 'f:image': {}, 'f:ports': ports() } },
      },
    },
    'f:__proto__': {},
  },
};
function ports() {
  return { 'k:{"containerPort":80,"protocol":"TCP"}': { '.': {}, 'f:containerPort': {} } };
}
const object = {
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: {
    ...metadata,
    labels: { app: 'web', other: 'x' },
    finalizers: ['y.dev/f', 'x.dev/f'],
    managedFields: [
      { manager: 'me', operation: 'Update', fieldsV1: { 'f:spec': { 'f:paused': {} } } },
      { manager: 'me', operation: 'Apply', apiVersion: 'apps/v1', fieldsType: 'FieldsV1', fieldsV1 },
      { manager: 'me', operation: 'Apply', subresource: 'status', fieldsV1: { 'f:status': { 'f:replicas': {} } } },
    ],
  },
  spec: JSON.parse(`{
    "replicas": 2, "paused": true, "selector": { "matchLabels": { "app": "web" } }, "__proto__": 7,
    "template": { "spec": { "containers": [
      { "name": "side", "image": "side:1" },
      { "name": "web", "image": "web:1", "tty": true, "ports": [
        { "containerPort": 80, "protocol": "UDP" }, { "containerPort": 80, "protocol": "TCP", "hostPort": 1 } ] } ] } }
  }`),
  status: { replicas: 1, readyReplicas: 0 },
};

test('what a manager has applied: leaves, atomic maps, keyed elements with their keys, set members', () => {
  expect(JSON.stringify(extractFields(object, { fieldManager: 'me' }))).toBe(
    JSON.stringify({
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      metadata: { name: 'web', namespace: 'shop', labels: { app: 'web' }, finalizers: ['x.dev/f'] },
      spec: JSON.parse(`{
        "replicas": 2, "selector": { "matchLabels": { "app": "web" } }, "__proto__": 7,
        "template": { "spec": { "containers": [
          { "name": "web", "image": "web:1", "ports": [ { "containerPort": 80, "protocol": "TCP" } ] } ] } } }`),
    }),
  );
});

test('a subresource is extracted separately', () => {
  expect(extractFields(object, { fieldManager: 'me', subresource: 'status' })).toMatchObject({
    status: { replicas: 1 },
  });
});

test('undefined for a manager that has applied nothing', () => {
  expect(extractFields(object, { fieldManager: 'you' })).toBeUndefined();
  expect(extractFields({ ...object, metadata }, { fieldManager: 'me' })).toBeUndefined();
});
