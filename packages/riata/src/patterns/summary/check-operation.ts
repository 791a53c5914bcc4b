import type { TypeMeta } from '../../object/meta.js';
import { amend, type Summarizer } from './summary-draft.js';

const kinds: ReadonlySet<string> = new Set([
  'EncryptionKeyRotation',
  'ETCDSnapshotRestore',
  'ETCDSnapshotSave',
  'CertificateRotation',
]);

/** Conditions of earlier phases stay, so the first of these that is true counts. */
const phases = [
  { condition: 'Failed', state: 'failed', error: true },
  { condition: 'Canceled', state: 'canceled', error: true },
  { condition: 'Succeeded', state: 'succeeded' },
  { condition: 'Paused', state: 'paused', transitioning: true },
  { condition: 'InProgress', state: 'in-progress', transitioning: true },
  { condition: 'Pending', state: 'pending', transitioning: true },
] as const;

/** True for Rancher's operations, which have a condition for each phase of their life. */
export function isOperation({ apiVersion, kind }: TypeMeta): boolean {
  return apiVersion.startsWith('operation.cattle.io/') && kinds.has(kind);
}

/** The phase that an operation is in. */
export const checkOperation: Summarizer = (_, conditions, draft) => {
  if (conditions.length === 0) return { ...draft, state: 'pending', transitioning: true };
  for (const { condition, ...change } of phases) {
    const found = conditions.find(({ type, status }) => type === condition && status === 'True');
    if (found !== undefined) return amend(draft, change, found.message);
  }
  return draft;
};
