import type { FieldSelector } from 'riata/object';
import type { ListOptions } from '../http/options/list-options.js';
import type { VerbRequest } from '../http/verb-handlers.js';
import type { Choice, ListRequest } from '../resource/list-objects.js';
import type { Resource } from '../resource/resource.js';
import { badRequest } from '../status/refusal.js';

/** The objects that a list or watch selects. Throws a `Refusal` for an unknown field. */
export function choiceOf({ resource, namespace, name, options }: VerbRequest<ListOptions>): Choice {
  if (options.fields !== undefined) checkFields(resource, options.fields);
  return { namespace, labels: options.labels, fields: options.fields, name: name === '' ? undefined : name };
}

/** The options of a list, as the storage reads them. */
export function listRequest(request: VerbRequest<ListOptions>): ListRequest {
  const { limit, resourceVersion, resourceVersionMatch } = request.options;
  const match = resourceVersionMatch === '' ? undefined : resourceVersionMatch;
  return {
    ...choiceOf(request),
    limit,
    continue: request.options.continue,
    resourceVersion,
    resourceVersionMatch: match,
  };
}

/** Selectors may name only the fields that a kind has for this. */
function checkFields(resource: Resource, selector: FieldSelector): void {
  const own = resource.rules.fieldNames ?? [];
  const known = ['metadata.name', 'metadata.namespace', ...own];
  for (const { field } of selector.requirements) {
    if (known.includes(field)) continue;
    throw badRequest(
      own.length > 0
        ? `field label not supported: ${field}`
        : `${JSON.stringify(field)} is not a known field selector: only "metadata.name", "metadata.namespace"`,
    );
  }
}
