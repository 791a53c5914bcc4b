import fc from 'fast-check';
import type { JsonObject } from '../json.js';
import { mergeTypeFromSchema } from './typed/merge-type-from-schema.js';

/** A type with every way in which lists and maps merge, for the tests of this folder. */

const string = { type: 'string' } as const;
const port = {
  type: 'object',
  properties: {
    port: { type: 'integer' },
    protocol: { type: 'string', default: 'TCP' },
    name: string,
    tags: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
  },
} as const;

export const specSchema = {
  type: 'object',
  properties: {
    replicas: { type: 'integer' },
    paused: { type: 'boolean' },
    set: { type: 'array', items: string, 'x-kubernetes-list-type': 'set' },
    list: { type: 'array', items: string, 'x-kubernetes-list-type': 'atomic' },
    ports: {
      type: 'array',
      items: port,
      'x-kubernetes-list-type': 'map',
      'x-kubernetes-list-map-keys': ['port', 'protocol'],
    },
    labels: { type: 'object', additionalProperties: string },
    selector: { type: 'object', additionalProperties: string, 'x-kubernetes-map-type': 'atomic' },
    free: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
} as const;

const metadataSchema = {
  type: 'object',
  properties: {
    name: string,
    namespace: string,
    uid: string,
    resourceVersion: string,
    labels: { type: 'object', additionalProperties: string },
    annotations: { type: 'object', additionalProperties: string },
    managedFields: { type: 'array', items: { type: 'object' } },
  },
} as const;

export const widgetType = mergeTypeFromSchema({
  type: 'object',
  properties: {
    apiVersion: string,
    kind: string,
    metadata: metadataSchema,
    spec: specSchema,
    status: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
  },
});

const word = fc.constantFrom('a', 'b', 'c', 'd');
const words = fc.dictionary(fc.constantFrom('a', 'b', 'c', '__proto__'), word);
const free: fc.Arbitrary<JsonObject> = fc.dictionary(
  word,
  fc.oneof(word, fc.integer({ min: 0, max: 3 }), fc.constant(null), words, fc.array(words, { maxLength: 2 })),
) as fc.Arbitrary<JsonObject>;

function portArbitrary(protocol: fc.Arbitrary<string | undefined>): fc.Arbitrary<JsonObject> {
  const ports = fc.record(
    { port: fc.constantFrom(80, 443), protocol, name: word, tags: fc.uniqueArray(word) },
    { requiredKeys: ['port'] },
  );
  return ports as fc.Arbitrary<JsonObject>;
}

function specArbitrary(ports: fc.Arbitrary<JsonObject[]>, set: fc.Arbitrary<string[]>): fc.Arbitrary<JsonObject> {
  const spec = fc.record(
    {
      replicas: fc.integer({ min: 0, max: 3 }),
      paused: fc.boolean(),
      set,
      list: fc.array(word),
      ports,
      labels: words,
      selector: words,
      free,
    },
    { requiredKeys: [] },
  );
  return spec as unknown as fc.Arbitrary<JsonObject>;
}

const identity = (item: JsonObject) => JSON.stringify([item.port, item.protocol ?? 'TCP']);

/** A configuration: no duplicate items in a list. */
export const configSpec = specArbitrary(
  fc.uniqueArray(portArbitrary(fc.constantFrom('TCP', 'UDP')), { selector: identity }),
  fc.uniqueArray(word),
);

/** A stored object: may have duplicate items. */
export const liveSpec = specArbitrary(
  fc.array(portArbitrary(fc.constantFrom('TCP', 'UDP')), { maxLength: 4 }),
  fc.array(word, { maxLength: 4 }),
);

export const widget = (spec: JsonObject, metadata: JsonObject = {}): JsonObject => ({
  apiVersion: 'x.dev/v1',
  kind: 'Widget',
  metadata: { name: 'w', ...metadata },
  spec,
});
