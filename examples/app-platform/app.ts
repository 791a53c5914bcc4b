import { createHash } from 'node:crypto';
import { defineKind, type KindOf } from 'riata';
import type { WriteObject } from 'riata/client';
import { ConfigMap, Deployment, HorizontalPodAutoscaler, Service } from 'riata/kinds';
import { z } from 'zod';

/** What a team writes to run a program. */
export const App = defineKind({
  group: 'app-platform.riata.dev',
  version: 'v1',
  kind: 'App',
  spec: z.object({
    image: z.string(),
    port: z.int().min(1).max(65_535).default(8080),
    replicas: z.int().min(1).max(100).default(1),
    /** Upper limit for the autoscaler; without it, the number of replicas is fixed. */
    maxReplicas: z.int().min(1).max(100).optional(),
    settings: z.record(z.string(), z.string()).default({}),
  }),
  status: z.object({ state: z.string(), message: z.string(), replicas: z.int() }),
  printerColumns: [
    { name: 'State', type: 'string', jsonPath: '.status.state' },
    { name: 'Message', type: 'string', jsonPath: '.status.message' },
  ],
});
export interface App extends KindOf<typeof App> {}

/** The objects of an App. They have its name and are owned by it. */
export function objectsFor({ metadata: { name }, spec }: App): readonly WriteObject[] {
  const { image, port, replicas, maxReplicas, settings } = spec;
  const labels = { 'app.kubernetes.io/name': name };
  const scales = maxReplicas !== undefined && maxReplicas > replicas;
  const metadata = { name, labels };
  const container = { name: 'app', image, ports: [{ containerPort: port }], envFrom: [{ configMapRef: { name } }] };
  // Pods read their settings when they start, so a change of settings must replace them.
  const annotations = { 'app-platform.riata.dev/settings': hashOf(settings) };
  const template = { metadata: { labels, annotations }, spec: { containers: [container] } };
  const objects = [
    ConfigMap({ metadata, data: settings }),
    Service({ metadata, spec: { selector: labels, ports: [{ port: 80, targetPort: port }] } }),
    Deployment({
      metadata,
      // With an autoscaler, the autoscaler sets the replicas.
      spec: { ...(!scales && { replicas }), selector: { matchLabels: labels }, template },
    }),
  ];
  if (!scales) return objects;
  const scaleTargetRef = { apiVersion: 'apps/v1', kind: 'Deployment', name };
  const cpu = { name: 'cpu', target: { type: 'Utilization', averageUtilization: 80 } };
  const metrics = [{ type: 'Resource', resource: cpu }];
  const autoscaler = { scaleTargetRef, minReplicas: replicas, maxReplicas, metrics };
  return [...objects, HorizontalPodAutoscaler({ metadata, spec: autoscaler })];
}

function hashOf(settings: Readonly<Record<string, string>>): string {
  const sorted = Object.entries(settings).sort(([a], [b]) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(sorted)).digest('hex').slice(0, 16);
}
