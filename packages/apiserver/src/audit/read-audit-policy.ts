import { readFile } from 'node:fs/promises';
import { isJsonObject, type JsonObject } from 'riata/object';
import type { AuditPolicy } from './audit-policy.js';

/** Reads a policy from a YAML or JSON file, as kube-apiserver's `--audit-policy-file`. Rejects with its words. */
export async function readAuditPolicy(path: string): Promise<AuditPolicy> {
  const text = await readFile(path, 'utf8').catch((error) => {
    throw new Error(`failed to read file path "${path}": ${error.message}`, { cause: error });
  });
  const { parse } = await import('yaml');
  let read: unknown;
  try {
    read = parse(text);
  } catch (error) {
    throw new Error(`failed decoding: ${(error as Error).message}: from file ${path}`, { cause: error });
  }
  const policy: JsonObject = isJsonObject(read) ? read : {};
  if (policy.apiVersion !== 'audit.k8s.io/v1' || policy.kind !== 'Policy') {
    const given = `${policy.apiVersion ?? ''}, Kind=${policy.kind ?? ''}`;
    throw new Error(`unknown group version field ${given} in policy: from file ${path}`);
  }
  return { ...policy, rules: Array.isArray(policy.rules) ? policy.rules : [] } as unknown as AuditPolicy;
}
