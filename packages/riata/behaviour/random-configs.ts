import type { Json, JsonObject } from 'riata/object';
import type { Random } from 'riata/runtime';

/** Random parts of objects, small enough that different writers meet on the same fields. */
export type RandomPart = (random: Random) => JsonObject;

type Field = readonly [name: string, make: (random: Random) => Json, odds?: number];

/** Some of the fields; each with a chance of one half unless it says otherwise. */
function some(random: Random, fields: readonly Field[]): JsonObject {
  const out: Record<string, Json> = {};
  for (const [name, make, odds = 0.5] of fields) if (random.next() < odds) out[name] = make(random);
  return out;
}

function subset<T>(random: Random, items: readonly T[], odds = 0.5): T[] {
  return random.shuffle(items.filter(() => random.next() < odds));
}

const word = (random: Random) => random.pick(['red', 'green', 'blue']);
const words = (random: Random): JsonObject =>
  some(
    random,
    ['a', 'b', 'c/d', 'e"<&>f'].map((name) => [name, word]),
  );
const labels = (random: Random): JsonObject =>
  some(
    random,
    ['a', 'b', 'x.dev/c'].map((name) => [name, word]),
  );
const finalizers = (random: Random) => subset(random, ['x.dev/a', 'x.dev/b', 'x.dev/c'], 0.3);

export const metadataPart: RandomPart = (random) =>
  some(random, [
    ['labels', labels],
    ['annotations', labels, 0.3],
    ['finalizers', finalizers, 0.3],
  ]);

export const configMapPart: RandomPart = (random) =>
  some(random, [
    ['data', words, 0.9],
    [
      'binaryData',
      (r) =>
        some(
          r,
          ['x', 'y'].map((name) => [name, () => r.pick(['AA==', 'AQ=='])]),
        ),
      0.3,
    ],
    ['immutable', () => false, 0.1],
  ]);

const env = (random: Random) =>
  subset(random, ['A', 'B', 'C']).map((name) =>
    random.next() < 0.7
      ? { name, value: word(random) }
      : { name, valueFrom: { fieldRef: { fieldPath: random.pick(['metadata.name', 'metadata.uid']) } } },
  );

const ports = (random: Random) =>
  subset(random, [80, 443]).flatMap((containerPort) => {
    const name = `p${containerPort}${random.pick(['', 'x'])}`;
    if (random.next() < 0.5) return [{ containerPort, ...some(random, [['name', () => name]]) }];
    return [{ containerPort, protocol: random.pick(['TCP', 'UDP']) }];
  });

const quantities = (random: Random) =>
  some(random, [
    ['cpu', () => random.pick(['1', '2'])],
    ['memory', () => random.pick(['1Gi', '2Gi'])],
  ]);

const container = (name: string) => (random: Random) => ({
  name,
  image: random.pick(['web:1', 'web:2']),
  ...some(random, [
    ['env', env],
    ['ports', ports],
    ['command', () => subset(random, ['sh', '-c', 'true'])],
    [
      'resources',
      () =>
        some(random, [
          ['limits', () => ({ cpu: '4', memory: '4Gi' })],
          ['requests', quantities],
        ]),
    ],
    ['tty', () => random.next() < 0.5, 0.3],
    ['securityContext', () => some(random, [['capabilities', () => ({ add: subset(random, ['A', 'B']) })]]), 0.3],
  ]),
});

const tolerations = (random: Random) =>
  subset(random, ['a', 'b']).map((key) => ({
    key,
    operator: 'Exists',
    effect: random.pick(['NoSchedule', 'NoExecute']),
  }));

const volumes = (random: Random) =>
  subset(random, ['v', 'w']).map((name) =>
    random.next() < 0.5 ? { name, emptyDir: {} } : { name, configMap: { name: word(random), optional: true } },
  );

const podSpec = (random: Random) => ({
  containers: [
    container('web')(random),
    ...subset(random, ['side', 'log'], 0.3).map((name) => container(name)(random)),
  ],
  ...some(random, [
    ['volumes', volumes],
    ['tolerations', tolerations],
    ['nodeSelector', labels, 0.3],
    ['imagePullSecrets', () => subset(random, ['s', 't']).map((name) => ({ name })), 0.3],
    ['hostAliases', () => [{ ip: '10.0.0.1', hostnames: subset(random, ['h', 'i']) }], 0.3],
    ['terminationGracePeriodSeconds', () => random.pick([10, 20])],
  ]),
});

export const deploymentPart: RandomPart = (random) => ({
  spec: {
    selector: { matchLabels: { app: 'web' } },
    template: { metadata: { labels: { app: 'web', ...labels(random) } }, spec: podSpec(random) },
    ...some(random, [
      ['replicas', () => random.int(1, 3)],
      ['paused', () => random.next() < 0.5, 0.3],
      ['minReadySeconds', () => random.int(0, 2), 0.3],
      ['strategy', () => ({ type: 'RollingUpdate', rollingUpdate: { maxSurge: random.pick([1, '50%']) } }), 0.3],
    ]),
  },
});

/** With duplicate items, which an update may leave behind. */
export const duplicatesPart: RandomPart = (random) => {
  const { spec } = deploymentPart(random) as {
    spec: { template: { spec: JsonObject & { containers: JsonObject[] } } };
  };
  const [first, ...others] = spec.template.spec.containers;
  const twice = { ...first, env: [...env(random), ...env(random)] };
  const imagePullSecrets = [{ name: 's' }, { name: random.pick(['s', 't']) }];
  const podSpec = { ...spec.template.spec, containers: [twice, ...others], imagePullSecrets };
  return { spec: { ...spec, template: { ...spec.template, spec: podSpec } } as unknown as JsonObject };
};

export const servicePart: RandomPart = (random) => ({
  spec: {
    ports: [80, 443]
      .filter((port) => port === 80 || random.next() < 0.5)
      .map((port) => ({
        port,
        name: `p${port}`,
        ...some(random, [
          ['protocol', () => random.pick(['TCP', 'UDP'])],
          ['targetPort', () => random.pick([8080, 'http'])],
          ['appProtocol', () => word(random), 0.3],
        ]),
      })),
    ...some(random, [
      ['selector', labels],
      ['publishNotReadyAddresses', () => random.next() < 0.5, 0.3],
      ['type', () => 'ClusterIP', 0.3],
    ]),
  },
});

/** The spec of the custom kind of `widgetSchema`. */
export const widgetPart: RandomPart = (random) => ({
  spec: some(random, [
    ['set', () => subset(random, ['a', 'b', 'c', 'd'])],
    ['numbers', () => subset(random, [1, 2, 3])],
    ['atomic', () => subset(random, ['a', 'b'])],
    ['items', widgetItems, 0.7],
    ['granular', labels],
    ['whole', labels],
    ['free', freeForm],
    ['either', () => random.pick([1, 'one'])],
    [
      'nested',
      () =>
        some(random, [
          [
            'deep',
            () =>
              some(random, [
                ['x', word],
                ['y', word],
              ]),
          ],
          ['flag', () => true],
        ]),
    ],
    [
      'maps',
      () =>
        some(
          random,
          ['m', 'n'].map((name) => [name, labels]),
        ),
    ],
    [
      'embedded',
      () => ({ apiVersion: 'v1', kind: 'Pod', metadata: { name: 'p', labels: { a: 'a', ...labels(random) } } }),
      0.3,
    ],
  ]),
});

export const widgetStatusPart: RandomPart = (random) => ({
  status: some(random, [
    ['replicas', () => random.int(0, 3)],
    [
      'conditions',
      () => subset(random, ['Ready', 'Done']).map((type) => ({ type, status: random.pick(['True', 'False']) })),
    ],
    ['phase', word],
  ]),
});

function widgetItems(random: Random): Json {
  return subset(random, ['x', 'y', 'z']).map((name) => ({
    name,
    ...some(random, [
      ['zone', () => random.pick(['eu', 'us']), 0.3],
      ['value', word],
      ['tags', () => subset(random, ['t', 'u'])],
    ]),
  }));
}

function freeForm(random: Random): JsonObject {
  return some(random, [
    ['scalar', word],
    ['list', () => [word(random), { a: word(random) }]],
    ['object', labels],
    ['changing', () => random.pick<Json>([1, 'x', ['y'], { z: 'z' }, {}])],
  ]);
}

/** Every way in which lists and maps merge. */
export const widgetSchema = {
  type: 'object',
  properties: {
    spec: {
      type: 'object',
      properties: {
        set: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
        numbers: { type: 'array', items: { type: 'integer' }, 'x-kubernetes-list-type': 'set' },
        atomic: { type: 'array', items: { type: 'string' } },
        items: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['name', 'zone'],
          items: {
            type: 'object',
            required: ['name'],
            properties: {
              name: { type: 'string' },
              zone: { type: 'string', default: 'eu' },
              value: { type: 'string' },
              tags: { type: 'array', items: { type: 'string' }, 'x-kubernetes-list-type': 'set' },
            },
          },
        },
        granular: { type: 'object', additionalProperties: { type: 'string' } },
        whole: { type: 'object', additionalProperties: { type: 'string' }, 'x-kubernetes-map-type': 'atomic' },
        free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
        either: { 'x-kubernetes-int-or-string': true },
        nested: {
          type: 'object',
          properties: {
            flag: { type: 'boolean' },
            deep: { type: 'object', properties: { x: { type: 'string' }, y: { type: 'string' } } },
          },
        },
        maps: {
          type: 'object',
          additionalProperties: { type: 'object', additionalProperties: { type: 'string' } },
        },
        embedded: {
          type: 'object',
          'x-kubernetes-embedded-resource': true,
          'x-kubernetes-preserve-unknown-fields': true,
        },
      },
    },
    status: {
      type: 'object',
      properties: {
        replicas: { type: 'integer' },
        phase: { type: 'string' },
        conditions: {
          type: 'array',
          'x-kubernetes-list-type': 'map',
          'x-kubernetes-list-map-keys': ['type'],
          items: {
            type: 'object',
            required: ['type'],
            properties: { type: { type: 'string' }, status: { type: 'string' } },
          },
        },
      },
    },
  },
} as const;
