import { Buffer } from 'node:buffer';
import { expect, test } from 'vitest';
import { yamlDuplicates } from './yaml-duplicates.js';

const complaint = (text: string) => yamlDuplicates(Buffer.from(text));

test('duplicate keys are reported with their lines', async () => {
  const text = 'data:\n  k: "1"\n  k: "2"\n  k: "3"\nlist:\n- a: 1\n  a: 2\ndata: {x: 1, x: 2}\n';
  expect(await complaint(text)).toBe(
    'yaml: unmarshal errors:\n  line 3: key "k" already set in map\n  line 4: key "k" already set in map\n' +
      '  line 7: key "a" already set in map\n  line 8: key "x" already set in map\n  line 8: key "data" already set in map',
  );
});

test('what is merged into a map stands there, too', async () => {
  const text = 'base: &b {a: 1, c: 1}\nx:\n  <<: *b\n  a: 2\ny:\n  c: 1\n  <<: [{d: 1}, *b]\n';
  expect(await complaint(text)).toBe(
    'yaml: unmarshal errors:\n  line 4: key "a" already set in map\n  line 1: key "c" already set in map',
  );
});

test('nothing is said of a text without any', async () => {
  expect(await complaint('a: 1\nb: {a: 1}\nc: [{a: 1}, {a: 1}]\n')).toBeUndefined();
  expect(await complaint('')).toBeUndefined();
  expect(await complaint('{"a": 1, "b": {"a": 1}}')).toBeUndefined();
  expect(await complaint('{"a": 1,\n "a": {"a": 1}}')).toBe(
    'yaml: unmarshal errors:\n  line 2: key "a" already set in map',
  );
});
