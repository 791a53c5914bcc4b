import { expect, test } from 'vitest';
import { fromHeaderText, readHeaders, toHeaderText } from './header-text.js';

test('ASCII stays as it is', () => {
  const headers = { warning: '299 - "a"', via: ['a', 'b'], none: undefined };
  expect(readHeaders(headers)).toBe(headers);
  expect(toHeaderText('jane@example.org')).toBe('jane@example.org');
});

test('text beyond ASCII goes out as UTF-8, a character per byte, and comes back', () => {
  expect(toHeaderText('jä€')).toBe('j\xc3\xa4\xe2\x82\xac');
  expect(fromHeaderText(toHeaderText('jä€😀'))).toBe('jä€😀');
  const headers = { warning: [toHeaderText('299 - "ä"'), 'plain'], server: toHeaderText('ö'), date: 'now' };
  expect(readHeaders(headers)).toEqual({ warning: ['299 - "ä"', 'plain'], server: 'ö', date: 'now' });
});

test('bytes that are no UTF-8 are left a character each', () => {
  expect(fromHeaderText('caf\xe9')).toBe('caf\xe9');
});
