import { expect, test } from 'vitest';
import { tour } from './main.js';

test('the tour', async () => {
  const lines: string[] = [];
  await tour((line) => lines.push(line));
  expect(lines[0]).toMatch(/^connected to Kubernetes v1\./);
  // The watch may begin before or after the first write: what it says of the object is the same.
  const story = lines.slice(1).filter((line) => line !== 'watching');
  expect(story.filter((line) => /^(ADDED|MODIFIED|DELETED)/.test(line)).at(-1)).toBe(
    'DELETED prices {"apple":"1","pear":"2"}',
  );
  expect(story).toContain('applied twice, stored once: true');
  expect(story).toContain('the update was too late: read again, or patch');
});
