import { describe, expect, test } from 'vitest';
import { builtInSchema } from './built-in-schema.js';
import { fromUnstructured } from './from-unstructured.js';

const deployment = builtInSchema({ group: 'apps', version: 'v1', kind: 'Deployment' })!;
const configMap = builtInSchema({ group: '', version: 'v1', kind: 'ConfigMap' })!;

describe('what does not fit', () => {
  test.each([
    [{ data: 'x' }, 'cannot restore map from string'],
    [{ data: [] }, 'cannot restore map from slice'],
    [{ data: { x: 5 } }, 'cannot convert int64 to string'],
    [{ data: { x: true } }, 'unrecognized type: string'],
    [{ metadata: 'x' }, 'cannot restore struct from: string'],
    [{ metadata: { finalizers: 'x' } }, 'cannot restore slice from string'],
    [{ metadata: { deletionTimestamp: 5 } }, 'json: cannot unmarshal number into Go value of type string'],
    [{ binaryData: { a: '!!' } }, 'error decoding from json: illegal base64 data at input byte 0'],
    [{ binaryData: { a: 5 } }, 'cannot restore slice from int64'],
    [{ immutable: 5 }, 'unrecognized type: bool'],
  ])('%j', (object, message) => {
    expect(() => fromUnstructured(object, configMap)).toThrow(message);
  });

  test.each([
    [{ replicas: 'x' }, 'unrecognized type: int32'],
    [{ replicas: 1.5 }, 'cannot convert float64 to int32'],
    [{ strategy: { type: 5 } }, 'cannot convert int64 to v1.DeploymentStrategyType'],
    [{ paused: 'x', replicas: 'y' }, 'unrecognized type: int32'],
  ])('in a spec: %j', (spec, message) => {
    expect(() => fromUnstructured({ spec }, deployment)).toThrow(message);
  });
});

test('an integer that is too large is cut off, and what is not known stays', () => {
  const spec = { replicas: 99_999_999_999, unknown: { a: 1 } };
  expect(fromUnstructured({ spec }, deployment)).toEqual({ spec: { ...spec, replicas: 1_215_752_191 } });
});
