import { control, defineKind, type ManagerOptions } from 'riata';
import { Deployment, Namespace } from 'riata/kinds';
import { admit } from 'riata/webhook';
import { z } from 'zod';
import { type OperatorConfig, type OperatorDefinition, type OperatorOptions, operator } from '../config/operator.js';

/** A web site. */
export const Site = defineKind({
  group: 'sites.example.com',
  version: 'v1',
  kind: 'Site',
  spec: z.object({ image: z.string(), replicas: z.int().min(0).default(1) }),
  status: z.object({ availableReplicas: z.int() }),
});

/** Runs a Deployment for each Site. */
export const sites = control(Site)
  .owns(Deployment)
  .reads(Namespace)
  .reconcile(() => {});

/** Checks Sites. */
export const siteRules = admit(Site).validates(() => {});

/** Options of a manager with everything that manifests depend on. */
export const fullOptions: ManagerOptions = {
  leaderElection: { namespace: 'site-operator', name: 'site-operator' },
  health: { port: 8081 },
  metrics: { port: 8080, protected: true },
};

/** An operator for Sites, in memory. */
export function siteConfig(
  parts: {
    readonly definitions?: readonly OperatorDefinition[];
    readonly options?: ManagerOptions;
    readonly config?: Partial<OperatorOptions>;
  } = {},
): OperatorConfig {
  const { definitions = [sites], options = {} } = parts;
  return operator({
    name: 'site-operator',
    image: 'registry.example.com/site-operator',
    version: '1.2.3',
    run: async () => ({ definitions, options }),
    ...parts.config,
  });
}
