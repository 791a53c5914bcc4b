/** Synthetic Pods as kube-apiserver writes them inside a PodList: about 6 KB each, 2.2 KB of it managedFields. */
export function pod(i) {
  const name = `web-frontend-${(i % 4000).toString(36)}-7d4b9c6f5d-${(i * 7919).toString(36).padStart(5, 'x').slice(-5)}-${i}`;
  const uid = (salt) => {
    const hex = ((i + 1) * 2654435761 * salt).toString(16).replace('.', '').padStart(12, 'a').slice(0, 12);
    return `3f2a7c1e-${hex.slice(0, 4)}-4${hex.slice(4, 7)}-9${hex.slice(7, 10)}-${hex}`;
  };
  const time = `2026-11-${String((i % 27) + 1).padStart(2, '0')}T1${i % 10}:2${i % 6}:3${i % 9}Z`;
  const fields = (names) => Object.fromEntries(names.map((n) => [`f:${n}`, {}]));
  return {
    metadata: {
      name,
      generateName: 'web-frontend-7d4b9c6f5d-',
      namespace: `team-${i % 50}`,
      uid: uid(3),
      resourceVersion: String(48211000 + i),
      generation: 1,
      creationTimestamp: time,
      labels: {
        app: 'web-frontend',
        'app.kubernetes.io/name': 'web',
        'app.kubernetes.io/instance': `web-${i % 400}`,
        'pod-template-hash': '7d4b9c6f5d',
        tier: 'frontend',
      },
      annotations: {
        'kubectl.kubernetes.io/restartedAt': time,
        'prometheus.io/scrape': 'true',
        'prometheus.io/port': '9090',
        'checksum/config': 'c0ffee254729296a45a3885639ac7e10f9d54979c0ffee254729296a45a38856',
      },
      ownerReferences: [
        {
          apiVersion: 'apps/v1',
          kind: 'ReplicaSet',
          name: 'web-frontend-7d4b9c6f5d',
          uid: uid(5),
          controller: true,
          blockOwnerDeletion: true,
        },
      ],
      managedFields: [
        {
          manager: 'kube-controller-manager',
          operation: 'Update',
          apiVersion: 'v1',
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:metadata': {
              'f:annotations': {
                '.': {},
                ...fields([
                  'checksum/config',
                  'kubectl.kubernetes.io/restartedAt',
                  'prometheus.io/port',
                  'prometheus.io/scrape',
                ]),
              },
              'f:generateName': {},
              'f:labels': {
                '.': {},
                ...fields(['app', 'app.kubernetes.io/instance', 'app.kubernetes.io/name', 'pod-template-hash', 'tier']),
              },
              'f:ownerReferences': { '.': {}, [`k:{"uid":"${uid(5)}"}`]: {} },
            },
            'f:spec': {
              'f:containers': {
                'k:{"name":"web"}': {
                  '.': {},
                  'f:env': {
                    '.': {},
                    'k:{"name":"LOG_LEVEL"}': { '.': {}, ...fields(['name', 'value']) },
                    'k:{"name":"REGION"}': { '.': {}, ...fields(['name', 'value']) },
                  },
                  ...fields(['image', 'imagePullPolicy', 'name', 'terminationMessagePath', 'terminationMessagePolicy']),
                  'f:livenessProbe': {
                    '.': {},
                    ...fields(['failureThreshold', 'periodSeconds', 'successThreshold', 'timeoutSeconds']),
                    'f:httpGet': { '.': {}, ...fields(['path', 'port', 'scheme']) },
                  },
                  'f:ports': {
                    '.': {},
                    'k:{"containerPort":8080,"protocol":"TCP"}': {
                      '.': {},
                      ...fields(['containerPort', 'name', 'protocol']),
                    },
                  },
                  'f:resources': {
                    '.': {},
                    'f:limits': { '.': {}, ...fields(['cpu', 'memory']) },
                    'f:requests': { '.': {}, ...fields(['cpu', 'memory']) },
                  },
                },
              },
              ...fields([
                'dnsPolicy',
                'enableServiceLinks',
                'restartPolicy',
                'schedulerName',
                'securityContext',
                'terminationGracePeriodSeconds',
              ]),
            },
          },
        },
        {
          manager: 'kubelet',
          operation: 'Update',
          apiVersion: 'v1',
          time,
          fieldsType: 'FieldsV1',
          fieldsV1: {
            'f:status': {
              'f:conditions': Object.fromEntries(
                ['ContainersReady', 'Initialized', 'Ready'].map((t) => [
                  `k:{"type":"${t}"}`,
                  { '.': {}, ...fields(['lastProbeTime', 'lastTransitionTime', 'status', 'type']) },
                ]),
              ),
              ...fields(['containerStatuses', 'hostIP', 'phase', 'podIP', 'startTime']),
              'f:podIPs': { '.': {}, [`k:{"ip":"10.${i % 200}.${i % 250}.${i % 99}"}`]: { '.': {}, 'f:ip': {} } },
            },
          },
          subresource: 'status',
        },
      ],
    },
    spec: {
      volumes: [
        {
          name: 'kube-api-access-x7k2p',
          projected: {
            sources: [
              { serviceAccountToken: { expirationSeconds: 3607, path: 'token' } },
              { configMap: { name: 'kube-root-ca.crt', items: [{ key: 'ca.crt', path: 'ca.crt' }] } },
              {
                downwardAPI: {
                  items: [{ path: 'namespace', fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.namespace' } }],
                },
              },
            ],
            defaultMode: 420,
          },
        },
      ],
      containers: [
        {
          name: 'web',
          image: `registry.example.com/team-${i % 50}/web-frontend:v1.${i % 40}.3`,
          ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
          env: [
            { name: 'LOG_LEVEL', value: 'info' },
            { name: 'REGION', value: 'eu-central-1' },
            { name: 'POD_NAME', valueFrom: { fieldRef: { apiVersion: 'v1', fieldPath: 'metadata.name' } } },
            { name: 'DATABASE_URL', value: 'postgres://web:5432/web?sslmode=require&pool=20' },
          ],
          resources: { limits: { cpu: '500m', memory: '512Mi' }, requests: { cpu: '100m', memory: '128Mi' } },
          volumeMounts: [
            {
              name: 'kube-api-access-x7k2p',
              readOnly: true,
              mountPath: '/var/run/secrets/kubernetes.io/serviceaccount',
            },
          ],
          livenessProbe: {
            httpGet: { path: '/healthz', port: 8080, scheme: 'HTTP' },
            timeoutSeconds: 1,
            periodSeconds: 10,
            successThreshold: 1,
            failureThreshold: 3,
          },
          terminationMessagePath: '/dev/termination-log',
          terminationMessagePolicy: 'File',
          imagePullPolicy: 'IfNotPresent',
        },
      ],
      restartPolicy: 'Always',
      terminationGracePeriodSeconds: 30,
      dnsPolicy: 'ClusterFirst',
      serviceAccountName: 'default',
      serviceAccount: 'default',
      nodeName: `node-${i % 1000}.eu-central-1.compute.internal`,
      securityContext: {},
      schedulerName: 'default-scheduler',
      tolerations: [
        { key: 'node.kubernetes.io/not-ready', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
        { key: 'node.kubernetes.io/unreachable', operator: 'Exists', effect: 'NoExecute', tolerationSeconds: 300 },
      ],
      priority: 0,
      enableServiceLinks: true,
      preemptionPolicy: 'PreemptLowerPriority',
    },
    status: {
      phase: 'Running',
      conditions: ['PodReadyToStartContainers', 'Initialized', 'Ready', 'ContainersReady', 'PodScheduled'].map(
        (type) => ({
          type,
          status: 'True',
          lastProbeTime: null,
          lastTransitionTime: time,
        }),
      ),
      hostIP: `192.168.${i % 250}.${i % 99}`,
      hostIPs: [{ ip: `192.168.${i % 250}.${i % 99}` }],
      podIP: `10.${i % 200}.${i % 250}.${i % 99}`,
      podIPs: [{ ip: `10.${i % 200}.${i % 250}.${i % 99}` }],
      startTime: time,
      containerStatuses: [
        {
          name: 'web',
          state: { running: { startedAt: time } },
          lastState: {},
          ready: true,
          restartCount: i % 3,
          image: `registry.example.com/team-${i % 50}/web-frontend:v1.${i % 40}.3`,
          imageID:
            'registry.example.com/web-frontend@sha256:9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
          containerID: `containerd://${uid(7).replaceAll('-', '')}${uid(11).replaceAll('-', '')}`,
          started: true,
        },
      ],
      qosClass: 'Burstable',
    },
  };
}

/** The bytes of one Pod, compact, without the newline. */
export const podBytes = (i) => Buffer.from(JSON.stringify(pod(i)));

/** A PodList body cut into chunks as TLS hands them out (16 KB), made without ever holding more than one Pod. */
export function* listChunks(count, chunkSize = 16_384) {
  let rest = Buffer.from('{"kind":"PodList","apiVersion":"v1","metadata":{"resourceVersion":"48299999"},"items":[');
  for (let i = 0; i < count; i++) {
    rest = Buffer.concat([rest, podBytes(i), Buffer.from(i + 1 < count ? ',' : ']}\n')]);
    while (rest.length >= chunkSize) {
      yield rest.subarray(0, chunkSize);
      rest = rest.subarray(chunkSize);
    }
  }
  yield rest;
}
