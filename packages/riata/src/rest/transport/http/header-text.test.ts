import { expect, test } from 'vitest';
import { fromHeaderText, toHeaderText } from './header-text.js';

test('ASCII stays as it is', () => {
  expect(toHeaderText('jane@example.org')).toBe('jane@example.org');
  expect(fromHeaderText('299 - "a"')).toBe('299 - "a"');
});

test('text beyond ASCII goes out as UTF-8, a character per byte, and comes back', () => {
  expect(toHeaderText('jä€')).toBe('j\xc3\xa4\xe2\x82\xac');
  expect(fromHeaderText(toHeaderText('jä€😀'))).toBe('jä€😀');
});

test('bytes that are no UTF-8 are left a character each', () => {
  expect(fromHeaderText('caf\xe9')).toBe('caf\xe9');
});
