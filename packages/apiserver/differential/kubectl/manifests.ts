/** What kubectl is given, in the forms that people write. */

export const deployment = (replicas: number, more: object = {}) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name: 'web', labels: { app: 'web' } },
  spec: {
    replicas,
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web' } }, spec: { containers: [{ name: 'web', image: 'nginx:1' }] } },
    ...more,
  },
});

export const configMap = (name: string, data: object, labels?: object) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels },
  data,
});

export const list = (...items: readonly object[]) => ({ apiVersion: 'v1', kind: 'List', items });

export const event = (ns: string) => ({
  apiVersion: 'v1',
  kind: 'Event',
  metadata: { name: 'web.1', namespace: ns },
  involvedObject: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'web', namespace: ns },
  reason: 'Scaled',
  message: 'to three',
  type: 'Normal',
  firstTimestamp: '2026-01-01T00:00:00Z',
  lastTimestamp: '2026-01-01T00:00:00Z',
  count: 1,
});

/**
 * A definition with columns, a scale and a schema that describes its fields. No other kind on the server may have this
 * name: kubectl would confuse the two.
 */
export const definition = {
  apiVersion: 'apiextensions.k8s.io/v1',
  kind: 'CustomResourceDefinition',
  metadata: { name: 'doohickeys.kubectl.example.com' },
  spec: {
    group: 'kubectl.example.com',
    scope: 'Namespaced',
    names: { plural: 'doohickeys', singular: 'doohickey', kind: 'Doohickey', shortNames: ['dhk'], categories: ['all'] },
    versions: [
      {
        name: 'v1',
        served: true,
        storage: true,
        additionalPrinterColumns: [
          { name: 'Size', type: 'integer', jsonPath: '.spec.size' },
          { name: 'Colour', type: 'string', jsonPath: '.spec.colour', priority: 1 },
          { name: 'Age', type: 'date', jsonPath: '.metadata.creationTimestamp' },
        ],
        subresources: { status: {}, scale: { specReplicasPath: '.spec.size', statusReplicasPath: '.status.size' } },
        schema: {
          openAPIV3Schema: {
            type: 'object',
            description: 'A thing that does something.',
            properties: {
              spec: {
                type: 'object',
                description: 'What it should be like.',
                required: ['size'],
                properties: {
                  size: { type: 'integer', description: 'How large it is.' },
                  colour: { type: 'string', enum: ['red', 'blue'], default: 'red' },
                },
              },
              status: { type: 'object', properties: { size: { type: 'integer' } } },
            },
          },
        },
      },
    ],
  },
};

export const doohickey = (name: string, spec: object) => ({
  apiVersion: 'kubectl.example.com/v1',
  kind: 'Doohickey',
  metadata: { name },
  spec,
});
