import { afterAll } from 'vitest';
import { configMaps, definitions, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { bound, enforced, findsParams, labelled, policyPaths, ruleFor } from './policy-plays.js';

const pair = serverPair();

// Other files write on the same control plane afterwards.
afterAll(async () => {
  for (const path of Object.values(policyPaths)) await pair().both(remove(path));
});

/** One ConfigMap that a policy is to judge. */
const judged = (ns: string, value: string, more: object = {}) =>
  post(`${configMaps(ns)}?dryRun=All`, { metadata: { name: `c-${value}`, labels: { case: value } }, ...more });

interface Case {
  readonly spec: object;
  readonly binding?: object;
  /** What the ConfigMap has beside its name. */
  readonly object?: object;
  /** Whether there are params: the real server hears of them a moment later. */
  readonly hasParams?: boolean;
}

/** Policies side by side, each for the ConfigMaps of its own label. */
function cases(prefix: string, all: readonly Case[], before: (ns: string) => readonly Step[] = () => []): Step[] {
  const ns = uniqueName(prefix);
  const label = (i: number) => `${ns}-${i}`;
  return [
    post(namespaces, namespace(ns, { metadata: { name: ns, labels: { team: 'a' } } }), { silent: true }),
    ...before(ns),
    ...all.flatMap(({ spec, binding }, i) =>
      bound('validating', label(i), { matchConstraints: labelled(label(i)), ...spec }, binding),
    ),
    ...enforced(ns, `${ns}-probe`),
    ...all.flatMap(({ object, hasParams }, i) => {
      const ask = judged(ns, label(i), object);
      return [...(hasParams ? [{ ...ask, silent: true, until: findsParams }] : []), ask];
    }),
    ...all.flatMap((_, i) => [
      remove(`${policyPaths.validatingBindings}/${label(i)}`, undefined, { silent: true }),
      remove(`${policyPaths.validating}/${label(i)}`, undefined, { silent: true }),
    ]),
  ];
}

const saying = (messageExpression: string): Case => ({
  spec: { validations: [{ expression: 'false', messageExpression }] },
});
const checking = (...expressions: readonly string[]): Case => ({
  spec: { validations: expressions.map((expression) => ({ expression })) },
});

play(pair, 'what validating policies say', () =>
  cases('v', [
    checking('false'),
    checking('  object.data.size() > 3\n '),
    checking('true', 'true'),
    checking('true', '1 == 2', 'false'),
    checking('object.spec.replicas > 1'),
    checking('object.data.x.y == 1'),
    checking('object.data.x > 1'),
    checking('oldObject.metadata.name == "x"'),
    checking('has(oldObject.metadata)'),
    checking('has(object.metadata.name.x)'),
    checking('object.metadata.name.x == 1'),
    checking('object.metadata.managedFields.x == 1'),
    checking('object.metadata.managedFields[9] == 1'),
    checking('object.metadata.?x.y.orValue(1) == 2'),
    checking('oldObject == null && object != null && !has(request.subResource)'),
    { spec: { validations: [{ expression: 'false', message: ' no way ' }] } },
    { spec: { validations: [{ expression: 'false', message: 'no', reason: 'Forbidden' }] } },
    { spec: { validations: [{ expression: 'false', reason: 'RequestEntityTooLarge' }] } },
    {
      spec: {
        validations: [{ expression: 'object.x == 1', reason: 'Forbidden' }],
      },
    },
    { spec: { failurePolicy: 'Ignore', validations: [{ expression: 'object.x == 1' }] } },
    { spec: { failurePolicy: 'Ignore', validations: [{ expression: 'object.x == 1' }, { expression: 'false' }] } },
    {
      spec: {
        validations: [{ expression: 'false', message: 'plain', messageExpression: 'string(object.x.y)' }],
      },
    },
    { spec: { validations: [{ expression: 'false', message: 'plain', messageExpression: '" "' }] } },
    { spec: { validations: [{ expression: 'false', message: 'plain', messageExpression: '"a\\nb"' }] } },
    { spec: { validations: [{ expression: 'false', message: 'plain', messageExpression: `"${'x'.repeat(5121)}"` }] } },
    saying('" name " + object.metadata.name + " "'),
    saying('object.metadata.map(k, string(k)).sort().join(",") + " " + object.map(k, string(k)).sort().join(",")'),
    saying('request.kind.group + "," + request.kind.version + "," + request.kind.kind'),
    saying('request.resource.group + "," + request.resource.version + "," + request.resource.resource'),
    saying('request.requestKind.kind + "," + request.requestResource.resource + "," + request.operation'),
    saying('request.name + "," + request.namespace + "," + string(request.dryRun)'),
    saying('string(has(request.subResource)) + string(has(request.options)) + string(request.options.kind)'),
    saying('string(request.options.apiVersion) + string(request.options.dryRun[0])'),
    saying('request.options.map(k, string(k)).sort().join(",")'),
    saying('string("system:masters" in request.userInfo.groups)'),
    saying('string(object.apiVersion) + string(has(object.data)) + string(has(object.binaryData))'),
    saying('namespaceObject.metadata.name + namespaceObject.metadata.labels.team + namespaceObject.status.phase'),
    saying('namespaceObject.metadata.labels.map(k, k).sort().join(",") + namespaceObject.spec.finalizers[0]'),
    saying('string(has(namespaceObject.metadata.annotations)) + string(has(namespaceObject.metadata.UID))'),
    saying('string(namespaceObject.metadata.creationTimestamp < timestamp("2000-01-01T00:00:00Z"))'),
    saying('string(type(object) == map) + string(type(object.metadata.name) == string) + string(type(request) == map)'),
    {
      spec: { validations: [{ expression: 'object.data.n == "5" && int(object.data.n) < 3' }] },
      object: { data: { n: '5' } },
    },
    {
      spec: {
        auditAnnotations: [{ key: 'a', valueExpression: 'string(object.x)' }],
      },
    },
    { spec: { failurePolicy: 'Ignore', auditAnnotations: [{ key: 'a', valueExpression: 'string(object.x)' }] } },
    {
      spec: {
        auditAnnotations: [{ key: 'a', valueExpression: '"x" + object.metadata.name' }],
      },
    },
    {
      spec: {
        auditAnnotations: [{ key: 'a', valueExpression: 'string(authorizer.path("/x").check("get").allowed())' }],
      },
    },
    { spec: { validations: [{ expression: 'false' }] }, binding: { validationActions: ['Warn'] } },
    {
      spec: { validations: [{ expression: 'false' }, { expression: 'object.x == 1' }] },
      binding: { validationActions: ['Audit', 'Warn'] },
    },
    { spec: { validations: [{ expression: 'false' }] }, binding: { validationActions: ['Audit'] } },
    { spec: { validations: [{ expression: 'false' }] }, binding: { validationActions: ['Audit', 'Deny'] } },
  ]),
);

play(pair, 'variables of validating policies', () => {
  const withVariables = (variables: Readonly<Record<string, string>>, ...expressions: readonly string[]): Case => ({
    spec: {
      variables: Object.entries(variables).map(([name, expression]) => ({ name, expression })),
      validations: expressions.map((expression) => ({
        expression,
        messageExpression: '"said: " + string(variables.a)',
      })),
    },
  });
  return cases('x', [
    withVariables({ a: '1', b: 'variables.a + 1' }, 'variables.b == 2', 'variables.b == 3'),
    withVariables({ a: 'object.x' }, 'true', 'variables.a == 1'),
    withVariables({ a: 'object.x', b: 'variables.a' }, 'variables.b == 1'),
    withVariables({ a: 'object.x' }, 'true || variables.a'),
    withVariables({ a: 'object.metadata.labels' }, 'has(variables.a)', 'variables.a.size() == 2'),
    withVariables({ a: 'object' }, 'variables.a.data.x == "y"'),
    withVariables({ a: 'variables' }, 'true'),
    withVariables({ a: '"x"', a__b: '1' }, 'variables.a__b == 2'),
  ]);
});

play(pair, 'conditions of validating policies', () => {
  const when = (conditions: readonly string[], more: object = {}): Case => ({
    spec: {
      matchConditions: conditions.map((expression, i) => ({ name: `c${i}`, expression })),
      validations: [{ expression: 'false' }],
      ...more,
    },
  });
  return cases('w', [
    when(['true']),
    when(['true', 'false']),
    when(['object.x == 1']),
    when(['object.x == 1', 'object.y == 2']),
    when(['object.x == 1', 'object.x == 1']),
    when(['object.x == 1', 'false']),
    when(['object.x == 1'], { failurePolicy: 'Ignore' }),
    when(['namespaceObject == null']),
    when(['request.namespace == namespaceObject.metadata.name']),
    when(['authorizer.path("/x").check("get").allowed()']),
    when(['[1, 2, 3].all(x, authorizer.path("/x").check("get").allowed())']),
    when([
      'authorizer.path("/x").check("get").allowed()',
      ...Array(8).fill('authorizer.path("/y").check("get").allowed()'),
    ]),
  ]);
});

play(pair, 'what expressions of policies may cost', () => {
  const digits = '[0,1,2,3,4,5,6,7,8,9]';
  const nested = (depth: number): string =>
    Array.from({ length: depth }).reduce<string>((inner, _, i) => `${digits}.all(x${i}, ${inner})`, 'true');
  const check = 'authorizer.path("/x").check("get").allowed()';
  return cases('c', [
    checking(nested(3)),
    checking(nested(6)),
    checking(`${check} && ${check}`),
    checking(`${check} && ${check} && ${check}`),
    checking(...Array(28).fill(check)),
    checking(...Array(29).fill(check)),
    checking(...Array(14).fill(`${check} && ${check}`), 'false'),
    checking(...Array(14).fill(`${check} && ${check}`), check),
    { spec: { failurePolicy: 'Ignore', validations: Array(30).fill({ expression: check }) } },
    {
      spec: {
        variables: [{ name: 'v', expression: check }],
        validations: Array(29).fill({ expression: 'variables.v' }),
      },
    },
    {
      spec: {
        variables: Array.from({ length: 29 }, (_, i) => ({ name: `v${i}`, expression: check })),
        validations: Array.from({ length: 29 }, (_, i) => ({ expression: `variables.v${i}` })),
      },
    },
    {
      spec: {
        variables: [{ name: 'v', expression: `${check} && ${check} && ${check}` }],
        validations: [{ expression: 'variables.v' }],
      },
    },
    {
      spec: {
        validations: [
          ...Array(28).fill({ expression: check }),
          {
            expression: 'true',
            messageExpression: `${digits}.map(x, ${digits}.map(y, ${digits}.map(z, "x").join("")).join("")).join("") + ${digits}.map(x, ${digits}.map(y, ${digits}.map(z, ${digits}.map(w, "x").join("")).join("")).join("")).join("")`,
          },
        ],
      },
    },
  ]);
});

play(pair, 'what policies ask the authorizer', () =>
  cases('z', [
    saying('"x" + string(1)'),
    checking('authorizer.group("").resource("pods").namespace("default").check("create").allowed() == false'),
    checking(
      'authorizer.requestResource.check("create").allowed() && authorizer.requestResource.check("x").allowed() == false',
    ),
    checking('authorizer.serviceAccount("default", "default").group("").resource("pods").check("list").allowed()'),
    checking('authorizer.serviceAccount("default", "default").path("/version").check("get").allowed()'),
    checking('authorizer.serviceAccount("default", "default").path("/healthz").check("get").reason() == "x"'),
    checking('authorizer.serviceAccount("default", "default").group("").resource("pods").check("list").errored()'),
    checking('authorizer.serviceAccount("Default", "default").group("").resource("pods").check("list").allowed()'),
    checking('authorizer.serviceAccount("default", "a_b").group("").resource("pods").check("list").allowed()'),
    checking('authorizer.group("").resource(" ").check("list").allowed()'),
    checking('authorizer.path("").check("list").allowed()'),
    checking(
      'authorizer.serviceAccount("kube-system", "generic-garbage-collector").group("").resource("pods").check("list").allowed()',
    ),
    checking(
      'authorizer.serviceAccount("kube-system", "generic-garbage-collector").group("").resource("pods").labelSelector("a=b").fieldSelector("c=d").name("x").subresource("y").check("list").allowed()',
    ),
    checking('authorizer == authorizer'),
  ]),
);

play(pair, 'params of validating policies', () => {
  const group = `${uniqueName('g')}.example`;
  const custom = (plural: string, kind: string, scope: 'Cluster' | 'Namespaced') =>
    definition(group, {
      ...{ plural, kind, scope },
      versions: [version('v1', { 'x-kubernetes-preserve-unknown-fields': true })],
    });
  const param = (kind: string, name: string, limit: number) => ({
    apiVersion: `${group}/v1`,
    kind,
    metadata: { name, labels: { set: 'all' } },
    limit,
  });
  const paramKind = { apiVersion: 'v1', kind: 'ConfigMap' };
  const wall = { apiVersion: `${group}/v1`, kind: 'Wall' };
  const fence = { apiVersion: `${group}/v1`, kind: 'Fence' };
  const says = [
    {
      expression: 'false',
      messageExpression: 'params.kind + params.apiVersion + params.metadata.name + string(params.data.max)',
    },
  ];
  const walls = [
    { expression: 'false', messageExpression: 'params.kind + params.metadata.name + string(params.limit)' },
  ];
  const isNull = [{ expression: 'params != null' }];
  const ref = (name: string, more: object = {}) => ({ paramRef: { name, parameterNotFoundAction: 'Deny', ...more } });
  const by = (selector: object, more: object = {}) => ({
    paramRef: { selector, parameterNotFoundAction: 'Deny', ...more },
  });
  return cases(
    'q',
    [
      { spec: { paramKind, validations: isNull } },
      { spec: { paramKind, validations: says }, binding: ref('limits'), hasParams: true },
      { spec: { paramKind, validations: says }, binding: ref('limits', { namespace: 'default' }) },
      {
        spec: { paramKind, validations: says },
        binding: ref('limits', { namespace: 'default', parameterNotFoundAction: 'Allow' }),
      },
      { spec: { paramKind, validations: says }, binding: ref('nothing') },
      { spec: { paramKind, validations: says, failurePolicy: 'Ignore' }, binding: ref('nothing') },
      { spec: { paramKind, validations: says }, binding: by({ matchLabels: { one: 'yes' } }), hasParams: true },
      { spec: { paramKind, validations: says }, binding: by({ matchLabels: { none: 'yes' } }) },
      {
        spec: { paramKind, validations: says },
        binding: by({ matchLabels: { none: 'yes' } }, { parameterNotFoundAction: 'Allow' }),
      },
      { spec: { validations: [{ expression: 'false' }] }, binding: ref('ignored') },
      { spec: { paramKind: { apiVersion: 'no.such/v1', kind: 'Thing' }, validations: isNull } },
      { spec: { paramKind: { apiVersion: 'v1', kind: 'Thing' }, validations: isNull }, binding: ref('x') },
      { spec: { paramKind: { apiVersion: 'v1', kind: 'Thing' }, validations: isNull, failurePolicy: 'Ignore' } },
      { spec: { paramKind: wall, validations: walls }, binding: ref('east'), hasParams: true },
      { spec: { paramKind: wall, validations: walls }, binding: ref('east', { namespace: 'default' }) },
      { spec: { paramKind: wall, validations: walls }, binding: by({ matchLabels: { set: 'all' } }), hasParams: true },
      { spec: { paramKind: fence, validations: walls }, binding: ref('west'), hasParams: true },
      {
        spec: { paramKind: wall, matchConditions: [{ name: 'x', expression: 'params.limit > 3' }], validations: walls },
        binding: ref('east'),
        hasParams: true,
      },
      {
        spec: { paramKind: wall, matchConditions: [{ name: 'x', expression: 'params.limit > 1' }], validations: walls },
        binding: ref('east'),
        hasParams: true,
      },
      {
        spec: {
          paramKind: wall,
          variables: [{ name: 'x', expression: 'params.limit' }],
          validations: [{ expression: 'variables.x == 3' }],
        },
        binding: ref('east'),
        hasParams: true,
      },
    ],
    (ns) => [
      post(configMaps(ns), { metadata: { name: 'limits', labels: { one: 'yes' } }, data: { max: '3' } }),
      ...served(custom('walls', 'Wall', 'Cluster')),
      ...served(custom('fences', 'Fence', 'Namespaced')),
      post(`/apis/${group}/v1/walls`, param('Wall', 'east', 2)),
      post(`/apis/${group}/v1/namespaces/${ns}/fences`, param('Fence', 'west', 4)),
    ],
  ).concat([
    remove(`${definitions}/walls.${group}`, undefined, { silent: true }),
    remove(`${definitions}/fences.${group}`, undefined, { silent: true }),
  ]);
});

play(pair, 'which requests validating policies mean', () => {
  const ns = uniqueName('r');
  const mine = { matchLabels: { 'kubernetes.io/metadata.name': ns } };
  const deny = (suffix: string, matchConstraints: object, binding: object = {}, expression = 'false') =>
    bound(
      'validating',
      `${ns}-${suffix}`,
      {
        matchConstraints: { namespaceSelector: mine, ...matchConstraints },
        validations: [
          {
            expression,
            messageExpression:
              'request.operation + " " + request.resource.group + "/" + request.resource.version + "/" + request.resource.resource + " as " + request.kind.kind + " for " + request.requestResource.group + "/" + request.requestResource.version + (has(request.subResource) ? "/" + request.subResource : "") + (object == null ? " gone " + oldObject.apiVersion : " " + object.apiVersion + object.kind)',
          },
        ],
      },
      binding,
    );
  const event = (name: string) => ({
    metadata: { name },
    involvedObject: { kind: 'Pod', namespace: ns, name: 'p' },
    reason: 'R',
    type: 'Normal',
  });
  const scaler = (name: string) => ({
    metadata: { name },
    spec: { maxReplicas: 3, scaleTargetRef: { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' } },
  });
  const deployment = {
    metadata: { name: 'd' },
    spec: {
      replicas: 1,
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  };
  const secrets = `/api/v1/namespaces/${ns}/secrets`;
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const exact = { matchPolicy: 'Exact' };
  const autoscalers = (version: string) =>
    `/apis/autoscaling/${version}/namespaces/${ns}/horizontalpodautoscalers?dryRun=All`;
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  return [
    post(namespaces, namespace(ns), { silent: true }),
    post(configMaps(ns), { metadata: { name: 'old' }, data: { a: 'b' } }, { silent: true }),
    post(deployments, deployment, { silent: true }),
    ...deny('update', { resourceRules: [ruleFor('', ['configmaps'], ['UPDATE', 'DELETE'])] }),
    ...deny('names', {
      resourceRules: [{ ...ruleFor('', ['secrets'], ['CREATE']), resourceNames: ['a', 'b'] }],
      excludeResourceRules: [{ ...ruleFor('', ['secrets']), resourceNames: ['b'] }],
    }),
    ...deny('scope', { resourceRules: [{ ...ruleFor('', ['serviceaccounts']), scope: 'Cluster' }] }),
    ...deny('events', { resourceRules: [{ ...ruleFor('events.k8s.io', ['events']), apiVersions: ['v1'] }] }),
    ...deny('scalers', {
      resourceRules: [{ ...ruleFor('autoscaling', ['horizontalpodautoscalers']), apiVersions: ['v1'] }],
    }),
    ...deny('exact', {
      ...exact,
      resourceRules: [{ ...ruleFor('policy', ['poddisruptionbudgets']), apiVersions: ['v2'] }],
    }),
    ...deny('scale', { resourceRules: [ruleFor('apps', ['deployments/scale', 'deployments/status'])] }),
    ...deny(
      'bindings',
      { resourceRules: [ruleFor('', ['limitranges'])] },
      {
        matchResources: { objectSelector: { matchLabels: { yes: 'yes' } } },
      },
    ),
    ...bound('validating', `${ns}-cluster`, {
      matchConstraints: {
        resourceRules: [{ ...ruleFor('', ['namespaces']), resourceNames: [ns] }],
        namespaceSelector: mine,
      },
      validations: [
        {
          expression: 'request.operation == "UPDATE" && has(object.metadata.labels.ok)',
          messageExpression: 'request.operation + string(namespaceObject == null) + request.namespace',
        },
      ],
    }),
    ...enforced(ns, `${ns}-probe`),
    put(`${configMaps(ns)}/old`, { metadata: { name: 'old' }, data: { a: 'c' } }),
    merge(`${configMaps(ns)}/old`, { data: { a: 'd' } }),
    remove(`${configMaps(ns)}/old`),
    remove(configMaps(ns)),
    put(`${configMaps(ns)}/new`, { metadata: { name: 'new' } }),
    ...['a', 'b', 'c'].map((name) => post(secrets, { metadata: { name } })),
    post(secrets, { metadata: { generateName: 'a' } }, { silent: true }),
    post(accounts, { metadata: { name: 'a' } }),
    post(`/api/v1/namespaces/${ns}/events?dryRun=All`, event('a')),
    post(autoscalers('v1'), scaler('a')),
    post(autoscalers('v2'), scaler('a')),
    post(`/apis/policy/v1/namespaces/${ns}/poddisruptionbudgets?dryRun=All`, { metadata: { name: 'x' } }),
    merge(`${deployments}/d`, { spec: { replicas: 2 } }),
    merge(`${deployments}/d/scale`, { spec: { replicas: 3 } }),
    merge(`${deployments}/d/status`, { status: { replicas: 3 } }),
    post(`/api/v1/namespaces/${ns}/limitranges?dryRun=All`, { metadata: { name: 'x' } }),
    post(`/api/v1/namespaces/${ns}/limitranges?dryRun=All`, { metadata: { name: 'x', labels: { yes: 'yes' } } }),
    merge(`${namespaces}/${ns}`, { metadata: { labels: { a: 'b' } } }),
    merge(`${namespaces}/${ns}`, { metadata: { labels: { ok: 'b' } } }),
    merge(`${namespaces}/${ns}/status`, { status: { phase: 'Active' } }),
    remove(`${namespaces}/${ns}`),
    ...['update', 'names', 'scope', 'events', 'scalers', 'exact', 'scale', 'bindings', 'cluster'].map((suffix) =>
      remove(`${policyPaths.validating}/${ns}-${suffix}`, undefined, { silent: true }),
    ),
  ];
});
