import type { Client, Patch } from 'riata/client';
import { builtinPatchSchema, Deployment, Pod, Service } from 'riata/kinds';
import type { KindRef, KubeObject } from 'riata/object';
import {
  applyJsonPatch,
  applyMergePatch,
  applyStrategicMergePatch,
  createJsonPatch,
  createMergePatch,
  createStrategicMergePatch,
  edit,
  type JsonPatch,
} from 'riata/object';
import { describe, expect, test } from 'vitest';
import { describeServers } from './servers.js';

/** A list or map at any depth, to be edited freely. */
// biome-ignore lint/suspicious/noExplicitAny: the edits below reach into objects of three kinds
type Draft = any;

const labels = { app: 'web' };
const probe = { httpGet: { path: '/', port: 80 } };

const deployment = {
  metadata: { name: 'web', labels, annotations: { a: '1', b: '2' }, finalizers: ['x.dev/a', 'x.dev/b'] },
  spec: {
    selector: { matchLabels: labels },
    template: {
      metadata: { labels },
      spec: {
        containers: [
          {
            name: 'web',
            image: 'web:1',
            ports: [{ containerPort: 80 }, { containerPort: 443, name: 'tls' }],
            env: [
              { name: 'A', value: '1' },
              { name: 'B', value: '2' },
              { name: 'C', valueFrom: { fieldRef: { fieldPath: 'metadata.name' } } },
            ],
            args: ['--a', '--b'],
            readinessProbe: probe,
            resources: { limits: { cpu: '500m' } },
            volumeMounts: [
              { name: 'data', mountPath: '/data' },
              { name: 'tmp', mountPath: '/tmp' },
            ],
          },
          { name: 'side', image: 'side:1' },
          { name: 'log', image: 'log:1' },
        ],
        volumes: [
          { name: 'data', emptyDir: {} },
          { name: 'tmp', configMap: { name: 'conf' } },
        ],
        tolerations: [{ key: 'a', operator: 'Exists' }],
        hostAliases: [{ ip: '10.1.1.1', hostnames: ['a', 'b'] }],
      },
    },
  },
};

const pod = {
  metadata: { name: 'web', labels },
  spec: { containers: [{ name: 'web', image: 'web:1' }], tolerations: [{ key: 'a', operator: 'Exists' }] },
};

const service = {
  metadata: { name: 'web', labels },
  spec: {
    selector: labels,
    ports: [
      { name: 'http', port: 80 },
      { name: 'https', port: 443 },
    ],
  },
};

const podSpec = (draft: Draft) => draft.spec.template.spec;

/** Edits that a server takes, each on its own. */
const edits: readonly [string, KindRef, object, (draft: Draft) => unknown][] = [
  [
    'another image',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).containers[1].image = 'side:2';
    },
  ],
  ['a container more', Deployment, deployment, (d) => podSpec(d).containers.push({ name: 'new', image: 'new:1' })],
  ['a container first', Deployment, deployment, (d) => podSpec(d).containers.unshift({ name: 'new', image: 'new:1' })],
  ['a container less', Deployment, deployment, (d) => podSpec(d).containers.splice(1, 1)],
  ['containers turned round', Deployment, deployment, (d) => podSpec(d).containers.reverse()],
  [
    'turned round, one gone, one new, one changed',
    Deployment,
    deployment,
    (d) => {
      const [web, , log] = podSpec(d).containers;
      podSpec(d).containers = [{ ...log, image: 'log:2' }, { name: 'new', image: 'new:1' }, web];
    },
  ],
  ['a variable less', Deployment, deployment, (d) => podSpec(d).containers[0].env.splice(0, 1)],
  ['variables in another order', Deployment, deployment, (d) => podSpec(d).containers[0].env.reverse()],
  ['no variables', Deployment, deployment, (d) => delete podSpec(d).containers[0].env],
  [
    'a value instead of a reference',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).containers[0].env[2] = { name: 'C', value: '3' };
    },
  ],
  ['arguments, a plain list', Deployment, deployment, (d) => podSpec(d).containers[0].args.push('--c')],
  ['a port less', Deployment, deployment, (d) => podSpec(d).containers[0].ports.splice(0, 1)],
  [
    'a volume of another sort',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).volumes[1] = { name: 'tmp', emptyDir: { medium: 'Memory' } };
    },
  ],
  [
    'a mount and its volume less',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).volumes.splice(0, 1);
      podSpec(d).containers[0].volumeMounts.splice(0, 1);
    },
  ],
  [
    'another strategy',
    Deployment,
    deployment,
    (d) => {
      d.spec.strategy = { type: 'Recreate' };
    },
  ],
  [
    'another probe',
    Deployment,
    deployment,
    (d) => {
      const { httpGet, ...rest } = podSpec(d).containers[0].readinessProbe;
      podSpec(d).containers[0].readinessProbe = {
        ...rest,
        exec: { command: ['true'] },
        periodSeconds: httpGet ? 7 : 8,
      };
    },
  ],
  [
    'limits and requests',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).containers[0].resources = { limits: { memory: '1Gi' }, requests: { memory: '512Mi' } };
    },
  ],
  [
    'labels and annotations',
    Deployment,
    deployment,
    (d) => {
      d.metadata.labels = { app: 'web', tier: 'a.b' };
      d.metadata.annotations = { b: '3', 'x.dev/longer': 'ä' };
    },
  ],
  [
    'finalizers, a list of words',
    Deployment,
    deployment,
    (d) => {
      d.metadata.finalizers = ['x.dev/b', 'x.dev/c'];
    },
  ],
  [
    'tolerations, a plain list of objects',
    Deployment,
    deployment,
    (d) => {
      podSpec(d).tolerations = [{ key: 'b', operator: 'Equal', value: 'c', effect: 'NoSchedule' }];
    },
  ],
  ['host aliases', Deployment, deployment, (d) => podSpec(d).hostAliases.push({ ip: '10.1.1.2', hostnames: ['c'] })],
  [
    'scale',
    Deployment,
    deployment,
    (d) => {
      d.spec.replicas = 4;
    },
  ],
  [
    'an image of a Pod',
    Pod,
    pod,
    (d) => {
      d.spec.containers[0].image = 'web:2';
    },
  ],
  ['a toleration of a Pod', Pod, pod, (d) => d.spec.tolerations.push({ key: 'b', operator: 'Exists' })],
  ['no labels on a Pod', Pod, pod, (d) => delete d.metadata.labels],
  ['a port of a Service less', Service, service, (d) => d.spec.ports.splice(0, 1)],
  [
    'a port of a Service more',
    Service,
    service,
    (d) => {
      d.spec.ports.push({ name: 'dns', port: 53, protocol: 'UDP', targetPort: 'dns' });
    },
  ],
  [
    'a port of a Service renamed',
    Service,
    service,
    (d) => {
      d.spec.ports[0].name = 'web';
    },
  ],
  [
    'the selector of a Service',
    Service,
    service,
    (d) => {
      d.spec.selector = { tier: 'front' };
    },
  ],
];

/** Make a patch, and apply it here. */
interface Way {
  make(before: object, after: object, kind: KindRef): object;
  apply(before: object, patch: object, kind: KindRef): object;
}

const ways: Readonly<Record<'strategic' | 'merge' | 'json', Way>> = {
  strategic: {
    make: (before, after, kind) => createStrategicMergePatch(before, after, builtinPatchSchema(kind)!),
    apply: (before, patch, kind) => applyStrategicMergePatch(before, patch, builtinPatchSchema(kind)!),
  },
  merge: {
    make: (before, after) => createMergePatch(before, after) as object,
    apply: (before, patch) => applyMergePatch(before, patch),
  },
  json: {
    make: (before, after) => createJsonPatch(before, after),
    apply: (before, patch) => applyJsonPatch(before, patch as JsonPatch),
  },
};

describeServers('our patch functions and the server agree', (server) => {
  describe.each(Object.keys(ways) as (keyof typeof ways)[])('%s', (type) => {
    test.each(edits)('%s', async (_, kind, start, change) => {
      const { client } = server();
      const namespace = await server().namespace();
      const before = await create(client, kind, namespace, start);
      const after = edit(before, (draft) => void change(draft));
      const patch = ways[type].make(before, after, kind);
      const here = ways[type].apply(before, patch, kind) as KubeObject;
      const there = await client.patch(kind, before.metadata, { type, body: patch } as Patch);
      expect(plain(here)).toEqual(plain(after));
      expect(plain(there)).toEqual(plain(after));
    });
  });

  test('directives written by hand', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const before = (await create(client, Deployment, namespace, deployment)) as Deployment;
    const template = (spec: object) => ({ spec: { template: { spec } } });
    const patches = [
      template({
        containers: [
          { name: 'side', $patch: 'delete' },
          { name: 'log', image: 'log:9' },
        ],
      }),
      template({
        containers: [{ $patch: 'replace' }, { name: 'web', image: 'w:1', volumeMounts: null }],
        volumes: [{ $patch: 'replace' }],
      }),
      template({
        '$setElementOrder/containers': [{ name: 'log' }, { name: 'web' }, { name: 'side' }],
        containers: [
          {
            name: 'web',
            '$setElementOrder/env': [{ name: 'C' }, { name: 'A' }],
            env: [{ name: 'B', $patch: 'delete' }],
          },
        ],
      }),
      { metadata: { '$deleteFromPrimitiveList/finalizers': ['x.dev/a'], annotations: { a: null } } },
      { spec: { strategy: { $retainKeys: ['type'], type: 'Recreate' } } },
      { metadata: { annotations: { $patch: 'replace', only: 'this' } } },
      template({ volumes: [{ name: 'tmp', $retainKeys: ['name', 'emptyDir'], emptyDir: {}, configMap: null }] }),
    ];
    for (const body of patches) {
      const there = await client.patch(Deployment, before.metadata, { type: 'strategic', body }, { dryRun: true });
      const here = applyStrategicMergePatch(before, body, builtinPatchSchema(Deployment)!);
      expect({ body, result: plain(await defaulted(client, here)) }).toEqual({ body, result: plain(there) });
    }
  });
});

async function create(client: Client, kind: KindRef, namespace: string, start: object): Promise<KubeObject> {
  const { metadata, ...rest } = start as { metadata: { name: string } };
  const type = { apiVersion: kind.apiVersion, kind: kind.kind };
  return (await client.create({ ...type, ...rest, metadata: { ...metadata, namespace } })) as unknown as KubeObject;
}

/** The fields that the server fills into a patched object. */
function defaulted(client: Client, object: KubeObject): Promise<KubeObject> {
  return client.update(object, { dryRun: true });
}

/** Without the fields that change with every write, and those that the server fills into new objects. */
function plain({ metadata, ...rest }: KubeObject): object {
  const { resourceVersion: _r, generation: _g, managedFields: _m, ...names } = metadata;
  return { ...withoutDefaults(rest), metadata: names };
}

const defaults: Readonly<Record<string, unknown>> = {
  imagePullPolicy: 'IfNotPresent',
  terminationMessagePath: '/dev/termination-log',
  terminationMessagePolicy: 'File',
  defaultMode: 420,
};

function withoutDefaults(value: unknown): object {
  const text = JSON.stringify(value, (name, part: unknown) => {
    if (Object.hasOwn(defaults, name) && defaults[name] === part) return undefined;
    return name === 'resources' && JSON.stringify(part) === '{}' ? undefined : part;
  });
  return JSON.parse(text) as object;
}
