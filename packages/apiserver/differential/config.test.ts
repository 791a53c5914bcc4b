import { apply, configMap, configMaps, get, merge, namespace, namespaces, post, put, secrets } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

play(pair, 'what ConfigMaps hold', () => {
  const ns = uniqueName('c');
  const all = configMaps(ns);
  const named = (name: string, more: object) => ({ apiVersion: 'v1', kind: 'ConfigMap', metadata: { name }, ...more });
  const bad = (more: object) => post(`${all}?dryRun=All`, named('bad', more));
  return [
    post(namespaces, namespace(ns)),
    bad({ data: { 'a b': '1' } }),
    bad({ data: { '': '1', '.': '2', '..': '3', '..x': '4', ok: '5' } }),
    bad({ data: { [`a${'b'.repeat(253)}`]: '1' } }),
    bad({ binaryData: { 'a/b': 'YQ==' } }),
    bad({ data: { a: '1' }, binaryData: { a: 'YQ==' } }),
    bad({ data: { a: 'x'.repeat(1024 * 1024 + 1) } }),
    bad({ data: { a: 'ü'.repeat(512 * 1024 + 1) } }),
    bad({ binaryData: { a: 'YWFh'.repeat(350_000) } }),
    post(all, { ...configMap('i', { a: '1' }), binaryData: { b: 'YQ==' }, immutable: true }),
    put(`${all}/i`, { ...configMap('i', { a: '1' }), binaryData: { b: 'YQ==' }, immutable: true }),
    merge(`${all}/i`, { metadata: { labels: { still: 'possible' } } }),
    merge(`${all}/i`, { data: { a: '2' } }),
    merge(`${all}/i`, { binaryData: { b: null, c: 'YQ==' } }),
    merge(`${all}/i`, { immutable: false }),
    merge(`${all}/i`, { immutable: null, data: { x: 'y' } }),
    apply(`${all}/i?fieldManager=m&force=true`, named('i', { data: { a: '3' } })),
    post(all, configMap('j', { a: '1' })),
    merge(`${all}/j`, { immutable: true }),
    put(`${all}/j`, configMap('j', { a: '1' })),
  ];
});

play(pair, 'secrets of every type', () => {
  const ns = uniqueName('s');
  const all = secrets(ns);
  const typed = (type: string | undefined, more: object = {}) => ({
    apiVersion: 'v1',
    kind: 'Secret',
    metadata: { name: 'x' },
    type,
    ...more,
  });
  const dry = (type: string | undefined, more: object = {}) => post(`${all}?dryRun=All`, typed(type, more));
  const text = (stringData: object) => ({ stringData });
  return [
    post(namespaces, namespace(ns)),
    dry(undefined),
    dry('', text({ a: 'b' })),
    dry('kubernetes.io/service-account-token'),
    dry('kubernetes.io/service-account-token', {
      metadata: { name: 'x', annotations: { 'kubernetes.io/service-account.name': 'default' } },
    }),
    dry('kubernetes.io/dockercfg'),
    dry('kubernetes.io/dockercfg', text({ '.dockercfg': '{}' })),
    dry('kubernetes.io/dockercfg', text({ '.dockercfg': '{' })),
    dry('kubernetes.io/dockercfg', text({ '.dockercfg': '' })),
    dry('kubernetes.io/dockercfg', text({ '.dockercfg': '[1]' })),
    dry('kubernetes.io/dockerconfigjson'),
    dry('kubernetes.io/dockerconfigjson', text({ '.dockerconfigjson': '{"auths":{}}' })),
    dry('kubernetes.io/dockerconfigjson', text({ '.dockerconfigjson': '"x"' })),
    dry('kubernetes.io/dockerconfigjson', text({ '.dockerconfigjson': 'x' })),
    dry('kubernetes.io/basic-auth'),
    dry('kubernetes.io/basic-auth', text({ username: '' })),
    dry('kubernetes.io/ssh-auth'),
    dry('kubernetes.io/ssh-auth', text({ 'ssh-privatekey': '' })),
    dry('kubernetes.io/ssh-auth', text({ 'ssh-privatekey': 'k' })),
    dry('kubernetes.io/tls'),
    dry('kubernetes.io/tls', text({ 'tls.crt': '' })),
    dry('kubernetes.io/tls', text({ 'tls.crt': '', 'tls.key': '' })),
    dry('bootstrap.kubernetes.io/token'),
    dry('Opaque', text({ 'a b': '1' })),
    dry('Opaque', { data: { a: 'YWFh'.repeat(350_000) } }),
    post(all, typed('kubernetes.io/basic-auth', text({ username: 'u', password: 'p' }))),
    put(`${all}/x`, typed('Opaque')),
    put(`${all}/x`, typed(undefined, text({ username: 'v' }))),
    put(`${all}/x`, typed('kubernetes.io/basic-auth', text({ username: 'v' }))),
    merge(`${all}/x`, { stringData: { password: 'q' } }),
    merge(`${all}/x`, { data: null }),
    apply(`${all}/x?fieldManager=m`, typed('kubernetes.io/basic-auth', text({ extra: 'e' }))),
    merge(`${all}/x`, { immutable: true }),
    merge(`${all}/x`, { stringData: { password: 'r' } }),
    merge(`${all}/x`, { immutable: false }),
    get(`${all}/x`),
  ];
});

play(pair, 'the phase and the finalizers of a namespace', () => {
  const ns = uniqueName('n');
  const at = `${namespaces}/${ns}`;
  const withFinalizers = (...finalizers: string[]) => namespace(ns, { spec: { finalizers } });
  return [
    post(namespaces, namespace(ns, { metadata: { name: ns, labels: { 'kubernetes.io/metadata.name': 'other' } } })),
    merge(at, { metadata: { labels: { 'kubernetes.io/metadata.name': null } } }),
    merge(at, { metadata: { labels: { 'kubernetes.io/metadata.name': 'x' } } }),
    put(`${at}/status`, namespace(ns, { status: { phase: 'Terminating' } })),
    put(`${at}/status`, namespace(ns)),
    merge(`${at}/status`, { status: { phase: 'Odd' } }),
    merge(`${at}/status`, {
      status: { conditions: [{ type: 'A', status: 'True', reason: 'R', message: 'm', lastTransitionTime: null }] },
    }),
    put(`${at}/finalize`, withFinalizers('kubernetes', 'a', 'a b', 'example.com/x')),
    put(`${at}/finalize`, withFinalizers('kubernetes', 'orphan')),
    put(`${at}/finalize`, withFinalizers('kubernetes')),
    post(`${namespaces}?dryRun=All`, namespace(`${ns}a`, { spec: { finalizers: ['a b', 'orphan', 'x/y/z'] } })),
    post(`${namespaces}?dryRun=All`, { metadata: { generateName: 'gen-' } }),
  ];
});

play(pair, 'leases with odd numbers', () => {
  const ns = uniqueName('l');
  const leases = `/apis/coordination.k8s.io/v1/namespaces/${ns}/leases`;
  const lease = (spec: object) => ({
    apiVersion: 'coordination.k8s.io/v1',
    kind: 'Lease',
    metadata: { name: 'a' },
    spec,
  });
  return [
    post(namespaces, namespace(ns)),
    ...[
      { leaseDurationSeconds: 0 },
      { leaseDurationSeconds: -1, leaseTransitions: -1 },
      { strategy: 'Nope' },
      { preferredHolder: 'x' },
      {},
    ].map((spec) => post(`${leases}?dryRun=All`, lease(spec))),
    post(leases, { metadata: { name: 'a' } }),
    merge(`${leases}/a`, { spec: { leaseDurationSeconds: 0 } }),
    merge(`${leases}/a`, { spec: { holderIdentity: '', strategy: 'OldestEmulationVersion', leaseTransitions: 0 } }),
  ];
});
