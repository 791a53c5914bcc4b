import { pod } from '../micro/pods.mjs';

const KINDS = {
  widgets: { group: 'bench.riata.dev', kind: 'Widget', make: widget, breakRule: tooManyReplicas },
  pods: { group: '', kind: 'Pod', make: pod, breakRule: foreignImage },
};
/** One in so many validations is denied. */
const DENIED = 10;

/**
 * AdmissionReviews of a resource as kube-apiserver sends them, half to mutate and half to validate: creations and updates
 * in turn. One per line: path, expected answer, uid and body, separated by tabs.
 */
export function reviewLines(resource, count) {
  const { group, kind, make, breakRule } = KINDS[resource];
  const names = { group, version: 'v1' };
  const lines = Array.from({ length: count }, (_, i) => {
    const isMutation = i % 2 === 0;
    const isUpdate = (i >> 1) % 2 === 1;
    const isDenied = !isMutation && (i >> 1) % DENIED === 0;
    const typed = (made) => ({ apiVersion: group ? `${group}/v1` : 'v1', kind, ...made });
    const object = typed(make(i));
    if (isDenied) breakRule(object);
    const uid = `5f0c1b9e-7a34-4c3e-9d55-${String(i).padStart(12, '0')}`;
    const request = {
      uid,
      kind: { ...names, kind },
      resource: { ...names, resource },
      requestKind: { ...names, kind },
      requestResource: { ...names, resource },
      name: object.metadata.name,
      namespace: object.metadata.namespace,
      operation: isUpdate ? 'UPDATE' : 'CREATE',
      userInfo: {
        username: 'system:serviceaccount:shop:deployer',
        uid: 'c1a3e0de-6d5e-4f0b-8f6d-0a54d1f1e6b1',
        groups: ['system:serviceaccounts', 'system:serviceaccounts:shop', 'system:authenticated'],
      },
      object,
      oldObject: isUpdate ? typed(make(i)) : null,
      dryRun: false,
      options: {
        kind: isUpdate ? 'UpdateOptions' : 'CreateOptions',
        apiVersion: 'meta.k8s.io/v1',
        fieldManager: 'deployer',
      },
    };
    const body = JSON.stringify({ kind: 'AdmissionReview', apiVersion: 'admission.k8s.io/v1', request });
    const expected = isMutation ? 'patched' : isDenied ? 'denied' : 'allowed';
    return [`/${isMutation ? 'mutate' : 'validate'}-${resource}`, expected, uid, body].join('\t');
  });
  return `${lines.join('\n')}\n`;
}

/** A custom resource of common size: about 1.7 KB, a third of it managedFields. */
function widget(i) {
  const time = `2026-11-1${i % 8}T10:2${i % 6}:3${i % 9}Z`;
  const name = `widget-${i.toString(36)}`;
  const fields = (names) => Object.fromEntries(names.map((n) => [`f:${n}`, {}]));
  return {
    metadata: {
      ...{ name, namespace: `team-${i % 50}`, uid: `0b8b4567-327b-43c6-a43c-${String(i).padStart(12, '0')}` },
      ...{ generation: 1 + (i % 3), creationTimestamp: time, resourceVersion: String(4821100 + i) },
      labels: { app: name, 'app.kubernetes.io/part-of': 'shop', 'app.kubernetes.io/managed-by': 'deployer' },
      annotations: { 'example.com/owner': `team-${i % 30}` },
      managedFields: [
        {
          ...{
            manager: 'deployer',
            operation: 'Apply',
            apiVersion: 'bench.riata.dev/v1',
            time,
            fieldsType: 'FieldsV1',
          },
          fieldsV1: {
            'f:metadata': {
              'f:annotations': fields(['example.com/owner']),
              'f:labels': fields(['app', 'app.kubernetes.io/part-of', 'app.kubernetes.io/managed-by']),
            },
            'f:spec': {
              ...fields(['image', 'replicas', 'hosts', 'env']),
              'f:resources': { 'f:limits': fields(['cpu', 'memory']), 'f:requests': fields(['cpu', 'memory']) },
            },
          },
        },
      ],
    },
    spec: {
      image: `registry.example.com/team-${i % 50}/widget:v1.${i % 40}.0`,
      replicas: 1 + (i % 9),
      hosts: [`${name}.example.com`, `${name}.internal.example.com`],
      env: ['LOG_LEVEL', 'REGION', 'CACHE_URL', 'QUEUE_URL'].map((key) => ({ name: key, value: `${key}-${i % 7}` })),
      resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
    },
    status: {
      ...{ readyReplicas: 1, observedGeneration: 1 },
      conditions: [
        {
          ...{ type: 'Ready', status: 'True', reason: 'Reconciled', message: '', observedGeneration: 1 },
          lastTransitionTime: time,
        },
      ],
    },
  };
}

function tooManyReplicas(object) {
  object.spec.replicas = 1000;
}

function foreignImage(object) {
  object.spec.containers[0].image = 'docker.example.net/web:latest';
}
