import type { FilePlan } from './file-plan.js';

/** Options of `riata add`. */
export interface AddOptions {
  readonly group?: string;
  readonly version?: string;
  readonly clusterScoped?: boolean;
  /** Edits the main module. @default true */
  readonly wire?: boolean;
  readonly conditions?: readonly string[];
}

/** A plan, and what its user has to know. */
export interface AddPlan extends FilePlan {
  readonly notes: readonly string[];
}
