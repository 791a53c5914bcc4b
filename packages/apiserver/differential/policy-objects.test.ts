import { merge, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';
import type { Ask } from './wire.js';

const pair = serverPair();
const api = '/apis/admissionregistration.k8s.io/v1';

const rule = { apiGroups: [''], apiVersions: ['v1'], operations: ['CREATE'], resources: ['configmaps'] };
const matchConstraints = { resourceRules: [rule] };

play(pair, 'validating admission policies, good and bad', () => {
  const name = uniqueName('p');
  const path = `${api}/validatingadmissionpolicies`;
  const policy = (spec: object, metadata: object = { name }) => post(`${path}?dryRun=All`, { metadata, spec });
  const valid = { expression: 'true' };
  const of = (spec: object) => policy({ matchConstraints, ...spec });
  const matches = [
    {},
    { resourceRules: [] },
    { resourceRules: [{}] },
    { resourceRules: [{ ...rule, operations: ['*', 'CREATE'], apiGroups: ['*', 'a'], apiVersions: ['*', ''] }] },
    { resourceRules: [{ ...rule, operations: ['X'], scope: 'Y', resources: ['*', 'a', 'a/*', 'a/b', '*/*', ''] }] },
    { resourceRules: [{ ...rule, resourceNames: ['a', 'a', 'b/c', '..'] }] },
    { resourceRules: [rule], excludeResourceRules: [{ ...rule, resourceNames: ['%'] }, {}] },
    { resourceRules: [rule], matchPolicy: 'Other' },
    { resourceRules: [rule], namespaceSelector: { matchLabels: { 'a b': 'c d' } } },
    { resourceRules: [rule], objectSelector: { matchExpressions: [{ key: 'x', operator: 'No' }] } },
  ];
  const kinds = [
    {},
    { apiVersion: 'v1', kind: 'ConfigMap' },
    { apiVersion: '/', kind: 'a b' },
    { apiVersion: 'a/b/c', kind: 'X' },
    { apiVersion: 'A_B/V1', kind: '-x' },
    { apiVersion: 'a/', kind: 'X' },
    { apiVersion: '/v1', kind: 'X' },
  ];
  const conditions = [
    [{ name: 'a', expression: 'true' }],
    [{ name: 'a', expression: 'params.x == 1' }],
    [{ name: 'a', expression: 'variables.x == 1' }],
    [
      { name: 'a', expression: ' ' },
      { name: 'a', expression: '1' },
      { name: '', expression: 'object.x' },
      { name: 'a b', expression: '1 +' },
    ],
  ];
  const variables = [
    [{ name: 'x', expression: '1' }],
    [{ name: 'x', expression: 'variables.y' }],
    [
      { name: '', expression: '' },
      { name: ' ', expression: ' ' },
      { name: 'a b', expression: 'x' },
      { name: 'while', expression: 'params' },
      { name: 'x', expression: 'y' },
      { name: 'y', expression: 'variables.x + 1' },
    ],
    [{ name: 'x', expression: 'int("a")' }],
  ];
  const validations = [
    [{}],
    [{ expression: ' ' }],
    [{ expression: 'object.x' }],
    [{ expression: 'params.x' }],
    [{ expression: '1 + ' }],
    [{ expression: 'int("a") == 1' }],
    [{ expression: 'has(object.spec) && object.metadata.name == request.name' }],
    [{ expression: 'request.foo == 1 || namespaceObject.bar == 2 || request.object == 1' }],
    [{ expression: 'authorizer.group("").resource("pods").check("get").allowed()' }],
    [{ expression: 'authorizer.requestResource.check("x").reason() == ""' }],
    [{ expression: 'authorizer.path("/x").check("get").errored()' }],
    [
      {
        expression: 'authorizer.serviceAccount("a", "b").group("").resource("x").subresource("y").check("z").allowed()',
      },
    ],
    [
      {
        expression:
          'authorizer.group("").resource("pods").labelSelector("a=b").fieldSelector("c=d").check("get").error() == ""',
      },
    ],
    [{ expression: 'authorizer.check("x")' }],
    [{ expression: 'Object{}' }],
    [{ expression: 'Object.spec{a: 1}' }],
    [{ ...valid, message: ' ' }],
    [{ ...valid, message: 'a\nb' }],
    [{ ...valid, messageExpression: ' ' }],
    [{ ...valid, messageExpression: '1' }],
    [{ ...valid, messageExpression: 'object.x' }],
    [{ ...valid, messageExpression: 'string(object.x)' }],
    [{ ...valid, messageExpression: 'params.x' }],
    [{ ...valid, messageExpression: 'string(authorizer == null)' }],
    [{ ...valid, reason: 'Other' }],
    [{ ...valid, reason: 'Unauthorized' }],
    [{ ...valid, reason: 'RequestEntityTooLarge' }],
    [{ expression: 'object.metadata.creationTimestamp' }],
    [{ expression: 'timestamp("2020-01-01T00:00:00Z")' }],
    [{ expression: 'null' }],
    [{ expression: '[1]' }],
    [{ expression: '{"a": [1]}' }],
    [{ expression: 'optional.of(1)' }],
    [{ expression: 'request' }],
    [{ expression: 'duration("1s")' }],
    [{ expression: 'type(1)' }],
  ];
  const annotations = [
    [{}],
    [{ key: 'a', valueExpression: '"x"' }],
    [{ key: 'a', valueExpression: 'null' }],
    [{ key: 'a', valueExpression: 'true ? null : "x"' }],
    [{ key: 'a', valueExpression: '1' }],
    [{ key: 'a', valueExpression: ' object.x ' }],
    [
      { key: 'a', valueExpression: '"x"' },
      { key: 'a', valueExpression: '"y"' },
    ],
    [{ key: 'a b', valueExpression: `"${'x'.repeat(5200)}"` }],
    Array.from({ length: 21 }, (_, i) => ({ key: `k${i}`, valueExpression: '"x"' })),
  ];
  return [
    policy({}),
    policy({ failurePolicy: 'Maybe', validations: [valid] }),
    policy({ matchConstraints, validations: [valid] }, { name: 'A B' }),
    policy({ matchConstraints, validations: [valid] }, { name: 'a.static.k8s.io' }),
    ...matches.map((matchConstraints) => policy({ matchConstraints, validations: [valid] })),
    ...kinds.map((paramKind) => of({ paramKind, validations: [valid, { expression: 'params == null' }] })),
    ...conditions.flatMap((matchConditions) => [
      of({ matchConditions, validations: [valid] }),
      of({ matchConditions, paramKind: kinds[1], validations: [valid] }),
    ]),
    of({
      matchConditions: Array.from({ length: 65 }, (_, i) => ({ name: `c${i}`, expression: 'true' })),
      validations: [valid],
    }),
    ...variables.map((list) => of({ variables: list, validations: [{ expression: 'variables.x == 1' }] })),
    ...validations.map((list) => of({ validations: list })),
    of({ paramKind: kinds[1], validations: [{ expression: 'params.x', messageExpression: 'params.y' }] }),
    ...annotations.map((auditAnnotations) => of({ auditAnnotations })),
    of({ variables: [{ name: 'x', expression: 'object' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: '[object]' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: 'request' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: 'optional.of(1)' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: 'timestamp(object)' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: 'quantity("1")' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: '{"a": 1}' }], validations: [{ expression: 'variables.x' }] }),
    of({ variables: [{ name: 'x', expression: '1' }], validations: [{ expression: 'variables' }] }),
  ];
});

play(pair, 'validating admission policies that change', () => {
  const name = uniqueName('p');
  const path = `${api}/validatingadmissionpolicies`;
  const spec = {
    matchConstraints,
    failurePolicy: 'Ignore',
    validations: [{ expression: 'true' }],
    matchConditions: [{ name: 'a', expression: 'object == null' }],
  };
  return [
    post(path, { metadata: { name }, spec }),
    put(`${path}/${name}`, { metadata: { name }, spec }),
    merge(`${path}/${name}`, { spec: { validations: [{ expression: 'object' }] } }),
    merge(`${path}/${name}`, { spec: { matchConditions: [{ name: 'b', expression: 'x' }] } }),
    merge(`${path}/${name}`, { spec: { failurePolicy: 'Fail' } }),
    merge(`${path}/${name}/status`, { status: { typeChecking: { expressionWarnings: [{}, { warning: 'x' }] } } }),
    merge(`${path}/${name}/status`, { status: { conditions: [{ type: 'a b' }] } }),
    remove(`${path}/${name}`),
  ];
});

play(pair, 'bindings of admission policies, good and bad', () => {
  const name = uniqueName('b');
  const ref = { name: 'x', parameterNotFoundAction: 'Deny' };
  const refs = [
    {},
    ref,
    { name: 'x' },
    { name: 'a/b', parameterNotFoundAction: 'Allow' },
    { ...ref, parameterNotFoundAction: 'Other' },
    { ...ref, selector: {} },
    { selector: { matchLabels: { 'a b': 'c' } }, parameterNotFoundAction: 'Deny' },
    { ...ref, namespace: 'A B' },
  ];
  const actions = [[], ['Deny'], ['Deny', 'Warn', 'Deny'], ['Audit', 'Other', 'Warn'], ['Audit', 'Audit']];
  const both = ['validatingadmissionpolicybindings', 'mutatingadmissionpolicybindings'].map((p) => `${api}/${p}`);
  const spec = { policyName: 'p', validationActions: ['Deny'] };
  const specs: readonly object[] = [
    {},
    { policyName: 'A B' },
    spec,
    ...refs.map((paramRef) => ({ ...spec, paramRef })),
    ...actions.map((validationActions) => ({ ...spec, validationActions })),
    { ...spec, matchResources: {} },
    { ...spec, matchResources: { resourceRules: [{}, { ...rule, operations: ['DELETE', 'CREATE'] }] } },
    { ...spec, matchResources: { matchPolicy: 'x', namespaceSelector: { matchLabels: { 'a b': 'c' } } } },
  ];
  return both.flatMap((path) => [
    ...specs.map((one) => post(`${path}?dryRun=All&fieldValidation=Ignore`, { metadata: { name }, spec: one })),
    post(`${path}?dryRun=All&fieldValidation=Ignore`, { metadata: { name: 'x.static.k8s.io' }, spec }),
  ]);
});

play(pair, 'mutating admission policies, good and bad', () => {
  const name = uniqueName('m');
  const path = `${api}/mutatingadmissionpolicies`;
  const policy = (spec: object) => post(`${path}?dryRun=All`, { metadata: { name }, spec });
  const apply = (expression: string) => ({ patchType: 'ApplyConfiguration', applyConfiguration: { expression } });
  const patch = (expression: string) => ({ patchType: 'JSONPatch', jsonPatch: { expression } });
  const of = (mutations: readonly object[], more: object = {}) =>
    policy({ matchConstraints, reinvocationPolicy: 'Never', mutations, ...more });
  const applies = [
    '',
    ' ',
    'Object{}',
    ' Object{metadata: Object.metadata{labels: {"a": "b"}}} ',
    'Object.spec{}',
    'Object{spec: 1}',
    'object',
    '{"a": 1}',
    'Other{}',
    'Other.x{a: 1}',
    'JSONPatch{}',
    'Object{metadata: Object.metadata{?name: optional.of("x")}}',
    'Object{metadata: Object.metadata{?name: "x"}}',
    'Object{metadata: y}',
    'Object{a: }',
    'Object{',
    'true ? Object{} : null',
    'has(object.x) ? Object{spec: Object.spec{}} : Object{}',
    'Object{}.spec == 1 ? Object{} : Object{}',
    'string{a: 1}',
    'params.x',
    'Object{spec: variables.x}',
  ];
  const patches = [
    '',
    '[]',
    '[JSONPatch{op: "add", path: "/x", value: 1}]',
    'JSONPatch{op: "add"}',
    '[JSONPatch{op: 1}]',
    '[JSONPatch{op: "add", other: 2}]',
    '[JSONPatch{op: "add", path: "/" + jsonpatch.escapeKey("a/b")}]',
    'true ? [JSONPatch{op: "x"}] : []',
    '[JSONPatch{op: "add", value: Object.spec{}}]',
    '[JSONPatch{op: "add", path: "/x", value: [1, "a"]}]',
    '[Object{}]',
    '[JSONPatch{}, Object{}]',
    'jsonpatch.escapeKey(1)',
  ];
  return [
    policy({}),
    policy({ matchConstraints, mutations: [apply('Object{}')] }),
    policy({ matchConstraints, mutations: [apply('Object{}')], reinvocationPolicy: 'Other' }),
    of([]),
    of([{}]),
    of([{ patchType: 'Other' }]),
    of([{ patchType: 'JSONPatch' }, { patchType: 'ApplyConfiguration' }]),
    of([
      { ...apply('x'), ...patch('y') },
      { ...patch('y'), ...apply('x') },
    ]),
    ...applies.map((expression) => of([apply(expression)])),
    ...patches.map((expression) => of([patch(expression)])),
    of([apply('Object{spec: variables.x}')], { variables: [{ name: 'x', expression: 'object.spec' }] }),
    of([apply('Object{}')], { variables: [{ name: 'x', expression: 'Object{}' }] }),
    of([apply('Object{}')], { matchConstraints: { resourceRules: [{ ...rule, operations: ['DELETE', 'UPDATE'] }] } }),
    of([apply('Object{}')], { matchConstraints: { resourceRules: [{ ...rule, operations: ['*'] }] } }),
    of([apply('Object{}')], { matchConstraints: { resourceRules: [{ ...rule, operations: ['CONNECT'] }] } }),
  ];
});

play(pair, 'who may name and bind params', () => {
  const name = uniqueName('w');
  const user = `user-${name}`;
  const rbac = '/apis/rbac.authorization.k8s.io/v1';
  const apiGroup = 'rbac.authorization.k8s.io';
  const as = (ask: Ask): Ask => ({ ...ask, headers: { 'impersonate-user': user } });
  const policies = ['validatingadmissionpolicies', 'mutatingadmissionpolicies'];
  const bindings = ['validatingadmissionpolicybindings', 'mutatingadmissionpolicybindings'];
  const rules = [
    { apiGroups: ['admissionregistration.k8s.io'], resources: [...policies, ...bindings], verbs: ['*'] },
    { apiGroups: [''], resources: ['secrets'], verbs: ['get'] },
    { apiGroups: [''], resources: ['configmaps'], resourceNames: ['mine'], verbs: ['get'] },
    { apiGroups: [''], resources: ['services'], verbs: ['list'] },
  ];
  const mutations = [{ patchType: 'ApplyConfiguration', applyConfiguration: { expression: 'Object{}' } }];
  const validations = [{ expression: 'true' }];
  const spec = { matchConstraints, validations, mutations, reinvocationPolicy: 'Never' };
  const kind = (of: string) => ({ apiVersion: 'v1', kind: of });
  const quiet = '?dryRun=All&fieldValidation=Ignore';
  const policy = (path: string, more: object, query = quiet) =>
    post(`${api}/${path}${query}`, { metadata: { name }, spec: { ...spec, ...more } });
  const binding = (path: string, policyName: string, paramRef: object) =>
    as(
      post(`${api}/${path}${quiet}`, {
        metadata: { name },
        spec: { policyName, validationActions: ['Deny'], paramRef: { parameterNotFoundAction: 'Deny', ...paramRef } },
      }),
    );
  return [
    post(`${rbac}/clusterroles`, { metadata: { name }, rules }),
    post(`${rbac}/clusterrolebindings`, {
      metadata: { name },
      roleRef: { apiGroup, kind: 'ClusterRole', name },
      subjects: [{ kind: 'User', name: user, apiGroup }],
    }),
    post(
      '/apis/authorization.k8s.io/v1/subjectaccessreviews',
      { spec: { user, resourceAttributes: { verb: 'list', resource: 'services' } } },
      { until: ({ body }) => body.status?.allowed === true, silent: true },
    ),
    ...policies.flatMap((path) => [
      ...['Secret', 'ConfigMap', 'Service', 'Nothing'].map((of) => as(policy(path, { paramKind: kind(of) }))),
      as(policy(path, { paramKind: kind('ConfigMap'), failurePolicy: 'Other' })),
      policy(path, { paramKind: kind('ConfigMap') }, '?fieldValidation=Ignore'),
      as(merge(`${api}/${path}/${name}`, { metadata: { labels: { a: 'b' } } })),
      as(merge(`${api}/${path}/${name}`, { spec: { paramKind: kind('Pod') } })),
    ]),
    ...bindings.flatMap((path) => [
      binding(path, 'nothing', { name: 'x' }),
      binding(path, name, { name: 'x' }),
      binding(path, name, { name: 'mine' }),
      binding(path, name, { name: 'mine', namespace: 'default' }),
      binding(path, name, { selector: {} }),
    ]),
    ...policies.map((path) => remove(`${api}/${path}/${name}`, undefined, { silent: true })),
    remove(`${rbac}/clusterrolebindings/${name}`, undefined, { silent: true }),
    remove(`${rbac}/clusterroles/${name}`, undefined, { silent: true }),
  ];
});
