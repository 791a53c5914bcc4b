import { apply, configMap, configMaps, get, merge, namespace, namespaces, post, put } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const kind = { apiVersion: 'v1', kind: 'ConfigMap' };

play(pair, 'several appliers of one ConfigMap', () => {
  const ns = uniqueName('a');
  const all = configMaps(ns);
  const as = (
    manager: string,
    { metadata, ...body }: { metadata?: object; [field: string]: unknown },
    force = false,
    name = 'a',
  ) =>
    apply(`${all}/${name}?fieldManager=${manager}${force ? '&force=true' : ''}`, {
      ...kind,
      metadata: { name, ...metadata },
      ...body,
    });
  return [
    post(namespaces, namespace(ns)),
    as('one', { data: { x: '1', y: '1' }, metadata: { labels: { l: '1' } } }),
    as('one', { data: { x: '1', y: '1' }, metadata: { labels: { l: '1' } } }),
    as('two', { data: { x: '1' } }),
    as('two', { data: { x: '2' } }),
    as('two', { data: { x: '2', y: '2' } }),
    as('two', { data: { x: '2' } }, true),
    as('one', { data: { x: '1', y: '1' } }),
    as('one', { data: { y: '1' } }),
    as('one', {}),
    as('two', { data: {} }),
    as('two', { data: null }),
    as('three', { metadata: { annotations: { a: 'b' }, finalizers: ['example.com/a'] } }),
    as('four', { metadata: { finalizers: ['example.com/b', 'example.com/a'] } }),
    as('four', { metadata: { finalizers: [] } }),
    as('three', { metadata: {} }),
    put(`${all}/a?fieldManager=five`, configMap('a', { p: '1', q: '1' })),
    as('six', { data: { p: '2' } }),
    as('six', { data: { p: '1' } }),
    merge(`${all}/a?fieldManager=five`, { data: { p: '3' } }),
    as('six', { data: { p: '1' } }),
    as('six', { data: { p: '1' } }, true),
    as('seven', { data: { n: 5 } }),
    as('seven', { data: 'x' }),
    as('seven', { nope: 'x' }),
    as('seven', { metadata: { managedFields: [] } }),
    as('seven', { metadata: { managedFields: [{ manager: 'x' }] } }),
    as('seven', { metadata: { name: 'b' } }),
    as('seven', { metadata: { namespace: 'other' } }),
    as('seven', { metadata: { uid: '11111111-2222-3333-4444-555555555555' } }),
    as('seven', { metadata: { resourceVersion: '1' } }),
    as('seven', { metadata: { labels: { 'b a d': '1' } } }),
    as('seven', { metadata: { creationTimestamp: null, labels: { s: '7' } } }),
    apply(`${all}/a?fieldManager=nameless`, { ...kind, data: { name: 'less' } }),
    apply(`${all}/b?fieldManager=nameless`, { ...kind, data: { name: 'less' } }),
    as('new', { data: { n: 'ew' } }, false, 'b'),
    as('new', { data: { n: 'ew' }, metadata: { resourceVersion: '1' } }, false, 'c'),
    as('new', { data: { n: 'ew' }, metadata: { uid: '11111111-2222-3333-4444-555555555555' } }, false, 'd'),
    as('new', { data: { n: 'ew' }, metadata: { generateName: 'x-' } }, false, 'e'),
    as('new', { data: { n: 'ew' } }, false, 'Bad_Name'),
    as('new', { data: { n: 'ew' }, metadata: { finalizers: ['example.com/x', 'example.com/x'] } }, false, 'f'),
    apply(`${all}/g?fieldManager=strict&fieldValidation=Strict`, { ...kind, metadata: { name: 'g' }, unknown: 1 }),
    apply(`${all}/g?fieldManager=warn&fieldValidation=Warn`, { ...kind, metadata: { name: 'g' }, unknown: 1 }),
    apply(`${all}/g?fieldManager=dry&dryRun=All`, { ...kind, metadata: { name: 'g' }, data: { d: '1' } }),
    merge(`${all}/a`, { metadata: { managedFields: [{}] } }),
    as('after', { data: { p: '9' } }),
    as('after', { data: { p: '1' } }),
    get(all),
  ];
});

play(pair, 'kubectl moves from client-side to server-side apply', () => {
  const ns = uniqueName('k');
  const all = configMaps(ns);
  const last = JSON.stringify({ ...kind, metadata: { name: 'a' }, data: { x: '1', y: '1' } });
  const annotations = { 'kubectl.kubernetes.io/last-applied-configuration': last };
  const manager = 'kubectl-client-side-apply';
  return [
    post(namespaces, namespace(ns)),
    post(`${all}?fieldManager=${manager}`, configMap('a', { x: '1', y: '1' }, { annotations })),
    apply(`${all}/a?fieldManager=kubectl`, { ...kind, metadata: { name: 'a' }, data: { x: '1' } }),
    apply(`${all}/a?fieldManager=kubectl`, { ...kind, metadata: { name: 'a' }, data: { x: '2' } }),
    apply(`${all}/a?fieldManager=kubectl&force=true`, { ...kind, metadata: { name: 'a' }, data: { x: '2' } }),
    get(`${all}/a`),
  ];
});

play(pair, 'applying to lists that merge in different ways', () => {
  const ns = uniqueName('l');
  const roles = `/apis/rbac.authorization.k8s.io/v1/namespaces/${ns}/roles`;
  const accounts = `/api/v1/namespaces/${ns}/serviceaccounts`;
  const role = (rules: object[]) => ({
    apiVersion: 'rbac.authorization.k8s.io/v1',
    kind: 'Role',
    metadata: { name: 'r' },
    rules,
  });
  const account = (secrets: object[], images: object[] = []) => ({
    apiVersion: 'v1',
    kind: 'ServiceAccount',
    metadata: { name: 's' },
    secrets,
    imagePullSecrets: images,
  });
  const rule = (resource: string) => ({ apiGroups: [''], resources: [resource], verbs: ['get'] });
  const owner = (uid: string, controller?: boolean) => ({ apiVersion: 'v1', kind: 'X', name: 'x', uid, controller });
  const owned = (...ownerReferences: object[]) => ({ ...kind, metadata: { name: 'o', ownerReferences } });
  return [
    post(namespaces, namespace(ns)),
    apply(`${roles}/r?fieldManager=one`, role([rule('pods')])),
    apply(`${roles}/r?fieldManager=two`, role([rule('pods')])),
    apply(`${roles}/r?fieldManager=two`, role([rule('pods'), rule('nodes')])),
    apply(`${roles}/r?fieldManager=two&force=1`, role([rule('pods'), rule('nodes')])),
    apply(`${accounts}/s?fieldManager=one`, account([{ name: 'a' }, { name: 'b' }], [{ name: 'i' }])),
    apply(`${accounts}/s?fieldManager=two`, account([{ name: 'c' }, { name: 'b' }], [{ name: 'j' }])),
    apply(`${accounts}/s?fieldManager=two`, account([{ name: 'c', namespace: 'x' }])),
    apply(`${accounts}/s?fieldManager=two`, account([{ name: 'c' }, { name: 'c' }])),
    apply(`${accounts}/s?fieldManager=two`, account([{ namespace: 'x' }])),
    apply(`${accounts}/s?fieldManager=one`, account([{ name: 'b' }])),
    apply(`${configMaps(ns)}/o?fieldManager=one`, owned(owner('u1', true))),
    apply(`${configMaps(ns)}/o?fieldManager=two`, owned(owner('u2'))),
    apply(`${configMaps(ns)}/o?fieldManager=three`, owned(owner('u1', false))),
    apply(`${configMaps(ns)}/o?fieldManager=four`, owned(owner('u4', true))),
    apply(`${configMaps(ns)}/o?fieldManager=one`, owned()),
    get(`${configMaps(ns)}/o`),
  ];
});

play(pair, 'managedFields of a kind with two forms', () => {
  const ns = uniqueName('apply');
  const at = (v: string) => `/apis/autoscaling/${v}/namespaces/${ns}/horizontalpodautoscalers`;
  const target = { apiVersion: 'apps/v1', kind: 'Deployment', name: 'd' };
  const one = (v: string, spec: object) => ({
    ...{ apiVersion: `autoscaling/${v}`, kind: 'HorizontalPodAutoscaler', metadata: { name: 'a' } },
    spec: { scaleTargetRef: target, maxReplicas: 5, ...spec },
  });
  return [
    post(namespaces, namespace(ns)),
    post(`${at('v2')}?fieldManager=two`, one('v2', { minReplicas: 2 })),
    merge(`${at('v1')}/a?fieldManager=one`, { spec: { maxReplicas: 6 } }),
    merge(`${at('v2')}/a?fieldManager=three`, { spec: { scaleTargetRef: { name: 'e' } } }),
    merge(`${at('v1')}/a?fieldManager=four`, { spec: { targetCPUUtilizationPercentage: 50 } }),
    apply(`${at('v2')}/a?fieldManager=five`, one('v2', {})),
    apply(`${at('v1')}/a?fieldManager=six&force=true`, one('v1', { targetCPUUtilizationPercentage: 60 })),
    apply(`${at('v2')}/a?fieldManager=five`, one('v2', { minReplicas: 3 })),
    put(`${at('v1')}/a?fieldManager=one`, one('v1', { maxReplicas: 9 })),
  ];
});
