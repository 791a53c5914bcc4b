import { compareSides } from './compare-sides.js';
import { convertSchema } from './convert-schema.js';
import { readSchema } from './read-schema.js';
import { Problems } from './schema-error.js';
import { addedStatusFields, statusSchema } from './status-schema.js';
import type { SchemaExtension, StructuralDraft, StructuralSchema } from './structural-schema.js';

/** The parts of the schema of a whole object. */
export interface ObjectParts {
  readonly spec: unknown;
  readonly status?: unknown;
  readonly extend?: Readonly<Record<string, SchemaExtension>>;
  readonly beyondCrd?: 'refuse' | 'webhook';
}

/** The structural schema of a whole object: `apiVersion`, `kind`, `metadata`, `spec` and, where given, `status`. */
export function buildSchema(parts: ObjectParts, problems: Problems): StructuralSchema {
  const { extend = {}, beyondCrd = 'refuse' } = parts;
  if (beyondCrd !== 'refuse' && beyondCrd !== 'webhook') {
    problems.add('beyondCrd', `must be 'refuse' or 'webhook', got ${JSON.stringify(beyondCrd)}`);
  }
  const met = new Set<string>();
  const { '.': onRoot = {} } = extend;
  if (Object.hasOwn(extend, '.')) met.add('.');
  const properties: Record<string, StructuralSchema> = {
    apiVersion: { type: 'string' },
    kind: { type: 'string' },
    metadata: { type: 'object' },
    spec: partSchema(parts, 'spec', met, problems),
  };
  if (parts.status !== undefined) {
    const own = partSchema(parts, 'status', met, problems);
    for (const name of Object.keys(addedStatusFields)) {
      if (own.properties === undefined || !Object.hasOwn(own.properties, name)) continue;
      problems.add(`status.${name}`, 'is added to every status by defineKind; omit it from the schema');
    }
    properties.status = statusSchema(own);
  }
  for (const path of Object.keys(extend)) {
    if (met.has(path)) continue;
    problems.add(
      'extend',
      `no field ${JSON.stringify(path)}; write paths as spec.ports[].name, spec.labels.* or "." for all`,
    );
  }
  const root: StructuralDraft = { type: 'object', required: ['spec'], properties, ...onRoot };
  return root;
}

function partSchema(
  { extend = {}, beyondCrd = 'refuse', ...schemas }: ObjectParts,
  path: 'spec' | 'status',
  met: Set<string>,
  problems: Problems,
): StructuralSchema {
  const isLenient = beyondCrd === 'webhook' && path === 'spec';
  const sides = readSchema(schemas[path], path, problems, isLenient);
  if (sides === undefined) {
    // Nothing was converted, so no path can have been met: one problem is enough.
    for (const name of Object.keys(extend)) if (name === path || name.startsWith(`${path}.`)) met.add(name);
    return { type: 'object' };
  }
  const convert = (root: unknown, closes: boolean, found: Problems): StructuralSchema =>
    convertSchema(root, path, {
      ...{ root, closes, extend, met, problems: found, isLenient, within: [root], convert: convertSchema },
    });
  const input = convert(sides.input, true, problems);
  if (sides.output !== sides.input) {
    const written = convert(sides.input, false, new Problems());
    const optional = isLenient ? 'below' : path === 'status' ? 'here' : 'no';
    compareSides(written, convert(sides.output, false, problems), path, problems, optional);
  }
  if (input.type !== 'object' && !problems.concern(path)) problems.add(path, 'must be an object');
  return input;
}
