import { once } from '../../once.js';
import { fieldEnumsText } from '../../resource/generated/field-enums.js';

const table = once(() => parse(fieldEnumsText));

/**
 * The values that a field of a struct may have, e.g. of `core/v1.ContainerPort` and `protocol`, as OpenAPI documents name
 * them; undefined for any. Of a list or a map they are those of its elements.
 */
export function fieldEnum(struct: string, field: string): readonly string[] | undefined {
  return table().get(struct)?.get(field);
}

/** A line for each struct: its name, then `field=value|value`, with spaces as `_`. */
function parse(text: string): ReadonlyMap<string, ReadonlyMap<string, readonly string[]>> {
  const lines = text.split('\n').filter((line) => line !== '');
  return new Map(
    lines.map((line) => {
      const [struct = '', ...fields] = line.split(' ');
      return [struct, new Map(fields.map(parseField))];
    }),
  );
}

function parseField(text: string): [string, readonly string[]] {
  const equals = text.indexOf('=');
  const values = text.slice(equals + 1).split('|');
  return [text.slice(0, equals), values.map((value) => value.replaceAll('_', ' '))];
}
