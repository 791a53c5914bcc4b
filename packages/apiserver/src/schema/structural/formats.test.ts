import { expect, test } from 'vitest';
import { hasFormat } from './formats.js';

// Trying every start of these again would take minutes.
test.each([
  ['email', `a${' '.repeat(300_000)}<`, false],
  ['email', `a@example.com${' '.repeat(300_000)}`, true],
  ['uri', `http://${'@'.repeat(300_000)}:x:`, false],
  ['uri', `http://a@b@example.com:80/`, true],
  ['duration', '1'.repeat(300_000), false],
  ['duration', `${'1'.repeat(1000)} 3 days`, true],
  ['hostname', 'a.'.repeat(100_000), false],
])('%s, however long the text', (format, text, is) => {
  expect(hasFormat(text, format)).toBe(is);
});
