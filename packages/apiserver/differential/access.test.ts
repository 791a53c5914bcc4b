import { apply, get, merge, namespace, namespaces, post, put } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const api = '/apis/rbac.authorization.k8s.io/v1';

play(pair, 'rules of roles', () => {
  const ns = uniqueName('r');
  const roles = `${api}/namespaces/${ns}/roles`;
  const clusterRoles = `${api}/clusterroles`;
  const full = { apiGroups: [''], resources: ['pods'], verbs: ['get'] };
  const rules = [
    [],
    [{}],
    [{ verbs: ['get'] }],
    [{ apiGroups: [''], resources: ['pods'] }],
    [full, { apiGroups: [], resources: ['x'], verbs: ['*'] }],
    [{ nonResourceURLs: ['/healthz'], verbs: ['get'] }],
    [{ ...full, nonResourceURLs: ['/healthz'] }],
    [{ nonResourceURLs: ['/a'], verbs: ['get'], resourceNames: ['x'] }],
  ];
  const aggregates = [
    {},
    { clusterRoleSelectors: [] },
    { clusterRoleSelectors: [{ matchLabels: { a: 'b' } }] },
    { clusterRoleSelectors: [{ matchLabels: { 'a b': 'c d' } }, { matchExpressions: [{ key: 'x', operator: 'No' }] }] },
    {
      clusterRoleSelectors: [
        {
          matchExpressions: [
            { key: 'x', operator: 'In' },
            { key: '', operator: 'Exists' },
          ],
        },
      ],
    },
  ];
  return [
    post(namespaces, namespace(ns)),
    ...rules.flatMap((list) => [
      post(`${roles}?dryRun=All`, { metadata: { name: 'r' }, rules: list }),
      post(`${clusterRoles}?dryRun=All`, { metadata: { name: ns }, rules: list }),
    ]),
    ...aggregates.map((aggregationRule) =>
      post(`${clusterRoles}?dryRun=All`, { metadata: { name: ns }, rules: [], aggregationRule }),
    ),
    post(roles, { metadata: { name: 'r:1' } }),
    merge(`${roles}/r:1`, { rules: [{}] }),
    merge(`${roles}/r:1`, { rules: [full] }),
    post(roles, { metadata: { name: '.' } }),
  ];
});

play(pair, 'bindings of roles', () => {
  const ns = uniqueName('b');
  const bindings = `${api}/namespaces/${ns}/rolebindings`;
  const clusterBindings = `${api}/clusterrolebindings`;
  const binding = (roleRef: object, subjects: readonly object[] = []) => ({
    metadata: { name: ns },
    roleRef,
    subjects,
  });
  const ref = { kind: 'ClusterRole', name: 'view' };
  const refs = [
    {},
    ref,
    { kind: 'Role', name: 'x' },
    { kind: 'Other', name: '' },
    { kind: 'ClusterRole', name: 'a/b' },
    { ...ref, apiGroup: 'other' },
    { ...ref, apiGroup: '' },
  ];
  const subjects = [
    [{}],
    [
      { kind: 'User', name: 'u' },
      { kind: 'Group', name: 'g' },
    ],
    [{ kind: 'ServiceAccount', name: 'a' }],
    [{ kind: 'ServiceAccount', name: 'A B', namespace: 'x' }],
    [{ kind: 'ServiceAccount', name: '', namespace: 'x' }],
    [{ kind: 'ServiceAccount', name: 'a', namespace: 'x', apiGroup: 'y' }],
    [
      { kind: 'User', name: 'u', apiGroup: 'z' },
      { kind: 'Group', name: '' },
    ],
    [{ kind: 'Robot', name: 'r' }],
  ];
  const both = (body: object) => [bindings, clusterBindings].map((path) => post(`${path}?dryRun=All`, body));
  return [
    post(namespaces, namespace(ns)),
    ...refs.flatMap((roleRef) => both(binding(roleRef))),
    ...subjects.flatMap((list) => both(binding(ref, list))),
    post(bindings, binding(ref, [{ kind: 'User', name: 'u' }])),
    put(`${bindings}/${ns}`, binding({ kind: 'ClusterRole', name: 'edit' })),
    merge(`${bindings}/${ns}`, { roleRef: { kind: 'Role' } }),
    merge(`${bindings}/${ns}`, { subjects: [{ kind: 'Group', name: 'g' }] }),
    apply(`${bindings}/${ns}?fieldManager=m&force=true`, {
      apiVersion: 'rbac.authorization.k8s.io/v1',
      kind: 'RoleBinding',
      ...binding(ref, [{ kind: 'ServiceAccount', name: 's', namespace: ns }]),
    }),
    get(`${bindings}/${ns}`),
  ];
});
