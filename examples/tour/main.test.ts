import { TestEnvironment } from '@riata/testing';
import { expect, test } from 'vitest';
import { tour } from './main.js';

test('the tour', async () => {
  const lines: string[] = [];
  // In this process; on the real server in `npm run test:real`.
  await using env = await TestEnvironment.start();
  await tour(env.config, (line) => lines.push(line));
  expect(lines[0]).toMatch(/^connected to Kubernetes v1\./);
  const events = lines.filter((line) => /^(ADDED|MODIFIED|DELETED)/.test(line));
  expect(events).toEqual([
    'ADDED prices {"apple":"1"}',
    'MODIFIED prices {"apple":"1","pear":"2"}',
    'DELETED prices {"apple":"1","pear":"2"}',
  ]);
  expect(lines).toContain('applied twice, stored once: true');
  expect(lines).toContain('conflict: the object has changed; read it again, or patch it');
});
