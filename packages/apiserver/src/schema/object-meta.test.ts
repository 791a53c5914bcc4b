import { describe, expect, test } from 'vitest';
import { formatFieldError } from '../status/field-error.js';
import { dns1035LabelName, dnsLabelName, pathSegmentName } from './name-rules.js';
import { checkFieldManager, checkMetaUpdate, checkNewMeta } from './object-meta.js';

const label =
  "a lowercase RFC 1123 label must consist of lower case alphanumeric characters or '-', and must start and end with an alphanumeric character (e.g. 'my-name',  or '123-abc', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?')";
const subdomain =
  "a lowercase RFC 1123 subdomain must consist of lower case alphanumeric characters, '-' or '.', and must start and end with an alphanumeric character (e.g. 'example.com', regex used for validation is '[a-z0-9]([-a-z0-9]*[a-z0-9])?(\\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*')";
const key =
  "must consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyName',  or 'my.name',  or '123-abc', regex used for validation is '([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]')";
const value =
  "a valid label must be an empty string or consist of alphanumeric characters, '-', '_' or '.', and must start and end with an alphanumeric character (e.g. 'MyValue',  or 'my_value',  or '12345', regex used for validation is '(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?')";
const owner = { apiVersion: 'v1', kind: 'Pod', name: 'x', uid: '1' };

describe('the metadata of a new object', () => {
  test.each([
    [{}, ['metadata.name: Required value: name or generateName is required', 'metadata.namespace: Required value']],
    [
      { name: 'A_b', namespace: 'a.b' },
      [
        `metadata.name: Invalid value: "A_b": ${subdomain}`,
        'metadata.namespace: Invalid value: "a.b": must not contain dots',
      ],
    ],
    [{ name: 'a', namespace: 'X' }, [`metadata.namespace: Invalid value: "X": ${label}`]],
    [{ name: 'a', generateName: 'a-' }, []],
    [{ name: 'a', generateName: '-' }, [`metadata.generateName: Invalid value: "-": ${subdomain}`]],
    [
      { name: 'x'.repeat(254) },
      [`metadata.name: Invalid value: "${'x'.repeat(254)}": must be no more than 253 characters`],
    ],
    [{ name: 'a', generation: -1 }, ['metadata.generation: Invalid value: -1: must be greater than or equal to 0']],
    [
      { name: 'a', labels: { 'a b': 'c d' } },
      [`metadata.labels: Invalid value: "a b": name part ${key}`, `metadata.labels: Invalid value: "c d": ${value}`],
    ],
    [
      { name: 'a', labels: { '/a': '', 'x/': '' } },
      [
        'metadata.labels: Invalid value: "/a": prefix part must be non-empty',
        `metadata.labels: Invalid value: "x/": name part must be non-empty`,
        `metadata.labels: Invalid value: "x/": name part ${key}`,
      ],
    ],
    [{ name: 'a', annotations: { 'A.B/C': 'x' } }, []],
    [
      { name: 'a', annotations: { a: 'x'.repeat(262_144) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [
      { name: 'a', annotations: { a: 'é'.repeat(131_072) } },
      ['metadata.annotations: Too long: may not be more than 262144 bytes'],
    ],
    [{ name: 'a', finalizers: ['x y', 'a/b'] }, [`metadata.finalizers: Invalid value: "x y": name part ${key}`]],
    [
      { name: 'a', finalizers: ['orphan', 'foregroundDeletion'] },
      [
        'metadata.finalizers: Invalid value: ["orphan","foregroundDeletion"]: finalizer orphan and foregroundDeletion cannot be both set',
      ],
    ],
    [
      { name: 'a', ownerReferences: [{}] },
      [
        'apiVersion: Invalid value: "": version must not be empty',
        'kind: Invalid value: "": must not be empty',
        'name: Invalid value: "": must not be empty',
        'uid: Invalid value: "": must not be empty',
      ].map((e) => `metadata.ownerReferences.${e}`),
    ],
    [
      { name: 'a', ownerReferences: [{ ...owner, kind: 'Event' }] },
      [
        'metadata.ownerReferences: Invalid value: {"apiVersion":"v1","kind":"Event","name":"x","uid":"1"}: /v1, Kind=Event is disallowed from being an owner',
      ],
    ],
    [
      { name: 'a', managedFields: [{ operation: 'x', fieldsType: 'y' }] },
      [
        'metadata.managedFields[0].operation: Invalid value: "x": must be `Apply` or `Update`',
        'metadata.managedFields[0].fieldsType: Invalid value: "y": must be `FieldsV1`',
      ],
    ],
  ])('%#', (meta, errors) => {
    const namespace = Object.keys(meta).length === 0 ? {} : { namespace: 'default' };
    expect(checkNewMeta({ ...namespace, ...meta }, { namespaced: true }).map(formatFieldError)).toEqual(errors);
  });

  test('only one owner is the controller', () => {
    const ownerReferences = [
      { ...owner, controller: true },
      { ...owner, name: 'y', controller: true },
    ];
    const errors = checkNewMeta({ name: 'a', ownerReferences }, { namespaced: false }).map(formatFieldError);
    expect(errors).toHaveLength(1);
    expect(errors[0]).toMatch(
      /Only one reference can have Controller set to true. Found "true" in references for Pod\/x and Pod\/y$/,
    );
  });

  test('kinds have their own rules for names', () => {
    const errors = (name: string, nameRule: typeof dnsLabelName) =>
      checkNewMeta({ name }, { namespaced: false, nameRule }).length;
    expect(errors('a.b', dnsLabelName)).toBe(1);
    expect(errors('1a', dns1035LabelName)).toBe(1);
    expect(errors('system:x Y', pathSegmentName)).toBe(0);
    expect(errors('a/b%c', pathSegmentName)).toBe(2);
    expect(errors('..', pathSegmentName)).toBe(1);
  });

  test('a cluster object has no namespace', () => {
    const errors = checkNewMeta({ name: 'a', namespace: 'b' }, { namespaced: false });
    expect(errors.map(formatFieldError)).toEqual(['metadata.namespace: Forbidden: not allowed on this type']);
  });
});

describe('the metadata of an update', () => {
  const before = {
    name: 'a',
    namespace: 'b',
    uid: '1',
    resourceVersion: '5',
    generation: 2,
    creationTimestamp: '2020-01-01T00:00:00Z',
  };
  test.each([
    [{}, {}, []],
    [{ resourceVersion: '' }, {}, ['metadata.resourceVersion: Invalid value: "": must be specified for an update']],
    [{ generation: 1 }, {}, ['metadata.generation: Invalid value: 1: must not be decremented']],
    [
      { name: 'x', namespace: 'y', uid: '2' },
      {},
      ['name: Invalid value: "x"', 'namespace: Invalid value: "y"', 'uid: Invalid value: "2"'].map(
        (e) => `metadata.${e}: field is immutable`,
      ),
    ],
    [{ creationTimestamp: null }, {}, ['metadata.creationTimestamp: Invalid value: null: field is immutable']],
    [
      { deletionTimestamp: '2020-01-01T00:00:00Z' },
      {},
      ['metadata.deletionTimestamp: Invalid value: "2020-01-01T00:00:00Z": field is immutable'],
    ],
    [{ finalizers: ['a/b'] }, {}, []],
    [
      { finalizers: ['a/b', 'c/d', 'a/a'], deletionTimestamp: 'x' },
      { finalizers: ['c/d'], deletionTimestamp: 'x' },
      [
        'metadata.finalizers: Forbidden: no new finalizers can be added if the object is being deleted, found new finalizers []string{"a/a", "a/b"}',
      ],
    ],
  ])('%#', (change, was, errors) => {
    expect(checkMetaUpdate({ ...before, ...change }, { ...before, ...was }).map(formatFieldError)).toEqual(errors);
  });
});

test('a field manager is short and printable', () => {
  expect(checkFieldManager('kubectl apply', 'fieldManager')).toEqual([]);
  expect(checkFieldManager('x'.repeat(129), 'fieldManager').map(formatFieldError)).toEqual([
    'fieldManager: Too long: may not be more than 128 bytes',
  ]);
  expect(checkFieldManager('é\n', 'fieldManager').map(formatFieldError)).toEqual([
    'fieldManager: Invalid value: "é\\n": invalid character U+000A (at position 2)',
  ]);
});
