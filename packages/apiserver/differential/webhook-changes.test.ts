import { Buffer } from 'node:buffer';
import { apply, configMap, configMaps, merge, post, put, remove } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';
import { WebhookPlays } from './webhook-plays.js';
import { allowed, type HookAnswer, type Hooks, patched } from './webhook-server.js';

const pair = serverPair();

const set = (path: string, value: unknown) => ({ op: 'add', path, value });
const drop = (path: string) => ({ op: 'remove', path });

/** What a webhook changes that says what an object is. */
const identities: Readonly<Record<string, readonly object[]>> = {
  'other-kind': [set('/kind', 'Secret')],
  'unknown-kind': [set('/kind', 'Nope')],
  'empty-kind': [set('/kind', '')],
  'no-kind': [drop('/kind')],
  'number-kind': [set('/kind', 1)],
  'other-version': [set('/apiVersion', 'v2')],
  'other-group': [set('/apiVersion', 'apps/v1')],
  'served-version': [set('/apiVersion', 'autoscaling/v1'), set('/kind', 'HorizontalPodAutoscaler')],
  'odd-version': [set('/apiVersion', 'a/b/c')],
  'empty-version': [set('/apiVersion', '')],
  'no-version': [drop('/apiVersion')],
  'no-type': [drop('/apiVersion'), drop('/kind')],
  name: [set('/metadata/name', 'other')],
  'no-name': [drop('/metadata/name')],
  'name-and-more': [set('/metadata/name', 'other'), set('/data', { z: '1' })],
  namespace: [set('/metadata/namespace', 'other')],
  'no-namespace': [drop('/metadata/namespace')],
  'no-metadata': [drop('/metadata')],
  'metadata-text': [set('/metadata', 'text')],
  'whole-text': [set('', 'text')],
  'whole-object': [set('', {})],
  uid: [set('/metadata/uid', 'mine')],
  revision: [set('/metadata/resourceVersion', '1')],
  generation: [set('/metadata/generation', 99)],
  created: [set('/metadata/creationTimestamp', '2020-01-01T00:00:00Z')],
  deleted: [set('/metadata/deletionTimestamp', '2020-01-01T00:00:00Z')],
};

const entry = (more: object = {}) => ({
  ...{ manager: 'hook', operation: 'Update', apiVersion: 'v1', time: '2020-01-01T00:00:00Z' },
  ...{ fieldsType: 'FieldsV1', fieldsV1: { 'f:data': { 'f:h': {} } } },
  ...more,
});
const managed = (...entries: readonly unknown[]) => [set('/metadata/managedFields', entries)];

/** What a webhook makes of managedFields. */
const accounts: Readonly<Record<string, readonly object[]>> = {
  'm-own': managed(entry()),
  'm-two': managed(entry(), entry({ manager: 'b', operation: 'Apply' })),
  'm-twice': managed(entry(), entry({ fieldsV1: { 'f:data': { 'f:i': {} } } })),
  'm-none': managed(),
  'm-null': [set('/metadata/managedFields', null)],
  'm-removed': [drop('/metadata/managedFields')],
  'm-empty': managed({}),
  'm-operation': managed(entry({ operation: 'Other' })),
  'm-no-operation': managed(entry({ operation: undefined })),
  'm-no-version': managed(entry({ apiVersion: '' })),
  'm-other-version': managed(entry({ apiVersion: 'apps/v1' })),
  'm-odd-version': managed(entry({ apiVersion: 'x/y/z' })),
  'm-no-type': managed(entry({ fieldsType: undefined })),
  'm-type': managed(entry({ fieldsType: 'FieldsV2' })),
  'm-second': managed(entry(), entry({ manager: 'b', fieldsType: '' })),
  'm-no-fields': managed(entry({ fieldsV1: undefined })),
  'm-null-fields': managed(entry({ fieldsV1: null })),
  'm-unknown-field': managed(entry({ fieldsV1: { 'f:nothing': {} } })),
  'm-bad-field': managed(entry({ fieldsV1: { 'x:y': {} } })),
  'm-no-manager': managed(entry({ manager: undefined })),
  'm-time': managed(entry({ time: 'yesterday' })),
  'm-no-time': managed(entry({ time: undefined })),
  'm-text': [set('/metadata/managedFields', 'text')],
  'm-long-manager': managed(entry({ manager: 'm'.repeat(200) })),
  'm-subresource': managed(entry({ subresource: 'status' })),
};

const encoded = (steps: readonly object[]) => Buffer.from(JSON.stringify(steps)).toString('base64');
const ok = { uid: '$UID', allowed: true };
const head = 'apiVersion: admission.k8s.io/v1\nkind: AdmissionReview\n';
const json = (response: unknown, more: object = {}) =>
  JSON.stringify({ apiVersion: 'admission.k8s.io/v1', kind: 'AdmissionReview', response, ...more });
const labels = encoded([set('/metadata/labels/by', 'hook')]);

/** Reviews in odd forms; `$UID` is the one that was sent. */
const odd: Readonly<Record<string, { status?: number; type?: string; body: string }>> = {
  yaml: { body: `${head}response:\n  uid: $UID\n  allowed: true\n` },
  'yaml-typed': { type: 'application/yaml', body: `${head}response:\n  uid: $UID\n  allowed: true\n` },
  'yaml-denied': { body: `${head}response:\n  uid: $UID\n  allowed: false\n  status:\n    message: no yaml\n` },
  'yaml-patch': { body: `${head}response: {uid: $UID, allowed: yes, patchType: JSONPatch, patch: ${labels}}\n` },
  'yaml-true': { body: `${head}response: {uid: $UID, allowed: true, patchType: JSONPatch, patch: ${labels}}\n` },
  'yaml-other-kind': { body: 'apiVersion: v1\nkind: ConfigMap\n' },
  'yaml-kindless': { body: 'response:\n  uid: $UID\n  allowed: true\n' },
  'yaml-list': { body: '- a\n- b\n' },
  'yaml-number': { body: '17' },
  'yaml-null': { body: 'null' },
  'yaml-two': { body: `${head}response: {uid: $UID, allowed: true}\n---\n${head}` },
  'yaml-comment': { body: `# well\n${head}response: {uid: $UID, allowed: true}\n` },
  'yaml-tabs': { body: '\tx' },
  typeless: { type: '', body: json(ok) },
  text: { type: 'text/plain', body: json(ok) },
  html: { type: 'text/html', body: json(ok) },
  charset: { type: 'application/json; charset=utf-8', body: json(ok) },
  'bad-type': { type: ';;', body: json(ok) },
  protobuf: { type: 'application/vnd.kubernetes.protobuf', body: json(ok) },
  'cbor-typed': { type: 'application/cbor', body: json(ok) },
  created: { status: 201, body: json(ok) },
  accepted: { status: 202, body: json(ok) },
  partial: { status: 206, body: json(ok) },
  'not-found-review': { status: 404, body: json(ok) },
  spaces: { body: `\n\n  ${json(ok)}  \n` },
  trailing: { body: `${json(ok)} x` },
  'two-objects': { body: `${json(ok)}${json(ok)}` },
  mark: { body: `\uFEFF${json(ok)}` },
  unknown: { body: json({ ...ok, more: 1 }, { other: true }) },
  doubled: { body: `${json(ok).slice(0, -1)},"response":{"uid":"$UID","allowed":false}}` },
  'case-of-names': { body: json({ UID: '$UID', Allowed: true }) },
  'text-allowed': { body: json({ ...ok, allowed: 'true' }) },
  'number-allowed': { body: json({ ...ok, allowed: 1 }) },
  'null-allowed': { body: json({ ...ok, allowed: null }) },
  'text-response': { body: json('yes') },
  'list-response': { body: json([]) },
  'null-response': { body: json(null) },
  'text-warnings': { body: json({ ...ok, warnings: 'beware' }) },
  'number-warnings': { body: json({ ...ok, warnings: [1] }) },
  'text-annotations': { body: json({ ...ok, auditAnnotations: 'a' }) },
  'number-annotations': { body: json({ ...ok, auditAnnotations: { a: 1 } }) },
  'text-status': { body: json({ ...ok, allowed: false, status: 'no' }) },
  'text-code': { body: json({ ...ok, allowed: false, status: { code: '403' } }) },
  'number-message': { body: json({ ...ok, allowed: false, status: { message: 1 } }) },
  'not-base64': { body: json({ ...ok, patchType: 'JSONPatch', patch: 'not base64!' }) },
  'list-patch': { body: json({ ...ok, patchType: 'JSONPatch', patch: [] }) },
  'number-uid': { body: json({ ...ok, uid: 7 }) },
  'review-kind': { body: json(ok, { kind: 7 }) },
  'review-version': { body: json(ok, { apiVersion: [] }) },
  'long-text': { body: 'x'.repeat(5_000) },
};

const byAnnotation: Hooks = {
  '/changes': ({ request: { object } }): HookAnswer => {
    const hook = object?.metadata?.annotations?.hook;
    const steps = identities[hook] ?? accounts[hook];
    return steps === undefined ? (odd[hook] ?? allowed) : patched(...steps);
  },
};
const hooks = new WebhookPlays(pair, byAnnotation);

const changed = (hook: string, name = hook, data: object = { a: '1' }) =>
  configMap(name, data, { annotations: { hook }, labels: { l: '1' } });

play(pair, 'webhooks that change what an object is', () => {
  const ns = uniqueName('w');
  const all = Object.keys(identities);
  const deployments = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const deployment = (hook: string) => ({
    metadata: { name: hook, annotations: { hook } },
    spec: {
      selector: { matchLabels: { a: 'b' } },
      template: { metadata: { labels: { a: 'b' } }, spec: { containers: [{ name: 'c', image: 'i' }] } },
    },
  });
  return [
    hooks.place(ns),
    post(configMaps(ns), configMap('update', { u: '1' })),
    ...hooks.configure('Mutating', ns, ns, [{ at: '/changes' }]),
    ...all.map((hook) => post(configMaps(ns), changed(hook))),
    ...all.map((hook) => put(`${configMaps(ns)}/update?dryRun=All`, changed(hook, 'update'))),
    ...all.map((hook) =>
      merge(`${configMaps(ns)}/update?dryRun=All`, { metadata: { annotations: { hook } }, data: { m: '1' } }),
    ),
    ...all.map((hook) => post(`${deployments}?dryRun=All`, deployment(hook))),
    // The real server stores an object that is applied under the name of the URL, whatever the webhook calls it.
    ...all
      .filter((hook) => !hook.startsWith('name'))
      .map((hook) => apply(`${configMaps(ns)}/applied-${hook}?fieldManager=m`, changed(hook, `applied-${hook}`))),
    ...hooks.forget('Mutating', ns, ns),
  ];
});

play(pair, 'webhooks that change what a custom object is', () => {
  const ns = uniqueName('w');
  const group = `${uniqueName('g')}.example.com`;
  const schema = { properties: { spec: { type: 'object', properties: { size: { type: 'integer' } } } } };
  const made = definition(group, {
    versions: [version('v1', schema), version('v2', schema, { storage: false })],
  });
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const widget = (hook: string, name = hook) => ({
    ...{ apiVersion: `${group}/v1`, kind: 'Widget', metadata: { name, annotations: { hook } }, spec: { size: 1 } },
  });
  // Upstream looks for the metadata of such an object where there is none.
  const names = Object.keys(identities).filter((hook) => hook !== 'metadata-text');
  const all = [...names, 'm-own', 'm-operation', 'm-removed', 'm-text'];
  return [
    hooks.place(ns),
    ...served(made),
    post(widgets, widget('none', 'update')),
    ...hooks.configure('Mutating', ns, ns, [{ at: '/changes' }]),
    ...all.map((hook) => post(widgets, widget(hook))),
    // The others are answered with the object, revision and all.
    ...all
      .filter((hook) => !['empty-kind', 'no-kind', 'no-type'].includes(hook))
      .map((hook) => merge(`${widgets}/update?dryRun=All`, { metadata: { annotations: { hook } }, spec: { size: 2 } })),
    ...hooks.forget('Mutating', ns, ns),
    remove(`/apis/apiextensions.k8s.io/v1/customresourcedefinitions/widgets.${group}`, undefined, { silent: true }),
  ];
});

play(pair, 'managedFields that webhooks change', () => {
  const ns = uniqueName('w');
  const all = Object.keys(accounts);
  return [
    hooks.place(ns),
    post(`${configMaps(ns)}?fieldManager=first`, configMap('update', { u: '1' })),
    ...hooks.configure('Mutating', ns, ns, [{ at: '/changes' }]),
    ...all.map((hook) => post(`${configMaps(ns)}?fieldManager=me`, changed(hook))),
    ...all.map((hook) => put(`${configMaps(ns)}/update?dryRun=All&fieldManager=me`, changed(hook, 'update'))),
    ...all.map((hook) =>
      apply(`${configMaps(ns)}/update?dryRun=All&fieldManager=me&force=true`, changed(hook, 'update')),
    ),
    ...all.map((hook) =>
      merge(`${configMaps(ns)}/${hook}?fieldManager=later`, {
        metadata: { annotations: { hook: '' } },
        data: { b: '2' },
      }),
    ),
    ...hooks.forget('Mutating', ns, ns),
  ];
});

for (const kind of ['Mutating', 'Validating'] as const) {
  play(pair, `reviews that ${kind} webhooks answer in odd forms`, () => {
    const ns = uniqueName('w');
    const ask = (hook: string): Step => post(`${configMaps(ns)}?dryRun=All`, changed(hook));
    return [
      hooks.place(ns),
      ...hooks.configure(kind, ns, ns, [{ at: '/changes' }]),
      ...Object.keys(odd).map(ask),
      ...hooks.forget(kind, ns, ns),
      ...hooks.configure(kind, `${ns}b`, ns, [{ at: '/changes', admissionReviewVersions: ['v1beta1'] }]),
      ...Object.keys(odd).map(ask),
      ...hooks.forget(kind, `${ns}b`, ns),
    ];
  });
}
