import { apply, get, merge, namespace, namespaces, post, put, remove } from './asks.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const volumes = '/api/v1/persistentvolumes';
const classes = '/apis/storage.k8s.io/v1/storageclasses';
const resources = { requests: { storage: '1Gi' } };

play(pair, 'claims of volumes', () => {
  const ns = uniqueName('pc');
  const all = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const claim = (spec: object, metadata: object = {}) => ({ metadata: { name: 'a', ...metadata }, spec });
  const fine = { accessModes: ['ReadWriteOnce'], resources };
  const dry = (more: object, metadata: object = {}) => post(`${all}?dryRun=All`, claim({ ...fine, ...more }, metadata));
  const pvc = { kind: 'PersistentVolumeClaim', name: 'x' };
  const snapshot = { apiGroup: 'snapshot.storage.k8s.io', kind: 'VolumeSnapshot', name: 'x' };
  const old = { 'volume.beta.kubernetes.io/storage-class': 'x' };
  return [
    post(namespaces, namespace(ns)),
    post(`${all}?dryRun=All`, claim({})),
    dry({}),
    dry({ accessModes: ['Odd', 'ReadWriteOncePod', 'ReadWriteMany'] }),
    dry({ resources: { requests: { storage: '0' } } }),
    dry({ resources: { requests: { storage: '-1' } } }),
    dry({ resources: { requests: { storage: '1500m' }, limits: { storage: '0.5' } } }),
    dry({ storageClassName: 'Not Good', volumeMode: 'Odd', volumeAttributesClassName: 'Also Not' }),
    dry({ storageClassName: '', volumeMode: 'Block' }),
    dry({ selector: { matchLabels: { 'a b': 'c' } } }),
    dry({ dataSource: pvc }),
    dry({ dataSource: snapshot }),
    dry({ dataSource: { apiGroup: 'example.com', kind: 'Other', name: 'x' } }),
    dry({ dataSourceRef: { apiGroup: 'example.com', kind: 'Other', name: 'x' } }),
    dry({ dataSourceRef: { apiGroup: 'Bad Group', kind: '', name: '' } }),
    dry({ dataSourceRef: { kind: 'Other', name: 'x' } }),
    dry({ dataSourceRef: { ...pvc, namespace: 'other' } }),
    dry({}, { annotations: old }),
    dry({ volumeName: 'v', status: { phase: 'Bound' } }),
    post(all, claim(fine)),
    put(`${all}/a`, claim(fine)),
    merge(`${all}/a`, { spec: { volumeName: 'v' } }),
    merge(`${all}/a`, { spec: { storageClassName: 'c' } }),
    merge(`${all}/a`, { metadata: { annotations: old } }),
    merge(`${all}/a/status`, { status: { phase: 'Bound', capacity: { storage: '-1' } } }),
    merge(`${all}/a/status`, {
      status: {
        allocatedResources: { cpu: '1', storage: '1Gi' },
        allocatedResourceStatuses: { storage: 'Odd', 'a b': 'NodeResizePending' },
      },
    }),
    merge(`${all}/a/status`, {
      status: { phase: 'Bound', capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'] },
    }),
    merge(`${all}/a`, { spec: { resources: { requests: { storage: '512Mi' } } } }),
    apply(`${all}/b?fieldManager=m`, {
      apiVersion: 'v1',
      kind: 'PersistentVolumeClaim',
      ...claim({ ...fine, dataSource: pvc }, { name: 'b' }),
    }),
    get(`${all}/b`),
    get(`${all}/a`),
  ];
});

play(pair, 'persistent volumes', () => {
  const name = uniqueName('pv');
  const volume = (spec: object, metadata: object = {}) => ({ metadata: { name, ...metadata }, spec });
  const fine = { accessModes: ['ReadWriteOnce'], capacity: { storage: '1Gi' } };
  const dry = (more: object, metadata: object = {}) =>
    post(`${volumes}?dryRun=All`, volume({ ...fine, ...more }, metadata));
  const hostPath = { path: '/data' };
  const csi = { driver: 'example.com', volumeHandle: 'h' };
  const affinity = {
    required: { nodeSelectorTerms: [{ matchExpressions: [{ key: 'a', operator: 'In', values: ['b'] }] }] },
  };
  return [
    post(`${volumes}?dryRun=All`, volume({})),
    dry({}),
    dry({ hostPath }),
    dry({ hostPath, csi }),
    dry({ hostPath: { path: '' } }),
    dry({ hostPath: { path: '/a/../b', type: 'Odd' } }),
    dry({ hostPath: { path: '/' }, persistentVolumeReclaimPolicy: 'Recycle' }),
    dry({
      hostPath,
      accessModes: [],
      persistentVolumeReclaimPolicy: 'Odd',
      volumeMode: 'Odd',
      storageClassName: 'A B',
    }),
    dry({ hostPath, capacity: { storage: '0' } }),
    dry({ hostPath, capacity: { cpu: '1' } }),
    dry({ hostPath, capacity: { storage: '1', cpu: '-1' } }),
    dry({ csi: {} }),
    dry({ csi: { driver: 'Bad Driver', volumeHandle: 'x', nodePublishSecretRef: { name: '' } } }),
    dry({ csi, volumeAttributesClassName: '' }),
    dry({ hostPath, volumeAttributesClassName: 'c' }),
    dry({ nfs: { server: '', path: 'x' } }),
    dry({ local: { path: '/x' } }),
    dry({ local: { path: '/x' }, nodeAffinity: affinity }),
    dry({ local: { path: '' }, nodeAffinity: {} }),
    dry({ csi, nodeAffinity: { required: { nodeSelectorTerms: [] } } }),
    dry({ hostPath }, { annotations: { 'volume.beta.kubernetes.io/mount-options': 'x' } }),
    dry({ rbd: { monitors: ['m'], image: 'i' } }),
    post(volumes, volume({ ...fine, csi })),
    merge(`${volumes}/${name}`, { spec: { persistentVolumeReclaimPolicy: 'Delete', capacity: { storage: '2Gi' } } }),
    merge(`${volumes}/${name}`, { spec: { csi: { controllerExpandSecretRef: { name: 's', namespace: 'n' } } } }),
    merge(`${volumes}/${name}`, { spec: { volumeMode: 'Block' } }),
    merge(`${volumes}/${name}`, { spec: { nodeAffinity: affinity } }),
    merge(`${volumes}/${name}`, { spec: { volumeAttributesClassName: 'c' } }),
    merge(`${volumes}/${name}`, { spec: { volumeAttributesClassName: null } }),
    merge(`${volumes}/${name}/status`, { status: { phase: 'Available' } }),
    merge(`${volumes}/${name}/status`, { status: { message: 'm' } }),
    get(`${volumes}/${name}`),
    remove(`${volumes}/${name}`, undefined, { silent: true }),
  ];
});

play(pair, 'classes of storage', () => {
  const name = uniqueName('sc');
  const dry = (more: object) =>
    post(`${classes}?dryRun=All`, { metadata: { name }, provisioner: 'example.com/p', ...more });
  // The real server hears of its classes a moment later.
  const claim = post('/api/v1/namespaces/default/persistentvolumeclaims?dryRun=All', {
    metadata: { name },
    spec: { accessModes: ['ReadWriteOnce'], resources },
  });
  const topology = (...matchLabelExpressions: object[]) => ({ matchLabelExpressions });
  const zone = { key: 'zone', values: ['a', 'b'] };
  return [
    dry({}),
    dry({ provisioner: '' }),
    dry({ provisioner: 'Example.com/Bad One' }),
    dry({ reclaimPolicy: 'Recycle', volumeBindingMode: 'Odd' }),
    dry({ reclaimPolicy: '' }),
    dry({ parameters: { '': 'x' } }),
    dry({ parameters: { a: 'x'.repeat(256 * 1024) } }),
    dry({ allowedTopologies: [topology(zone), topology(zone)] }),
    dry({
      allowedTopologies: [
        topology({ key: 'a b', values: [] }, { key: 'z', values: ['a', 'a'] }, { key: 'z', values: ['b'] }),
      ],
    }),
    post(classes, { metadata: { name }, provisioner: 'example.com/p', parameters: { a: 'b' } }),
    merge(`${classes}/${name}`, {
      parameters: { a: 'c' },
      provisioner: 'x',
      reclaimPolicy: 'Retain',
      volumeBindingMode: null,
    }),
    merge(`${classes}/${name}`, { allowVolumeExpansion: true, mountOptions: ['x'] }),
    merge(`${classes}/${name}`, {
      metadata: { annotations: { 'storageclass.kubernetes.io/is-default-class': 'true' } },
    }),
    { ...claim, until: ({ body }) => body.spec.storageClassName === name },
    remove(`${classes}/${name}`),
    { ...claim, until: ({ body }) => body.spec.storageClassName === undefined },
  ];
});

play(pair, 'changes of claims and volumes', () => {
  const ns = uniqueName('pc');
  const claims = `/api/v1/namespaces/${ns}/persistentvolumeclaims`;
  const volume = `/api/v1/persistentvolumes/${ns}`;
  const spec = { accessModes: ['ReadWriteOnce'], resources: { requests: { storage: '1Gi' } }, storageClassName: 'x' };
  const change = (more: object) => merge(`${claims}/a`, { spec: more });
  return [
    post(namespaces, namespace(ns)),
    post(claims, { metadata: { name: 'a' }, spec }),
    change({ storageClassName: 'y' }),
    change({ accessModes: ['ReadWriteMany'] }),
    change({ volumeName: 'v' }),
    change({ volumeName: 'w', storageClassName: 'z' }),
    change({ resources: { requests: { storage: '2Gi' } } }),
    change({ selector: { matchLabels: { a: 'b' } } }),
    post('/api/v1/persistentvolumes', {
      metadata: { name: ns },
      spec: { capacity: { storage: '1Gi' }, accessModes: ['ReadWriteOnce'], hostPath: { path: '/a' } },
    }),
    merge(volume, { spec: { hostPath: { path: '/b' } } }),
    merge(volume, { spec: { hostPath: null, nfs: { server: 'a', path: '/b' } } }),
    merge(volume, { spec: { volumeMode: 'Block' } }),
    merge(volume, {
      spec: { hostPath: null, csi: { driver: 'd', volumeHandle: 'h', nodeStageSecretRef: { name: 's' } } },
    }),
    merge(volume, { spec: { hostPath: null, local: { path: '/b' } } }),
    remove(volume),
    change({ resources: { requests: { storage: '2Gi' }, limits: { storage: '5Gi' } }, volumeMode: 'Block' }),
    change({ dataSource: { kind: 'PersistentVolumeClaim', name: 'b' }, volumeName: '' }),
    change({ selector: { matchExpressions: [{ key: 'a', operator: 'Exists' }] }, volumeAttributesClassName: 'v' }),
  ];
});
