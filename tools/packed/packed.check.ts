import { realpathSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, test } from 'vitest';

test.each(['riata', 'riata/controller', '@riata/apiserver', '@riata/testing', '@riata/sandbox'])(
  '%s is the packed one',
  (name) => {
    const path = realpathSync(fileURLToPath(import.meta.resolve(name)));
    expect(path).toMatch(/riata-packed-[^/\\]+[/\\]node_modules[/\\](?:@riata[/\\])?[a-z]+[/\\]dist[/\\]/);
  },
);
