import type { JsonObject } from 'riata/object';
import { metaOf, textOf } from '../../resource/metadata.js';
import { goQuote } from '../../status/go-quote.js';

const suffix = '.static.k8s.io';

/** Names that upstream keeps for configuration from files. */
export function staticNameWarnings(object: JsonObject): readonly string[] {
  if (!textOf(metaOf(object).name).endsWith(suffix)) return [];
  return [
    `metadata.name: names ending with ${goQuote(suffix)} are reserved for static manifest-based configurations and cannot be managed via the API`,
  ];
}
