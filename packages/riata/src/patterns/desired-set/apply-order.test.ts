import { expect, test } from 'vitest';
import { inPhases } from './apply-order.js';

const kinds = [
  { group: 'admissionregistration.k8s.io', kind: 'ValidatingWebhookConfiguration' },
  { group: 'apps', kind: 'Deployment' },
  { group: 'example.com', kind: 'Widget' },
  { group: '', kind: 'ConfigMap' },
  { group: 'rbac.authorization.k8s.io', kind: 'Role' },
  { group: 'apiextensions.k8s.io', kind: 'CustomResourceDefinition' },
  { group: '', kind: 'ServiceAccount' },
  { group: 'networking.k8s.io', kind: 'Ingress' },
  { group: '', kind: 'Namespace' },
  { group: 'example.com', kind: 'Namespace' },
];

test('namespaces, definitions and rights come first, what stands in the way last; the rest as given', () => {
  const order = inPhases(kinds, (kind) => kind).map((phase) => phase.map(({ group, kind }) => `${kind}.${group}`));
  expect(order).toEqual([
    ['Namespace.'],
    ['CustomResourceDefinition.apiextensions.k8s.io'],
    ['Role.rbac.authorization.k8s.io', 'ServiceAccount.'],
    ['ConfigMap.'],
    ['Deployment.apps', 'Widget.example.com', 'Namespace.example.com'],
    ['Ingress.networking.k8s.io'],
    ['ValidatingWebhookConfiguration.admissionregistration.k8s.io'],
  ]);
});
