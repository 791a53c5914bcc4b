import type { Json, JsonObject } from 'riata/object';
import { goQuote } from '../status/go-quote.js';
import { qualifiedName } from './name-rules.js';

const known: ReadonlySet<string> = new Set(['orphan', 'foregroundDeletion', 'kubernetes']);
const conflicts = 'to avoid accidental conflicts with other finalizer writers';

/** Warnings for the writer of a custom resource: new finalizers without a domain. */
export function finalizerWarnings(meta: JsonObject, before: JsonObject | undefined): string[] {
  const old = new Set(listOf(before?.finalizers));
  return [...new Set(listOf(meta.finalizers))]
    .sort()
    .filter((finalizer) => !old.has(finalizer))
    .flatMap((finalizer) => {
      const at = `metadata.finalizers: ${goQuote(finalizer)}: `;
      const warnings = qualifiedName(finalizer).map((problem) => at + problem);
      if (!finalizer.includes('/') && !known.has(finalizer)) {
        const path = finalizer.includes('.') ? ' including a path (/)' : '';
        warnings.push(`${at}prefer a domain-qualified finalizer name${path} ${conflicts}`);
      }
      return warnings;
    });
}

function listOf(value: Json | undefined): string[] {
  return Array.isArray(value) ? value.filter((item) => typeof item === 'string') : [];
}
