import type { ConnectedClient, RestConfig } from 'riata';
import type { Scheduler } from 'riata/runtime';
import type { Operator } from '../../config/resolve-operator.js';

/** One result of a check. */
export interface Finding {
  /** `warning`: works now, and may not later. `problem`: something does not work. */
  readonly level: 'ok' | 'warning' | 'problem';
  /** What was found. */
  readonly text: string;
  /** What to do. @default nothing */
  readonly remedy?: string;
}

/** What checks look at. */
export interface CheckedCluster {
  readonly client: ConnectedClient;
  readonly config: RestConfig;
  /** Undefined without `riata.config.ts`. */
  readonly operator: Operator | undefined;
  readonly clock: Pick<Scheduler, 'now' | 'after'>;
  readonly signal: AbortSignal;
}

/** A check; it rejects if it cannot be made, e.g. for lack of rights. */
export type Check = (cluster: CheckedCluster) => Promise<readonly Finding[]>;

export const ok = (text: string): Finding => ({ level: 'ok', text });
export const warning = (text: string, remedy?: string): Finding => ({
  level: 'warning',
  text,
  ...(remedy && { remedy }),
});
export const problem = (text: string, remedy?: string): Finding => ({
  level: 'problem',
  text,
  ...(remedy && { remedy }),
});
