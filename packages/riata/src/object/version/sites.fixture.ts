import { z } from 'zod';
import { defineKind } from '../define-kind.js';
import { withVersion } from './with-version.js';

const port = z.object({ name: z.string(), port: z.int(), protocol: z.string().optional() });

/** v2 is stored. v1 has no digests, protocols or zones; v2 has no notes. */
export const SiteV2 = defineKind({
  ...{ group: 'example.com', version: 'v2', kind: 'Site' },
  spec: z.object({
    image: z.object({ name: z.string(), tag: z.string().optional(), digest: z.string().optional() }),
    replicas: z.int().min(0).default(1),
    ports: z
      .array(port)
      .optional()
      .meta({ 'x-kubernetes-list-type': 'map', 'x-kubernetes-list-map-keys': ['name'] }),
    hosts: z.array(z.object({ host: z.string(), weight: z.int().optional(), zone: z.string().optional() })).optional(),
    zones: z.array(z.string()).optional(),
    limits: z.object({ cpu: z.string() }).optional(),
  }),
  status: z.object({ ready: z.int(), urls: z.array(z.string()).optional() }),
});

export const Site = withVersion(SiteV2, 'v1', {
  spec: z.object({
    image: z.string(),
    replicas: z.int().default(1),
    ports: z.record(z.string(), z.int()).optional(),
    hosts: z.array(z.object({ host: z.string(), weight: z.int().optional() })).optional(),
    notes: z.string().optional(),
  }),
  status: z.object({ ready: z.string() }),
  deprecated: true,
  deprecationWarning: 'example.com/v1 Site is deprecated; use v2',
  up: ({ spec: { image, replicas, ports, hosts }, status }) => {
    const [name = '', tag] = image.split(':');
    const list = ports && Object.entries(ports).map(([key, port]) => ({ name: key, port }));
    return {
      spec: { image: { name, tag }, replicas, ports: list, hosts },
      status: status && { ready: Number(status.ready ?? '0') },
    };
  },
  down: ({ spec: { image, replicas, ports, hosts }, status }) => ({
    spec: {
      image: image.tag === undefined ? image.name : `${image.name}:${image.tag}`,
      replicas,
      ports: ports && Object.fromEntries(ports.map(({ name, port }) => [name, port])),
      hosts: hosts?.map(({ host, weight }) => ({ host, weight })),
    },
    status: status && { ready: String(status.ready ?? 0) },
  }),
});
