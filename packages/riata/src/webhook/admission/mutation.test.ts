import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { makeKind } from '../../object/kind.js';
import { applyJsonPatch } from '../../object/patch/apply-json-patch.js';
import { jsonObject } from '../../object/value/json.fixture.js';
import { Site, site, siteRequest, WebhookPlay } from './admission.fixture.js';
import { admit } from './admit.js';

const path = '/mutate-example-com-v1-site';
/** The kind of the fixture, of unknown shape. */
const Loose = makeKind({ group: 'example.com', version: 'v1', kind: 'Site', plural: 'sites', scope: 'Namespaced' });
type Bag = Record<string, unknown>;

/** Mutates a spec given as text, as only text holds any integer; gives the text of the patch. */
async function mutated(spec: string, change: (spec: Bag) => void): Promise<{ patch?: string; error?: string }> {
  const play = new WebhookPlay(admit(Loose).mutates((draft) => change(draft.spec as Bag)));
  const object = JSON.stringify(site({ at: 1 })).replace('{"at":1}', () => spec);
  const request = JSON.stringify({ ...siteRequest, object: '@' }).replace('"@"', () => object);
  const { patchText, status } = await play.review(path, request);
  const error = play.log.records[0]?.fields.error;
  if (status?.code !== 200) return { error: (error as Error).message };
  return patchText === undefined ? {} : { patch: patchText };
}

describe('a patch', () => {
  test('turns what came in into what the mutator left, whatever that is', async () => {
    await fc.assert(
      fc.asyncProperty(jsonObject(), jsonObject(), async (before, after) => {
        const mutate = admit(Loose).mutates((draft) => {
          draft.spec = after;
        });
        const object = site(before, { unknown: before });
        const text = JSON.stringify({ ...siteRequest, object });
        const { patch = [] } = await new WebhookPlay(mutate).review(path, text);
        expect(applyJsonPatch(JSON.parse(JSON.stringify(object)), patch)).toEqual(
          JSON.parse(JSON.stringify(site(after, { unknown: before }))),
        );
        // What did not change is not in it.
        expect(patch.every((operation) => operation.path.startsWith('/spec'))).toBe(true);
      }),
    );
  });

  test('is absent if nothing changed', async () => {
    const rules = admit(Site).mutates((draft) => {
      draft.spec = { ...draft.spec };
      draft.metadata.labels = undefined as never;
    });
    const { body } = await new WebhookPlay(rules).review(path, {});
    expect(body.response).toEqual({ uid: 'u-1', allowed: true, status: { metadata: {}, code: 200 } });
  });

  test('keeps keys that look like those of prototypes', async () => {
    const { patch } = await mutated('{"__proto__":{"a":1}}', (spec) => {
      spec.added = true;
    });
    expect(patch).toBe('[{"op":"add","path":"/spec/added","value":true}]');
  });

  test('cannot hold what JSON has no word for', async () => {
    for (const [value, said] of [
      [new Date(0), /the change of \/spec\/when cannot be sent: .*an instance of Date/],
      [Number.NaN, /expected plain JSON, got NaN/],
      [() => {}, /expected plain JSON, got a function/],
    ] as const) {
      const { error } = await mutated('{}', (spec) => {
        spec.when = value;
      });
      expect(error).toMatch(said);
    }
  });
});

describe('integers past 2^53', () => {
  const big = '9007199254740993';

  test('stay, if nobody touches them', async () => {
    const { patch } = await mutated(`{"size":${big},"list":[${big}]}`, (spec) => {
      spec.zone = 'a';
    });
    expect(patch).toBe('[{"op":"add","path":"/spec/zone","value":"a"}]');
  });

  test('keep their digits when they are moved', async () => {
    const spec = `{"size":${big},"list":[{"a":${big}},{"a":-12345678901234567891}]}`;
    const { patch } = await mutated(spec, (draft) => {
      draft.copy = draft.size;
      draft.list = (draft.list as unknown[]).toReversed();
      draft.nested = { list: [draft.size] };
    });
    expect(patch).toContain(`"path":"/spec/copy","value":${big}`);
    expect(patch).toContain(`"path":"/spec/nested","value":{"list":[${big}]}`);
    expect(patch).toContain('"path":"/spec/list/0/a","value":-12345678901234567891');
    expect(patch).toContain(`"path":"/spec/list/1/a","value":${big}`);
  });

  test('can be set as bigints', async () => {
    const { patch } = await mutated('{}', (draft) => {
      draft.size = 9007199254740993n;
    });
    expect(patch).toBe(`[{"op":"add","path":"/spec/size","value":${big}}]`);
  });

  test('are refused where it is not clear which one is meant', async () => {
    const spec = `{"a":${big},"b":9007199254740992,"list":[${big},9007199254740992]}`;
    const refusal = /the object holds several integers past 2\^53 that are the same JavaScript number/;
    for (const change of [
      (draft: Bag) => {
        draft.copy = draft.a;
      },
      (draft: Bag) => {
        draft.list = (draft.list as unknown[]).slice(1);
      },
    ]) {
      expect((await mutated(spec, change)).error).toMatch(refusal);
    }
    const { patch } = await mutated(spec, (draft) => {
      draft.zone = 'a';
      draft.list = undefined;
    });
    expect(patch).toBe('[{"op":"remove","path":"/spec/list"},{"op":"add","path":"/spec/zone","value":"a"}]');
  });

  test('are refused as numbers of the mutator', async () => {
    const { error } = await mutated('{}', (draft) => {
      draft.size = 2 ** 53;
    });
    expect(error).toMatch(/the change of \/spec\/size cannot be sent: .*may have been rounded; give its exact value/);
  });

  test('of any object survive any change beside them', async () => {
    const digits = fc.bigInt({ min: 2n ** 53n, max: 2n ** 63n }).map(String);
    await fc.assert(
      fc.asyncProperty(fc.uniqueArray(digits, { minLength: 1, maxLength: 3 }), jsonObject(), async (kept, added) => {
        const { patch, error } = await mutated(`{"kept":[${kept.join(',')}]}`, (spec) => {
          spec.added = added;
        });
        expect(error).toBeUndefined();
        expect(patch).toBe(JSON.stringify([{ op: 'add', path: '/spec/added', value: added }]));
      }),
    );
  });
});

describe('mutators', () => {
  test('run in order, on one draft', async () => {
    const seen: unknown[] = [];
    const rules = admit(Site)
      .mutates((draft) => {
        draft.spec.zone = 'a';
      })
      .mutates(async (draft, { object, old, operation }) => {
        await Promise.resolve();
        seen.push(draft.spec.zone, object.spec.zone, old, operation);
        draft.spec.zone += 'b';
      });
    expect(rules.targets).toHaveLength(1);
    const { patch } = await new WebhookPlay(rules).review(path, {});
    expect(patch).toEqual([{ op: 'add', path: '/spec/zone', value: 'ab' }]);
    expect(seen).toEqual(['a', undefined, undefined, 'create']);
  });

  test('know the old object', async () => {
    const rules = admit(Site).mutates((draft, { old }) => {
      if (old) draft.spec.zone = old.spec.zone ?? 'none';
    });
    const request = { operation: 'UPDATE', object: site({}), oldObject: site({ zone: 'z' }) };
    const { patch } = await new WebhookPlay(rules).review(path, request);
    expect(patch).toEqual([{ op: 'add', path: '/spec/zone', value: 'z' }]);
  });

  test('can deny, which ends it', async () => {
    const rules = admit(Site)
      .mutates((draft, { deny, path: fields }) => {
        draft.spec.zone = 'a';
        deny(fields.spec.zone, 'no');
      })
      .mutates(() => {
        throw new Error('not reached');
      });
    const { allowed, patch, status } = await new WebhookPlay(rules).review(path, {});
    expect([allowed, patch, status?.code]).toEqual([false, undefined, 422]);
  });

  test('are not called for a delete', async () => {
    const rules = admit(Site).mutates(() => {
      throw new Error('not reached');
    });
    const { allowed } = await new WebhookPlay(rules).review(path, {
      operation: 'DELETE',
      oldObject: site(),
      object: null,
    });
    expect(allowed).toBe(true);
  });

  test('that return another object are refused, since that would be lost', async () => {
    const play = new WebhookPlay(admit(Site).mutates((draft) => ({ ...draft, spec: { ...draft.spec, zone: 'a' } })));
    expect((await play.review(path, {})).status?.code).toBe(500);
    expect(String(play.log.records[0]?.fields.error)).toMatch(/change the draft in place and return nothing/);
    // The value of an expression, and the draft itself, are fine.
    for (const fine of [
      admit(Site).mutates((draft) => (draft.spec.zone = 'a')),
      admit(Site).mutates((draft) => draft),
    ]) {
      expect((await new WebhookPlay(fine).review(path, {})).allowed).toBe(true);
    }
  });
});
