import { append } from '../../status/append.js';
import { formatFieldError, invalid } from '../../status/field-error.js';
import { checkStructural } from './check-structural.js';
import type { CrdSpec } from './crd-object.js';
import { notReadable } from './validate-crd.js';

/** The message of the condition `NonStructuralSchema` for a definition. */
export interface NonStructural {
  readonly status: 'True' | 'Unknown';
  readonly reason: string;
  readonly message: string;
}

/**
 * Why the schemas of a definition are not structural; undefined if they are. No such definition can be made any more:
 * one that a storage holds from earlier days is served, and says so.
 */
export function nonStructural(spec: CrdSpec): NonStructural | undefined {
  const preserving = spec.preserveUnknownFields ? [invalid('spec.preserveUnknownFields', true, 'must be false')] : [];
  const errors = [...preserving];
  for (const [index, { name, schema }] of (spec.versions ?? []).entries()) {
    const root = schema?.openAPIV3Schema;
    if (root === undefined || root === null) continue;
    const unreadable = notReadable(root);
    if (unreadable !== undefined) {
      const message = `failed to check validation schema for version ${name ?? ''}: ${unreadable}`;
      return { status: 'Unknown', reason: 'StructuralError', message };
    }
    append(errors, checkStructural(root, `spec.versions[${index}].schema.openAPIV3Schema`));
  }
  if (errors.length === 0) return undefined;
  const texts = [...new Set(errors.map(formatFieldError))];
  const message = texts.length === 1 ? (texts[0] as string) : `[${texts.join(', ')}]`;
  return { status: 'True', reason: 'Violations', message };
}
