import { freeze, type JsonObject } from 'riata/object';
import { expect, test } from 'vitest';
import { metaOf } from '../metadata.js';
import { SharedFields } from './shared-fields.js';

const object = (name: string, fieldsV1: JsonObject): JsonObject => ({
  kind: 'X',
  metadata: { name, managedFields: [{ manager: 'm', fieldsV1 }, { manager: 'n' }] },
});
const sharing = new SharedFields();
const fieldsOf = (o: JsonObject) => (metaOf(o).managedFields as JsonObject[])[0]?.fieldsV1;

test('gives equal field sets the same value and changes nothing else', () => {
  const fields = () => ({ 'f:data': { 'f:a': {}, 'f:__proto__': {} } });
  const [a, b] = [sharing.share(object('a', fields())), freeze(sharing.share(object('b', fields())))];
  expect(a).toEqual(object('a', fields()));
  expect(fieldsOf(a)).toBe(fieldsOf(b));
  expect(fieldsOf(sharing.share(object('c', { 'f:data': {} })))).toEqual({ 'f:data': {} });
});

test('returns objects without field sets unchanged', () => {
  const bare = { kind: 'X', metadata: { name: 'a' } };
  expect(sharing.share(bare)).toBe(bare);
});

test('shares nothing between stores', () => {
  const [a, b] = [sharing, new SharedFields()].map((one) => one.share(object('a', { 'f:data': {} })));
  expect(a).toEqual(b);
  expect(fieldsOf(a as JsonObject)).not.toBe(fieldsOf(b as JsonObject));
});
