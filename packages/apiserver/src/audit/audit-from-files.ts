import { auditFile } from './audit-file.js';
import type { AuditOptions } from './audit-log.js';
import { readAuditPolicy } from './read-audit-policy.js';

/** The audit options that `--audit-policy-file` and `--audit-log-path` mean; undefined without both (`''`). */
export async function auditFromFiles(policyFile: string, logPath: string): Promise<AuditOptions | undefined> {
  if (policyFile === '' && logPath === '') return undefined;
  if (policyFile === '') throw new TypeError('--audit-log-path requires --audit-policy-file');
  if (logPath === '') throw new TypeError('--audit-policy-file requires --audit-log-path, - for standard output');
  return { policy: await readAuditPolicy(policyFile), sink: auditFile(logPath) };
}
