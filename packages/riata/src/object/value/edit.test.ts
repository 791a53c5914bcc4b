import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { edit } from './edit.js';
import { freeze, isFrozenDeep } from './freeze.js';
import { jsonObject } from './json.fixture.js';

interface Deployment {
  readonly metadata: { readonly name: string; readonly labels?: Readonly<Record<string, string>> };
  readonly spec: { readonly replicas: number; readonly list: readonly { readonly name: string }[] };
}

const deployment = (): Deployment => freeze({ metadata: { name: 'a' }, spec: { replicas: 1, list: [{ name: 'x' }] } });

describe('edit', () => {
  test('returns a changed copy and leaves the input alone', () => {
    const before = deployment();
    const after = edit(before, (draft) => {
      draft.spec.replicas = 3;
      draft.metadata.labels = { app: 'a' };
      delete draft.metadata.labels.none;
    });
    expect(before).toEqual({ metadata: { name: 'a' }, spec: { replicas: 1, list: [{ name: 'x' }] } });
    expect(after).toEqual({
      metadata: { name: 'a', labels: { app: 'a' } },
      spec: { replicas: 3, list: [{ name: 'x' }] },
    });
    expect(after.spec.list).toBe(before.spec.list);
  });

  test('returns the input when nothing changed, or was changed back', () => {
    const before = deployment();
    expect(edit(before, () => {})).toBe(before);
    const same = edit(before, (draft) => {
      draft.spec.list.push({ name: 'y' });
      draft.spec.list.pop();
      draft.spec.replicas = 1;
    });
    expect(same).toBe(before);
  });

  test('gives a frozen result for a frozen input and only then', () => {
    const frozen = edit(deployment(), (draft) => {
      draft.spec.list.push({ name: 'y' });
    });
    expect(isFrozenDeep(frozen)).toBe(true);
    const open = edit({ a: { b: 1 }, c: {} }, (draft) => {
      draft.a.b = 2;
    });
    expect(Object.isFrozen(open)).toBe(false);
    expect(Object.isFrozen(open.a)).toBe(false);
  });

  test('refuses an async recipe, even one that fails', () => {
    expect(() => edit(deployment(), async () => {})).toThrow(/recipe is async.*await first/);
    expect(() => edit(deployment(), () => Promise.reject(new Error('late')))).toThrow(/recipe is async/);
  });

  test('refuses a replacement, ignores what assignments and calls happen to return', () => {
    expect(() => edit(deployment(), () => ({ spec: {} }))).toThrow(/not part of the draft/);
    expect(edit(deployment(), (draft) => draft.spec.list.push({ name: 'y' })).spec.list).toHaveLength(2);
    expect(edit(deployment(), (draft) => (draft.metadata.labels = { a: 'b' })).metadata.labels).toEqual({ a: 'b' });
    const before = deployment();
    expect(edit(before, (draft) => draft)).toBe(before);
  });

  test('a recipe that throws leaves nothing behind', () => {
    const before = deployment();
    expect(() =>
      edit(before, (draft) => {
        draft.spec.replicas = 9;
        throw new Error('no');
      }),
    ).toThrow('no');
    expect(before.spec.replicas).toBe(1);
  });

  test('any input stays as it was', () => {
    fc.assert(
      fc.property(jsonObject(), (x) => {
        const text = JSON.stringify(x);
        const y = edit(x as Record<string, unknown>, (draft) => {
          draft.added = { here: true };
        });
        expect(JSON.stringify(x)).toBe(text);
        expect(y.added).toEqual({ here: true });
        expect(Object.keys(y)).toHaveLength(Object.keys(x).length + 1);
      }),
    );
  });
});

test('a recipe may return what a method of a list gives', () => {
  const before = { list: [1, 2, 3] };
  expect(edit(before, (draft) => draft.list.splice(0, 1))).toEqual({ list: [2, 3] });
});
