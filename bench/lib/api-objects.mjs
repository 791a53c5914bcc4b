/** What the servers are given: small ones for writes, and ones as they are found in clusters for lists. */
export const configMap = (name, step = 0) => ({
  apiVersion: 'v1',
  kind: 'ConfigMap',
  metadata: { name, labels: { app: 'bench' } },
  data: { step: String(step), 'app.yaml': 'log:\n  level: info\nport: 8080\n', mode: 'fast' },
});

export const smallDeployment = (name, step = 0) => ({
  apiVersion: 'apps/v1',
  kind: 'Deployment',
  metadata: { name, labels: { app: name } },
  spec: {
    replicas: 1 + (step % 5),
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'web', image: `registry.example/web:${step}`, ports: [{ containerPort: 80 }] }] },
    },
  },
});

/** About 5 KB once it is stored, 2 KB of it managedFields. */
export function deployment(i) {
  const name = `web-${String(i).padStart(6, '0')}`;
  const labels = { app: name, 'app.kubernetes.io/name': 'web', 'app.kubernetes.io/part-of': `shop-${i % 100}` };
  const probe = (path) => ({ httpGet: { path, port: 8080 }, initialDelaySeconds: 5, periodSeconds: 10 });
  const container = (role) => ({
    name: role,
    image: `registry.example/shop/${role}:1.${i % 40}.0`,
    args: ['--config=/etc/web/config.yaml', `--shard=${i % 16}`],
    ports: [{ name: 'http', containerPort: 8080, protocol: 'TCP' }],
    env: ['LOG_LEVEL', 'REGION', 'CACHE_URL', 'QUEUE_URL'].map((key) => ({ name: key, value: `${key}-${i % 7}` })),
    resources: { requests: { cpu: '100m', memory: '128Mi' }, limits: { cpu: '1', memory: '512Mi' } },
    volumeMounts: [{ name: 'config', mountPath: '/etc/web', readOnly: true }],
    livenessProbe: probe('/healthz'),
    readinessProbe: probe('/readyz'),
  });
  return {
    apiVersion: 'apps/v1',
    kind: 'Deployment',
    metadata: {
      name,
      labels,
      annotations: { 'example.com/owner': `team-${i % 30}`, 'example.com/revision': String(i) },
    },
    spec: {
      replicas: 3,
      selector: { matchLabels: { app: name } },
      template: {
        metadata: { labels, annotations: { 'prometheus.io/scrape': 'true', 'prometheus.io/port': '9090' } },
        spec: {
          containers: [container('web'), container('sidecar')],
          volumes: [{ name: 'config', configMap: { name: `${name}-config` } }],
        },
      },
    },
  };
}
