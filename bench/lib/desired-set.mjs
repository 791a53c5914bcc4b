/**
 * The objects of a set: ConfigMaps, Secrets, Services, ServiceAccounts and Deployments, `count` of them in all. `changed`
 * of them, spread over all kinds, say something else than without.
 */
export function desiredSet(namespace, count, changed = 0) {
  const every = changed === 0 ? 0 : Math.floor(count / changed);
  return Array.from({ length: count }, (_, at) => {
    const edition = every > 0 && at % every === 0 && at / every < changed ? 'two' : 'one';
    return shapes[at % shapes.length](`${namespace}`, `o-${at}`, edition);
  });
}

const labels = { 'app.kubernetes.io/part-of': 'bench' };
const meta = (namespace, name) => ({ namespace, name, labels });

const configMap = (namespace, name, edition) => ({
  ...{ apiVersion: 'v1', kind: 'ConfigMap', metadata: meta(namespace, name) },
  data: { edition, settings: 'key=value\n'.repeat(20) },
});
const secret = (namespace, name, edition) => ({
  ...{ apiVersion: 'v1', kind: 'Secret', metadata: meta(namespace, name), type: 'Opaque' },
  data: { edition: Buffer.from(edition).toString('base64') },
});
const service = (namespace, name, edition) => ({
  ...{ apiVersion: 'v1', kind: 'Service', metadata: meta(namespace, name) },
  // Headless: the addresses of a small range would run out.
  spec: {
    clusterIP: 'None',
    selector: { app: name, edition },
    ports: [{ name: 'http', port: 80, targetPort: 8080, protocol: 'TCP' }],
  },
});
const account = (namespace, name, edition) => ({
  ...{ apiVersion: 'v1', kind: 'ServiceAccount' },
  metadata: { ...meta(namespace, name), annotations: { 'bench.riata.dev/edition': edition } },
});
const deployment = (namespace, name, edition) => ({
  ...{ apiVersion: 'apps/v1', kind: 'Deployment', metadata: meta(namespace, name) },
  spec: {
    replicas: 1,
    selector: { matchLabels: { app: name } },
    template: {
      metadata: { labels: { app: name } },
      spec: { containers: [{ name: 'main', image: `example.com/app:${edition}`, env: [{ name: 'A', value: '1' }] }] },
    },
  },
});

/** In these shares: two fifths ConfigMaps, one fifth each of Secrets and Services, a tenth each of the others. */
const shapes = [...[configMap, secret, configMap, service, configMap, account, configMap, secret, service, deployment]];
