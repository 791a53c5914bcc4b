import fc from 'fast-check';
import type { Json, JsonObject } from 'riata/object';
import { describe, expect, test } from 'vitest';
import { defaultDefinition, prepareDefinition } from '../../resource/custom/crd-status.js';
import { formatFieldError } from '../../status/field-error.js';
import { atOnce } from '../../steps.js';
import type { CrdObject, CrdSpec, SchemaProps } from './crd-object.js';
import { crdWarnings, validateCrd, validateCrdUpdate } from './validate-crd.js';

const object: SchemaProps = { type: 'object' };
const plain = { name: 'v1', served: true, storage: true, schema: { openAPIV3Schema: object } };
const crd = (spec: CrdSpec = {}, metadata: object = {}): CrdObject =>
  asStored({
    metadata: { name: 'as.example.com', resourceVersion: '1', ...metadata },
    spec: { group: 'example.com', names: { plural: 'as', kind: 'A' }, scope: 'Namespaced', versions: [plain], ...spec },
  });
/** With what the server fills in. */
const asStored = (one: object) => prepareDefinition(defaultDefinition(one as JsonObject)) as unknown as CrdObject;
const withSpec = (spec: SchemaProps, version: object = {}) =>
  crd({ versions: [{ ...plain, schema: { openAPIV3Schema: { type: 'object', properties: { spec } } }, ...version }] });
const errorsOf = (one: CrdObject) => atOnce(validateCrd(one)).map(formatFieldError);
const at = 'spec.validation.openAPIV3Schema.properties[spec]';

// Every rule is compared with the real server in ../../../behaviour/crds.test.ts; these are the same facts without one.
describe('a new CustomResourceDefinition', () => {
  test('is fine', () => {
    expect(errorsOf(crd())).toEqual([]);
  });

  test.each<[CrdObject, string[]]>([
    [
      crd({}, { name: 'x.example.com' }),
      ['metadata.name: Invalid value: "x.example.com": must be spec.names.plural+"."+spec.group'],
    ],
    [
      crd({ group: 'example' }, { name: 'as.example' }),
      ['spec.group: Invalid value: "example": should be a domain with at least one dot'],
    ],
    [crd({ scope: 'x' }), ['spec.scope: Unsupported value: "x": supported values: "Cluster", "Namespaced"']],
    [crd({ versions: [{ ...plain, schema: undefined }] }), ['spec.versions[0].schema.openAPIV3Schema: Required value']],
    [
      crd({ names: { plural: 'as', kind: 'A', listKind: 'A' } }),
      ['spec.names.listKind: Invalid value: "A": kind and listKind may not be the same'],
    ],
    [
      crd({ preserveUnknownFields: true }),
      [
        'spec.preserveUnknownFields: Invalid value: true: cannot set to true, set x-kubernetes-preserve-unknown-fields to true in spec.versions[*].schema instead',
      ],
    ],
    [withSpec({}), [`${at}.type: Required value: must not be empty for specified object fields`]],
    [withSpec({ type: 'array' }), [`${at}.items: Required value: must be specified`]],
    [
      withSpec({ type: 'string', default: 5 }),
      [`${at}.default: Invalid value: "integer":  in body must be of type string: "integer"`],
    ],
    [
      withSpec({ type: 'object', properties: { a: { type: 'string' } }, default: { b: 1 } }),
      [`${at}.default: Invalid value: {"b":1}: must not have unknown fields`],
    ],
    [
      withSpec({ type: 'array', items: object, 'x-kubernetes-list-type': 'map' }),
      [`${at}.x-kubernetes-list-map-keys: Required value: must not be empty if x-kubernetes-list-type is map`],
    ],
    [
      crd({
        versions: [
          {
            ...plain,
            schema: { openAPIV3Schema: { type: 'object', anyOf: [{ properties: { a: { minLength: 1 } } }] } },
          },
        ],
      }),
      [
        'spec.validation.openAPIV3Schema.properties[a]: Required value: because it is defined in spec.validation.openAPIV3Schema.anyOf[0].properties[a]',
      ],
    ],
    [
      withSpec(object, { subresources: { scale: {} } }),
      [
        'spec.subresources.scale.specReplicasPath: Required value',
        'spec.subresources.scale.statusReplicasPath: Required value',
      ],
    ],
    [
      withSpec(object, { additionalPrinterColumns: [{ name: 'a', type: 'x', jsonPath: '.a' }] }),
      ['spec.additionalPrinterColumns[0].type: Invalid value: "x": must be one of boolean,date,integer,number,string'],
    ],
    [
      withSpec(object, { selectableFields: [{ jsonPath: '.spec.a' }] }),
      [
        'spec.selectableFields[0].jsonPath: Invalid value: ".spec.a": is an invalid path: does not refer to a valid field',
      ],
    ],
  ])('%#', (one, errors) => {
    expect(errorsOf(one)).toEqual(errors);
  });

  test('versions that differ are reported by their index', () => {
    const second = { ...plain, name: 'v2', storage: false, schema: { openAPIV3Schema: { type: 'string' } } };
    expect(errorsOf(crd({ versions: [plain, second] }))).toEqual([
      'spec.versions[1].schema.openAPIV3Schema.type: Invalid value: "string": must be object at the root',
    ]);
  });

  test('exactly one version is stored', () => {
    const errors = errorsOf(crd({ versions: [plain, { ...plain, name: 'v2' }] }));
    expect(errors[0]).toMatch(
      /^spec\.versions: Invalid value: \[\{"Name":"v1",.*must have exactly one version marked as storage version$/,
    );
    expect(errors[1]).toBe('status.storedVersions: Invalid value: ["v1"]: must have the storage version v2');
  });

  test('formats that say nothing are warned about, new ones only', () => {
    const one = withSpec({ type: 'string', format: 'foo' });
    expect(errorsOf(one)).toEqual([]);
    expect(crdWarnings(one)).toEqual(['unrecognized format "foo"']);
    expect(crdWarnings(one, one)).toEqual([]);
  });
});

describe('an update of a CustomResourceDefinition', () => {
  const established = {
    ...crd(),
    status: { storedVersions: ['v1'], conditions: [{ type: 'Established', status: 'True' }] },
  };
  const change = (spec: CrdSpec) => {
    const made = crd(spec);
    return atOnce(validateCrdUpdate({ ...made, status: established.status }, established)).map(formatFieldError);
  };

  test('what was never structural may stay so, but not use what came later', () => {
    const loose = (more: object = {}) => ({
      ...withSpec({ properties: { a: {} }, ...more }),
      status: established.status,
    });
    const old = { ...loose(), spec: { ...loose().spec, preserveUnknownFields: true } };
    const again = (more: object) => ({ ...old, spec: { ...loose(more).spec, preserveUnknownFields: true } });
    expect(atOnce(validateCrdUpdate(again({ description: 'x' }), old))).toEqual([]);
    expect(atOnce(validateCrdUpdate(again({ nullable: true, 'x-kubernetes-map-type': 'atomic' }), old))).not.toEqual(
      [],
    );
    expect(atOnce(validateCrdUpdate(loose(), old))).not.toEqual([]);
    expect(atOnce(validateCrdUpdate(again({}), established))).not.toEqual([]);
  });

  test('may change much', () => {
    expect(change({ versions: [plain, { ...plain, name: 'v2', storage: false }] })).toEqual([]);
  });

  test('keeps scope, kind, plural and group', () => {
    expect(change({ scope: 'Cluster' })).toEqual(['spec.scope: Invalid value: "Cluster": field is immutable']);
    expect(change({ names: { plural: 'bs', kind: 'B' } })).toEqual([
      'spec.names.kind: Invalid value: "B": field is immutable',
      'spec.names.plural: Invalid value: "bs": field is immutable',
    ]);
    expect(change({ group: 'b.example.com' })).toEqual([
      'spec.group: Invalid value: "b.example.com": field is immutable',
    ]);
  });

  test('keeps versions that objects are stored in', () => {
    const [error] = change({ versions: [{ ...plain, name: 'v2' }] });
    expect(error).toBe('status.storedVersions: Invalid value: ["v1"]: must have the storage version v2');
  });
});

/** Schemas with anything in them, sensible or not. */
function anySchema(depth: number): fc.Arbitrary<SchemaProps> {
  const leaf = {
    type: fc.constantFrom('object', 'array', 'string', 'integer', 'foo'),
    default: fc.constantFrom<Json>('x', 5, {}, { a: 1 }, [], null),
    pattern: fc.constantFrom('a', '[', '(', '(?=x)'),
    nullable: fc.boolean(),
    'x-kubernetes-embedded-resource': fc.constant(true as const),
    'x-kubernetes-list-type': fc.constantFrom('map', 'set', 'x'),
  };
  const below = depth === 0 ? undefined : anySchema(depth - 1);
  const inner = below && {
    items: below,
    properties: fc.dictionary(fc.constantFrom('a', 'metadata', '__proto__', 'kind'), below, { maxKeys: 2 }),
    additionalProperties: fc.oneof(fc.boolean(), below),
    anyOf: fc.array(below, { maxLength: 1 }),
    not: below,
  };
  return fc.record({ ...leaf, ...inner }, { requiredKeys: [] }) as fc.Arbitrary<SchemaProps>;
}

test('any schema is judged', () => {
  fc.assert(
    fc.property(anySchema(2), (one) => {
      const errors = errorsOf(withSpec(one));
      return errors.every((error) => error.startsWith('spec.') || error.startsWith('<nil>'));
    }),
    { numRuns: 200 },
  );
});
