import fc from 'fast-check';
import { expect, test } from 'vitest';
import { decodeObject } from '../../object/scan/decode-object.js';
import { freeze } from '../../object/value/freeze.js';
import { StoreDecoder } from './store-decoder.js';

interface Named {
  readonly metadata: { readonly [key: string]: unknown };
}

/** Decodes texts as versions of one object, each along the one before. */
function versions() {
  let stored: Named | undefined;
  const decoder = new StoreDecoder(() => stored);
  return (text: string): Named => {
    stored = freeze(decodeObject<Named>(Buffer.from(text), { cutManagedFields: true, decoder }));
    return stored;
  };
}

const metadata = { name: 'a', uid: 'u-1', resourceVersion: '9', labels: { app: 'web' } };
const managed = [{ manager: 'x', fieldsV1: { 'f:a': {} } }];
const object = (members: object) => JSON.stringify({ metadata: members, spec: { a: 1 } });

test('of metadata that are the same but for their version, all else is kept', () => {
  const take = versions();
  take(object({ ...metadata, uid: 'u-0' }));
  const first = take(object(metadata));
  for (const resourceVersion of ['10', '11', '1234567', '8']) {
    const next = take(object({ ...metadata, resourceVersion, managedFields: managed }));
    expect(JSON.stringify(next.metadata)).toBe(JSON.stringify({ ...metadata, resourceVersion }));
    expect(next.metadata.labels).toBe(first.metadata.labels);
  }
  // As long as before, with another version, too.
  for (const app of ['wob', 'web', 'wab']) {
    expect(take(object({ ...metadata, labels: { app } })).metadata).toEqual({ ...metadata, labels: { app } });
  }
});

test('whatever two versions are, the second is what a parser makes of it', () => {
  const version = fc.constantFrom('1', '2', '10', '', '"', '\\', '\u0007', 'é', 'x'.repeat(80), '1","uid":"2');
  const members = fc.record(
    {
      name: fc.constantFrom('a', 'b'),
      labels: fc.record({ resourceVersion: version, app: fc.constantFrom('x', 'y', 'xy') }, { requiredKeys: [] }),
      resourceVersion: version,
      managedFields: fc.constantFrom<unknown>([], managed),
      annotations: fc.record({ resourceVersion: version, note: version }, { requiredKeys: [] }),
      uid: fc.constantFrom('1', '2'),
      generation: fc.constantFrom(1, 2, 10),
    },
    { requiredKeys: [] },
  );
  fc.assert(
    fc.property(
      // Few differ in more than one place; otherwise most would be distinguished at once.
      fc.tuple(
        members,
        fc.array(
          members.map(({ resourceVersion, labels }) => ({ resourceVersion, labels })),
          { minLength: 1, maxLength: 4 },
        ),
      ),
      fc.boolean(),
      ([base, changes], isPretty) => {
        const take = versions();
        const texts = [
          base,
          ...changes.map((change) => ({ ...base, ...change })),
          ...changes.map(({ resourceVersion }) => ({ ...base, resourceVersion })),
        ];
        for (const each of texts) {
          const text = JSON.stringify({ metadata: each, spec: {} }, null, isPretty ? 1 : undefined);
          const { managedFields: _, ...expected } = JSON.parse(text).metadata;
          expect(JSON.stringify(take(text).metadata)).toBe(JSON.stringify(expected));
        }
      },
    ),
    { numRuns: 100 },
  );
});

test('large metadata, which are not digested', () => {
  const take = versions();
  const annotations = { note: 'x'.repeat(70_000) };
  for (const resourceVersion of ['1', '2', '2', '3']) {
    const members = { ...metadata, annotations, resourceVersion };
    expect(take(object(members)).metadata).toEqual(members);
  }
});
