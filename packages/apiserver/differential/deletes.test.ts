import { configMap, configMaps, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const options = (more: object) => ({ kind: 'DeleteOptions', apiVersion: 'v1', ...more });

play(pair, 'finalizers keep what is to be deleted', () => {
  const ns = uniqueName('f');
  const all = configMaps(ns);
  const a = `${all}/a`;
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a', { x: '1' }, { finalizers: ['example.com/a', 'example.com/b'] })),
    remove(a),
    remove(a),
    get(a),
    remove(`${a}?gracePeriodSeconds=30`),
    merge(a, { data: { x: '2' } }),
    merge(a, { metadata: { finalizers: ['example.com/a', 'example.com/b', 'example.com/c'] } }),
    merge(a, { metadata: { deletionTimestamp: null } }),
    merge(a, { metadata: { deletionGracePeriodSeconds: null } }),
    merge(a, { metadata: { deletionGracePeriodSeconds: 7 } }),
    put(a, configMap('a', { x: '3' }, { finalizers: ['example.com/a'] })),
    post(all, configMap('a')),
    merge(`${a}?dryRun=All`, { metadata: { finalizers: null } }),
    merge(a, { metadata: { finalizers: null } }),
    get(a),
    post(all, configMap('b', {}, { finalizers: ['example.com/a'] })),
    remove(`${all}/b?propagationPolicy=Foreground`),
    remove(`${all}/b?propagationPolicy=Orphan`),
    remove(`${all}/b?propagationPolicy=Background`),
    put(`${all}/b`, configMap('b')),
    get(`${all}/b`),
  ];
});

play(pair, 'propagation, preconditions and other options of a deletion', () => {
  const ns = uniqueName('p');
  const all = configMaps(ns);
  const fresh = (name: string) => post(all, configMap(name), { as: name });
  return [
    post(namespaces, namespace(ns)),
    ...['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'].map(fresh),
    remove(`${all}/a?propagationPolicy=Foreground`),
    get(`${all}/a`),
    remove(`${all}/b?propagationPolicy=Orphan`),
    remove(`${all}/b`),
    remove(`${all}/c`, options({ propagationPolicy: 'Background' })),
    remove(`${all}/d`, options({ orphanDependents: true })),
    remove(`${all}/e`, options({ orphanDependents: false })),
    remove(`${all}/f`, options({ orphanDependents: true, propagationPolicy: 'Orphan' })),
    remove(`${all}/f`, options({ propagationPolicy: 'Nope' })),
    remove(`${all}/f?propagationPolicy=Nope`),
    remove(`${all}/f?orphanDependents=maybe`),
    remove(`${all}/f?gracePeriodSeconds=x`),
    remove(`${all}/f?gracePeriodSeconds=-1`),
    remove(`${all}/g`, options({ preconditions: { uid: '11111111-2222-3333-4444-555555555555' } })),
    remove(`${all}/g`, options({ preconditions: { resourceVersion: '1' } })),
    remove(`${all}/g`, options({ preconditions: { resourceVersion: 'x' } })),
    remove(`${all}/g`, options({ preconditions: {}, dryRun: ['All'] })),
    remove(`${all}/g`, options({ dryRun: ['Some'] })),
    remove(`${all}/g`, { kind: 'Nope', apiVersion: 'v1' }),
    remove(`${all}/g`, { kind: 'DeleteOptions', apiVersion: 'v9' }),
    remove(`${all}/g`, { gracePeriodSeconds: 'x' }),
    remove(`${all}/g`, 'no json'),
    remove(`${all}/g`, []),
    remove(`${all}/g`, options({ unknown: 1, dryRun: ['All'] })),
    (past) =>
      remove(`${all}/g`, options({ preconditions: { uid: past.uid('g'), resourceVersion: past.revision('g') } })),
    remove(`${all}/h`, {}),
    remove(`${all}/none`, options({ preconditions: { uid: 'x' } })),
    remove(`${all}/none`, 'no json'),
  ];
});

play(pair, 'collections are deleted', () => {
  const ns = uniqueName('c');
  const all = configMaps(ns);
  return [
    post(namespaces, namespace(ns)),
    post(all, configMap('a', {}, { labels: { l: '1' } })),
    post(all, configMap('b', {}, { labels: { l: '2' } })),
    post(all, configMap('c', {}, { labels: { l: '1' }, finalizers: ['example.com/a'] })),
    post(all, configMap('d')),
    remove(`${all}?labelSelector=l%3D1`),
    get(all),
    remove(`${all}?labelSelector=l+in+(`),
    remove(`${all}?fieldSelector=metadata.name%3Db`),
    remove(`${all}?limit=1`),
    remove(all, options({ propagationPolicy: 'Foreground' })),
    remove(all, options({ preconditions: { uid: 'x' } })),
    get(all),
    remove('/api/v1/namespaces'),
    remove('/api/v1/configmaps'),
  ];
});
