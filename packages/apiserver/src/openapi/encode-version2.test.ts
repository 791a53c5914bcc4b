import type { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { WireReader } from '../protobuf/wire-reader.js';
import { encodeVersion2 } from './encode-version2.js';

/** Messages and texts below a path of field numbers. */
function at(bytes: Buffer, ...path: number[]): Buffer[] {
  const [number, ...rest] = path;
  if (number === undefined) return [bytes];
  const reader = new WireReader(bytes);
  const found: Buffer[] = [];
  while (reader.next()) {
    if (reader.number === number && reader.isDelimited) found.push(...at(reader.bytes(), ...rest));
    else reader.skip();
  }
  return found;
}

const texts = (bytes: Buffer, ...path: number[]) => at(bytes, ...path).map(String);

test('a document is written as gnostic has it', () => {
  const schema = {
    type: 'object',
    description: 'A pod.',
    required: ['a', 'b'],
    properties: { list: { type: 'array', items: { $ref: '#/definitions/Item' }, 'x-kubernetes-list-type': 'map' } },
    'x-kubernetes-group-version-kind': [{ group: '', kind: 'Pod', version: 'v1' }],
  };
  const get = {
    operationId: 'read',
    parameters: [
      { name: 'body', in: 'body', schema: {} },
      { name: 'pretty', in: 'query', type: 'string' },
    ],
    responses: { 200: { description: 'OK', schema: { $ref: '#/definitions/Pod' } } },
  };
  const parameters = [{ name: 'name', in: 'path', required: true, type: 'string' }];
  const bytes = encodeVersion2({
    swagger: '2.0',
    info: { title: 'Kubernetes', version: '1.36' },
    paths: { '/api/v1/pods': { get, parameters } },
    definitions: { Pod: schema, Item: { type: 'object', additionalProperties: { type: 'string' } } },
  });
  expect(texts(bytes, 1)).toEqual(['2.0']);
  expect(texts(bytes, 2, 1)).toEqual(['Kubernetes']);
  // Definitions: names, and of their schemas the types, required fields, items and extensions.
  expect(texts(bytes, 9, 1, 1)).toEqual(['Pod', 'Item']);
  expect(texts(bytes, 9, 1, 2, 22, 1)).toEqual(['object', 'object']);
  expect(texts(bytes, 9, 1, 2, 19)).toEqual(['a', 'b']);
  expect(texts(bytes, 9, 1, 2, 25, 1, 1)).toEqual(['list']);
  expect(texts(bytes, 9, 1, 2, 25, 1, 2, 23, 1, 1)).toEqual(['#/definitions/Item']);
  expect(texts(bytes, 9, 1, 2, 25, 1, 2, 31, 2, 2)).toEqual(['"map"']);
  expect(texts(bytes, 9, 1, 2, 31, 2, 2)).toEqual(['[{"group":"","kind":"Pod","version":"v1"}]']);
  expect(texts(bytes, 9, 1, 2, 21, 1, 22, 1)).toEqual(['string']);
  // Paths: parameters by where they stand, and answers by their codes.
  expect(texts(bytes, 8, 2, 1)).toEqual(['/api/v1/pods']);
  expect(texts(bytes, 8, 2, 2, 2, 8, 1, 1, 2)).toEqual(['body']);
  expect(texts(bytes, 8, 2, 2, 2, 8, 1, 2, 3, 4)).toEqual(['pretty']);
  expect(texts(bytes, 8, 2, 2, 9, 1, 2, 4, 4)).toEqual(['name']);
  expect(texts(bytes, 8, 2, 2, 2, 9, 1, 1)).toEqual(['200']);
  expect(texts(bytes, 8, 2, 2, 2, 9, 1, 2, 1, 2, 1, 1)).toEqual(['#/definitions/Pod']);
});
