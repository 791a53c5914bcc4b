import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { version } from './version.js';

test('the version in the source is the one of package.json', () => {
  const manifest = JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8'));
  expect(version).toBe(manifest.version);
});
