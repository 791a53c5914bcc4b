import { expect, test } from 'vitest';
import { valueAt } from './value-at.js';

test('valueAt follows fields and list indexes, and own properties only', () => {
  const object = { spec: { containers: [{ image: 'a' }, { image: 'b' }], none: null } };
  expect(valueAt(object, 'spec', 'containers', '1', 'image')).toBe('b');
  expect(valueAt(object, 'spec', 'none')).toBe(null);
  expect(valueAt(object, 'spec', 'none', 'x')).toBeUndefined();
  expect(valueAt(object, 'spec', 'containers', 'length')).toBeUndefined();
  expect(valueAt(object, 'spec', 'constructor')).toBeUndefined();
  expect(valueAt(object)).toBe(object);
});
