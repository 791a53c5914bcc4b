import { pod } from './pods.mjs';

/**
 * Pods of workloads with so many replicas, in the order of a list; what a template says differs between workloads. Another
 * `version` of the same Pod differs in what a kubelet reports.
 */
export function workloadPod(i, replicas, version) {
  const t = Math.floor(i / replicas);
  const own = pod(i);
  const template = pod(t * 31);
  const app = `app-${t.toString(36)}`;
  const suffix = ((i * 7919) % 60466176).toString(36).padStart(5, 'x');
  const { managedFields, uid, creationTimestamp } = own.metadata;
  const metadata = {
    ...template.metadata,
    name: `${app}-7d4b9c6f5d-${suffix}`,
    generateName: `${app}-7d4b9c6f5d-`,
    ...{ uid, creationTimestamp, managedFields },
    resourceVersion: String(48211000 + i + version * 1_000_000),
    labels: { ...template.metadata.labels, app, 'pod-template-hash': (t * 2654435761).toString(36).slice(-10) },
    ownerReferences: [{ ...template.metadata.ownerReferences[0], name: `${app}-7d4b9c6f5d` }],
  };
  const volume = `kube-api-access-${suffix}`;
  const [container] = template.spec.containers;
  const [first, second, third] = container.env;
  const database = { name: 'DATABASE_URL', value: `postgres://${app}:5432/${app}?sslmode=require` };
  const spec = {
    ...template.spec,
    volumes: [{ ...template.spec.volumes[0], name: volume }],
    containers: [
      {
        ...container,
        name: app,
        env: [first, second, third, database],
        resources: {
          limits: { cpu: `${t % 900}m`, memory: '512Mi' },
          requests: { cpu: '100m', memory: `${t % 800}Mi` },
        },
        volumeMounts: [{ ...container.volumeMounts[0], name: volume }],
        livenessProbe: { ...container.livenessProbe, httpGet: { path: `/${app}/healthz`, port: 8080, scheme: 'HTTP' } },
      },
    ],
    nodeName: own.spec.nodeName,
  };
  const status = structuredClone(own.status);
  Object.assign(status.containerStatuses[0], { name: app, image: container.image, restartCount: version });
  return { metadata, spec, status };
}
