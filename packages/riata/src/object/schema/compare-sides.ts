import { equal } from '../value/equal.js';
import type { Problems } from './schema-error.js';
import { itemPath, propertyPath, valuePath } from './schema-path.js';
import { type StructuralSchema, validationKeywords } from './structural-schema.js';

const compared = ['type', 'nullable', ...validationKeywords, 'allOf', 'anyOf', 'oneOf', 'not'] as const;

/**
 * Notes where a schema's output differs from its input by more than defaults: a server gives back what was written, so
 * such a schema's read type would promise what is not there. `optional`: whether fields may be left out that are promised
 * to readers, in this object alone or in those below, too.
 */
export function compareSides(
  input: StructuralSchema,
  output: StructuralSchema,
  path: string,
  problems: Problems,
  optional: 'no' | 'here' | 'below' = 'no',
): void {
  const below = optional === 'below' ? optional : 'no';
  if (problems.concern(path) && !hasParts(input)) return;
  for (const name of compared) {
    if (equal(input[name], output[name]) || problems.concern(path)) continue;
    problems.add(
      path,
      `is written as ${word(name, input)} and read as ${word(name, output)}, but a server returns what was written; ` +
        'describe the stored form and convert it in the controller',
    );
  }
  if (input.items !== undefined && output.items !== undefined) {
    compareSides(input.items, output.items, itemPath(path), problems, below);
  }
  if (input.additionalProperties !== undefined && output.additionalProperties !== undefined) {
    compareSides(input.additionalProperties, output.additionalProperties, valuePath(path), problems, below);
  }
  for (const [name, written] of Object.entries(input.properties ?? {})) {
    const at = propertyPath(path, name);
    const read =
      output.properties !== undefined && Object.hasOwn(output.properties, name) ? output.properties[name] : undefined;
    if (read === undefined) {
      if (!problems.concern(at)) problems.add(at, 'is written and never read; omit it from the schema');
      continue;
    }
    compareSides(written, read, at, problems, below);
    const promised = output.required?.includes(name) && !input.required?.includes(name);
    if (optional === 'no' && promised && written.default === undefined && !problems.concern(at)) {
      problems.add(
        at,
        'is optional when written but required when read, and the JSON Schema has no default for it; ' +
          `give it: extend: { ${JSON.stringify(at)}: { default: … } }`,
      );
    }
  }
  for (const name of Object.keys(output.properties ?? {})) {
    const at = propertyPath(path, name);
    if (input.properties !== undefined && Object.hasOwn(input.properties, name)) continue;
    if (!problems.concern(at)) problems.add(at, 'is read and never written; omit it from the schema');
  }
}

function hasParts(schema: StructuralSchema): boolean {
  return schema.properties !== undefined || schema.items !== undefined || schema.additionalProperties !== undefined;
}

function word(name: keyof StructuralSchema, schema: StructuralSchema): string {
  const value = schema[name];
  if (name === 'type') return value === undefined ? 'anything' : String(value);
  return value === undefined ? `one without ${name}` : `${name} ${JSON.stringify(value)}`;
}
