import { afterAll } from 'vitest';
import { apply, configMaps, definitions, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { bound, enforcedChanges, findsParams, labelled, policyPaths, ruleFor } from './policy-plays.js';

const pair = serverPair();

// Other files write on the same control plane afterwards.
afterAll(async () => {
  for (const path of Object.values(policyPaths)) await pair().both(remove(path));
});

const applying = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
const patching = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });

interface Case {
  readonly mutations: readonly object[];
  readonly spec?: object;
  readonly binding?: object;
  readonly object?: object;
  /** Whether there are params: the real server hears of them a moment later. */
  readonly hasParams?: boolean;
}

const podTemplate = {
  metadata: { name: 'params' },
  template: { metadata: { labels: { colour: 'green' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
};

/** Policies side by side, each for the ConfigMaps of its own label. */
function cases(prefix: string, all: readonly Case[]): Step[] {
  const ns = uniqueName(prefix);
  const label = (i: number) => `${ns}-${i}`;
  return [
    post(namespaces, namespace(ns, { metadata: { name: ns, labels: { team: 'a' } } }), { silent: true }),
    // ConfigMaps are params in another file: the real server stops to listen to a kind when its last policy goes.
    post(`/api/v1/namespaces/${ns}/podtemplates`, podTemplate, { silent: true }),
    ...all.flatMap(({ mutations, spec, binding }, i) =>
      bound(
        'mutating',
        label(i),
        {
          matchConstraints: labelled(label(i), ['CREATE', 'UPDATE']),
          reinvocationPolicy: 'Never',
          mutations,
          ...spec,
        },
        binding,
      ),
    ),
    ...enforcedChanges(ns, `${ns}-probe`),
    ...all.flatMap(({ object, hasParams }, i) => {
      const made = { data: { a: 'b' }, ...object, metadata: { name: `c-${i}`, labels: { case: label(i) } } };
      const settled = post(`${configMaps(ns)}?dryRun=All`, made, { silent: true, until: findsParams });
      return [...(hasParams ? [settled] : []), post(configMaps(ns), made)];
    }),
    ...all.flatMap((_, i) => [
      remove(`${policyPaths.mutatingBindings}/${label(i)}`, undefined, { silent: true }),
      remove(`${policyPaths.mutating}/${label(i)}`, undefined, { silent: true }),
    ]),
  ];
}

play(pair, 'apply configurations of mutating policies', () =>
  cases('a', [
    { mutations: [applying('Object{}')] },
    { mutations: [applying('Object{data: {"c": "d"}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{annotations: {"x": object.metadata.name}}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{labels: {"y": "z"}, finalizers: ["a.b/c"]}}')] },
    {
      mutations: [
        applying(
          'Object{metadata: Object.metadata{ownerReferences: [Object.metadata.ownerReferences{apiVersion: "v1", kind: "Pod", name: "x", uid: "y"}]}}',
        ),
      ],
    },
    { mutations: [applying('Object{immutable: true}')] },
    { mutations: [applying('Object{data: null}')] },
    { mutations: [applying('Object{immutable: null}')] },
    { mutations: [applying('Object{metadata: Object.metadata{finalizers: null}}')] },
    { mutations: [applying('Object{nothing: 1}')] },
    { mutations: [applying('Object{data: {"c": 1}}')] },
    { mutations: [applying('Object{data: "x"}')] },
    { mutations: [applying('Object{metadata: Object.spec{name: "x"}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{labels: Object.metadata.wrong{a: "b"}}}')] },
    { mutations: [applying('Object{data: {"c": object.data.nothing}}')] },
    { mutations: [applying('Object{data: {"c": object.data.nothing}}')], spec: { failurePolicy: 'Ignore' } },
    { mutations: [applying('Object{data: {"c": "1"}}'), applying('Object{data: {"d": object.data.c + "2"}}')] },
    { mutations: [applying('Object{data: {"c": object.x}}'), applying('Object{data: {"d": object.y}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{?name: optional.none(), annotations: {"k": "v"}}}')] },
    { mutations: [applying('has(object.data.a) ? Object{data: {"has": "yes"}} : Object{}')] },
    {
      mutations: [applying('Object{data: {"v": variables.v + variables.w}}')],
      spec: {
        variables: [
          { name: 'v', expression: '"1"' },
          { name: 'w', expression: 'variables.v + namespaceObject.metadata.labels.team' },
        ],
      },
    },
    {
      mutations: [applying('Object{data: {"v": "x"}}')],
      spec: { matchConditions: [{ name: 'c', expression: 'false' }] },
    },
    {
      mutations: [applying('Object{data: {"v": "x"}}')],
      spec: { matchConditions: [{ name: 'c', expression: 'object.x == 1' }] },
    },
    {
      mutations: [applying('Object{data: {"v": "x"}}')],
      spec: { failurePolicy: 'Ignore', matchConditions: [{ name: 'c', expression: 'object.x == 1' }] },
    },
    {
      mutations: [applying('Object{data: {"p": params.template.metadata.labels.colour}}')],
      spec: { paramKind: { apiVersion: 'v1', kind: 'PodTemplate' } },
      binding: { paramRef: { name: 'params', parameterNotFoundAction: 'Deny' } },
      hasParams: true,
    },
    {
      mutations: [applying('Object{data: {"p": params.template.metadata.labels.colour}}')],
      spec: { paramKind: { apiVersion: 'v1', kind: 'PodTemplate' } },
      binding: { paramRef: { name: 'nothing', parameterNotFoundAction: 'Deny' } },
    },
    {
      mutations: [applying('Object{data: {"p": params.template.metadata.labels.colour}}')],
      spec: { paramKind: { apiVersion: 'v1', kind: 'PodTemplate' } },
      binding: { paramRef: { name: 'nothing', parameterNotFoundAction: 'Allow' } },
    },
    { mutations: [applying('Object{}')], spec: { paramKind: { apiVersion: 'v1', kind: 'Nothing' } } },
    { mutations: [applying('[0,1,2].all(x, authorizer.path("/x").check("get").allowed()) ? Object{} : Object{}')] },
    { mutations: [applying('Object{metadata: Object.metadata{name: "other"}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{namespace: "other"}}')] },
    { mutations: [applying('Object{metadata: Object.metadata{labels: {"bad key": "x"}}}')] },
  ]),
);

play(pair, 'JSON patches of mutating policies', () =>
  cases('j', [
    { mutations: [patching('[JSONPatch{op: "add", path: "/data/c", value: "d"}]')] },
    { mutations: [patching('[JSONPatch{op: "replace", path: "/data", value: {"c": "d"}}]')] },
    { mutations: [patching('[JSONPatch{op: "remove", path: "/data/a"}]')] },
    { mutations: [patching('[JSONPatch{op: "remove", path: "/data/nothing"}]')] },
    {
      mutations: [
        patching('[JSONPatch{op: "test", path: "/data/a", value: "x"}, JSONPatch{op: "remove", path: "/data/a"}]'),
      ],
    },
    {
      mutations: [
        patching('[JSONPatch{op: "test", path: "/data/a", value: "b"}, JSONPatch{op: "remove", path: "/data/a"}]'),
      ],
    },
    { mutations: [patching('[JSONPatch{op: "copy", from: "/data/a", path: "/data/z"}]')] },
    { mutations: [patching('[JSONPatch{op: "move", from: "/data/a", path: "/data/z"}]')] },
    {
      mutations: [
        patching(
          '[JSONPatch{op: "add", path: "/metadata/annotations", value: {}}, JSONPatch{op: "add", path: "/metadata/annotations/" + jsonpatch.escapeKey("a.b/c"), value: "x"}]',
        ),
      ],
    },
    { mutations: [patching('[JSONPatch{op: "add", path: "/metadata/annotations/x", value: "x"}]')] },
    { mutations: [patching('[JSONPatch{op: "nope", path: "/data/a"}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/nothing", value: 1}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/data/c", value: 1}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/immutable", value: true}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/metadata", value: Object.metadata{name: "x"}}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/data", value: Object.data{k: "v"}}]')] },
    { mutations: [patching('[JSONPatch{op: "add", path: "/data", value: Object.data{k: Object.other{}}}]')] },
    { mutations: [patching('object.data.size() > 5 ? [JSONPatch{op: "add", path: "/data/c", value: "d"}] : []')] },
    {
      mutations: [
        patching('[JSONPatch{op: "add", path: "/data/c", value: object.data.a + string(size(object.data))}]'),
        applying('Object{data: {"e": object.data.c}}'),
      ],
    },
    { mutations: [patching('[JSONPatch{op: "add", path: "/data/c", value: object.nothing}]')] },
  ]),
);

play(pair, 'which objects mutating policies change', () => {
  const ns = uniqueName('o');
  const group = `${ns}.example`;
  const mine = { matchLabels: { 'kubernetes.io/metadata.name': ns } };
  const changes = (suffix: string, resourceRules: readonly object[], mutations: readonly object[], more: object = {}) =>
    bound('mutating', `${ns}-${suffix}`, {
      matchConstraints: { namespaceSelector: mine, resourceRules },
      reinvocationPolicy: 'Never',
      mutations,
      ...more,
    });
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const template = (containers: readonly object[]) => ({ metadata: { labels: { a: 'b' } }, spec: { containers } });
  const deployment = {
    metadata: { name: 'd' },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: template([{ name: 'c', image: 'i', ports: [{ containerPort: 80 }] }]),
    },
  };
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const schema = {
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer', default: 3 },
          names: { type: 'array', items: { type: 'string' } },
          parts: {
            type: 'array',
            'x-kubernetes-list-type': 'map',
            'x-kubernetes-list-map-keys': ['name'],
            items: {
              type: 'object',
              required: ['name'],
              properties: { name: { type: 'string' }, n: { type: 'integer' } },
            },
          },
        },
      },
    },
  };
  const widget = (spec: object) => ({ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name: 'w' }, spec });
  return [
    post(namespaces, namespace(ns), { silent: true }),
    ...served(definition(group, { versions: [version('v1', schema)] })),
    ...changes(
      'sidecar',
      [ruleFor('apps', ['deployments'], ['CREATE', 'UPDATE'])],
      [
        applying(
          'Object{spec: Object.spec{replicas: 2, template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "sidecar", image: "s"}, Object.spec.template.spec.containers{name: "c", imagePullPolicy: "Never"}]}}}}',
        ),
      ],
    ),
    ...changes(
      'scale',
      [ruleFor('apps', ['deployments/scale'], ['UPDATE'])],
      [applying('Object{spec: Object.spec{replicas: 7}}')],
    ),
    ...changes(
      'more-scale',
      [ruleFor('apps', ['replicasets/scale'], ['UPDATE'])],
      [patching('[JSONPatch{op: "replace", path: "/spec/replicas", value: 7}]')],
    ),
    ...changes(
      'atomic',
      [{ ...ruleFor('', ['services'], ['CREATE']), resourceNames: ['atomic'] }],
      [applying('Object{spec: Object.spec{selector: {"a": "b"}}}')],
    ),
    ...changes(
      'tolerations',
      [ruleFor('', ['pods'], ['CREATE'])],
      [applying('Object{spec: Object.spec{tolerations: [Object.spec.tolerations{key: "x"}]}}')],
    ),
    ...changes(
      'widgets',
      [ruleFor(group, ['widgets'], ['CREATE', 'UPDATE'])],
      [
        applying('Object{spec: Object.spec{parts: [Object.spec.parts{name: "b", n: 2}]}}'),
        patching(
          '[JSONPatch{op: "add", path: "/spec/names", value: ["x", "y"]}, JSONPatch{op: "add", path: "/unknown", value: 1}]',
        ),
      ],
    ),
    ...changes(
      'scalers',
      [{ ...ruleFor('autoscaling', ['horizontalpodautoscalers'], ['CREATE']), apiVersions: ['v2'] }],
      [
        applying(
          'Object{metadata: Object.metadata{labels: {"metrics": string(has(object.spec.metrics))}}, spec: Object.spec{minReplicas: 2}}',
        ),
      ],
    ),
    ...bound('mutating', `${ns}-cluster`, {
      matchConstraints: { resourceRules: [{ ...ruleFor('', ['namespaces'], ['*']), resourceNames: [`${ns}-new`] }] },
      reinvocationPolicy: 'Never',
      mutations: [applying('Object{metadata: Object.metadata{labels: {"seen": string(namespaceObject == null)}}}')],
    }),
    ...enforcedChanges(ns, `${ns}-probe`),
    // The real server learns the schemas of custom kinds for this later than those kinds.
    post(`${widgets}?dryRun=All`, widget({}), { silent: true, until: ({ status }) => status !== 503 }),
    post(deployments, deployment),
    merge(`${deployments}/d`, { metadata: { labels: { new: 'yes' } } }),
    put(`${deployments}/d`, { ...deployment, spec: { ...deployment.spec, replicas: 5 } }),
    apply(`${deployments}/e?fieldManager=me`, {
      apiVersion: 'apps/v1',
      kind: 'Deployment',
      ...deployment,
      metadata: { name: 'e' },
    }),
    merge(`${deployments}/d/scale`, { spec: { replicas: 1 } }),
    get(`${deployments}/d`),
    post(`/apis/apps/v1/namespaces/${ns}/replicasets`, deployment),
    merge(`/apis/apps/v1/namespaces/${ns}/replicasets/d/scale`, { spec: { replicas: 1 } }),
    post(`/api/v1/namespaces/${ns}/services`, { metadata: { name: 'atomic' }, spec: { ports: [{ port: 80 }] } }),
    post(`/api/v1/namespaces/${ns}/pods`, {
      metadata: { name: 'p' },
      spec: { containers: [{ name: 'c', image: 'i' }] },
    }),
    post(widgets, widget({ parts: [{ name: 'a', n: 1 }] })),
    merge(`${widgets}/w`, { spec: { size: 4 } }),
    post(`/apis/autoscaling/v1/namespaces/${ns}/horizontalpodautoscalers`, {
      metadata: { name: 'h' },
      spec: {
        maxReplicas: 5,
        targetCPUUtilizationPercentage: 50,
        scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' },
      },
    }),
    post(namespaces, namespace(`${ns}-new`)),
    remove(`${definitions}/widgets.${group}`, undefined, { silent: true }),
  ];
});

play(pair, 'mutating policies that run again', () => {
  const ns = uniqueName('i');
  const mine = { matchLabels: { 'kubernetes.io/metadata.name': ns } };
  const counting = (
    suffix: string,
    reinvocationPolicy: string,
    expression: string,
    conditions: readonly string[] = [],
  ) =>
    bound('mutating', `${ns}-${suffix}`, {
      matchConstraints: {
        namespaceSelector: mine,
        resourceRules: [{ ...ruleFor('', ['configmaps'], ['CREATE']), resourceNames: [suffix.split('.')[0] ?? ''] }],
      },
      reinvocationPolicy,
      matchConditions: conditions.map((one, i) => ({ name: `c${i}`, expression: one })),
      mutations: [applying(expression)],
    });
  const count = (key: string) => `Object{data: {"${key}": has(object.data.${key}) ? object.data.${key} + "x" : "x"}}`;
  return [
    post(namespaces, namespace(ns), { silent: true }),
    ...counting('never', 'Never', count('n')),
    ...counting('needed', 'IfNeeded', count('n')),
    ...counting('same', 'IfNeeded', 'Object{data: {"n": "x"}}'),
    ...counting('two.a', 'IfNeeded', 'Object{data: {"a": has(object.data.b) ? "saw b" : "no b"}}'),
    ...counting('two.b', 'IfNeeded', 'Object{data: {"b": "b"}}'),
    ...enforcedChanges(ns, `${ns}-probe`),
    ...['never', 'needed', 'same', 'two'].map((name) => post(configMaps(ns), { metadata: { name }, data: { a: 'b' } })),
  ];
});
