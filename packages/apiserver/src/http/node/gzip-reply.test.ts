import { Buffer } from 'node:buffer';
import { gunzipSync } from 'node:zlib';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { CollectedReply } from '../toy-server.fixture.js';
import { GzipReply, gzipThresholdBytes } from './gzip-reply.js';

test('what is written comes out again, packed if there is enough of it', () => {
  const lengths = fc.array(fc.nat(200_000), { maxLength: 8 });
  fc.assert(
    fc.property(lengths, fc.nat(), (sizes, salt) => {
      const inner = new CollectedReply();
      const reply = new GzipReply(inner);
      const parts = sizes.map((size, i) => Buffer.alloc(size, `${salt}-${i}`));
      reply.head(200, { 'content-length': 'any', 'x-other': 'y' });
      for (const part of parts) reply.write(part);
      reply.end();
      const whole = Buffer.concat(parts);
      const packed = whole.length > gzipThresholdBytes;
      expect(inner.headers['content-encoding']).toBe(packed ? 'gzip' : undefined);
      expect(inner.headers['content-length']).toBe(packed ? undefined : 'any');
      expect((packed ? gunzipSync(inner.bytes) : inner.bytes).equals(whole)).toBe(true);
    }),
    { numRuns: 40 },
  );
});
