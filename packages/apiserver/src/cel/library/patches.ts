import { CelError } from '../language/cel-error.js';
import { type CelType, dynType, listOf, stringType } from '../language/cel-type.js';
import type { StructType } from '../language/check-expression.js';
import { type Functions, plain } from '../language/overload.js';
import { type Mapping, mapping, type Value } from '../language/value.js';

/** The functions for expressions that make a JSON patch. */
export const patches: Functions = {
  'jsonpatch.escapeKey': [
    plain('string_jsonpatch_escapeKey_string', [stringType], stringType, (key: string) =>
      key.replaceAll('~', '~0').replaceAll('/', '~1'),
    ),
  ],
};

/** The name of one operation of a JSON patch. */
export const jsonPatchName = 'JSONPatch';
/** The type name of an apply configuration; its parts are called `Object.spec` and so on. */
export const objectName = 'Object';

/** The messages that an expression which changes an object can make. */
export function patchStructs(name: string): StructType | undefined {
  if (name === jsonPatchName) return jsonPatch;
  if (name !== objectName && !name.startsWith(`${objectName}.`)) return undefined;
  return {
    type: { kind: 'object', name, fields: new Map(), isOpen: true },
    make: (fields) => struct(name, fields),
  };
}

const jsonPatch: StructType = {
  type: {
    kind: 'object',
    name: jsonPatchName,
    fields: new Map<string, CelType>([
      ['op', stringType],
      ['path', stringType],
      ['from', stringType],
      ['value', dynType],
    ]),
  },
  make: (fields) => {
    for (const field of ['op', 'path', 'from']) {
      const value = fields.get(field);
      if (value !== undefined && typeof value !== 'string') {
        throw new CelError(`unexpected type ${typeof value} for JSONPatchType '${field}' field`);
      }
    }
    return struct(jsonPatchName, fields);
  },
  takesNoOther: true,
};

/** The required type of an ApplyConfiguration expression. */
export const applyConfigurationType: CelType = { kind: 'object', name: objectName, fields: new Map(), isOpen: true };
/** The required type of a JSONPatch expression. */
export const jsonPatchesType: CelType = listOf(jsonPatch.type);

function struct(typeName: string, fields: ReadonlyMap<string, Value>): Mapping {
  return { ...mapping([...fields]), typeName };
}
