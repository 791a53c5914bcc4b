import { describe, expect, test } from 'vitest';
import { clone } from './clone.js';
import { edit } from './edit.js';
import { freeze } from './freeze.js';
import { isLossyObjectError, LossyObjectError, lossOf, markLossy, refuseLossy } from './lossy.js';
import { share } from './share.js';

const pod = () => ({ kind: 'Pod', metadata: { namespace: 'shop', name: 'cart' }, spec: { max: 2 } });

describe('provenance of lossy objects', () => {
  test('is kept beside the object', () => {
    const x = markLossy(freeze(pod()), 'transformed', ['spec.a']);
    expect(lossOf(x)).toEqual({ reasons: [{ reason: 'transformed', paths: ['spec.a'] }] });
    expect(JSON.stringify(x)).toBe(JSON.stringify(pod()));
    expect(Reflect.ownKeys(x)).toEqual(['kind', 'metadata', 'spec']);
    expect(lossOf(pod())).toBeUndefined();
  });

  test('adds up without doubles', () => {
    const x = pod();
    markLossy(x, 'unsafe-integer', ['spec.max']);
    markLossy(x, 'metadata-only');
    markLossy(x, 'unsafe-integer', ['spec.max', 'spec.min']);
    expect(lossOf(x)?.reasons).toEqual([
      { reason: 'unsafe-integer', paths: ['spec.max', 'spec.min'] },
      { reason: 'metadata-only', paths: [] },
    ]);
  });

  test('survives clone, edit, freeze', () => {
    const x = markLossy(pod(), 'metadata-only');
    const edited = edit(x, (draft) => {
      draft.spec.max = 3;
    });
    for (const y of [clone(x), clone(clone(x)), edited, freeze(clone(x))]) expect(lossOf(y)).toEqual(lossOf(x));
  });

  test('a later mark on a copy is its own', () => {
    const x = markLossy(pod(), 'metadata-only');
    markLossy(clone(x), 'transformed');
    expect(lossOf(x)?.reasons).toHaveLength(1);
  });

  test('survives clone and edit for the items of a list', () => {
    const list = { kind: 'PodList', items: [pod(), markLossy(pod(), 'transformed')] };
    const copy = clone(list);
    expect(lossOf(copy.items[0]!)).toBeUndefined();
    expect(lossOf(copy.items[1]!)).toEqual(lossOf(list.items[1]!));
  });

  test('is not carried by a spread: clone is the way to copy', () => {
    expect(lossOf({ ...markLossy(pod(), 'metadata-only') })).toBeUndefined();
  });

  test('share gives the record of next', () => {
    const clean = freeze(pod());
    const lossy = markLossy(freeze(pod()), 'unsafe-integer', ['spec.max']);
    expect(share(clean, pod())).toBe(clean);

    const nowLossy = share(clean, markLossy(pod(), 'unsafe-integer', ['spec.max']));
    expect(nowLossy).not.toBe(clean);
    expect(nowLossy.spec).toBe(clean.spec);
    expect(lossOf(nowLossy)).toEqual(lossOf(lossy));
    expect(lossOf(clean)).toBeUndefined();

    const nowClean = share(lossy, pod());
    expect(nowClean).not.toBe(lossy);
    expect(lossOf(nowClean)).toBeUndefined();

    expect(share(lossy, markLossy(pod(), 'unsafe-integer', ['spec.max']))).toBe(lossy);
    expect(share(lossy, markLossy(pod(), 'unsafe-integer', ['spec.min']))).not.toBe(lossy);

    const frozenNext = markLossy(freeze({ ...pod(), spec: { max: 9 } }), 'transformed');
    expect(lossOf(share(clean, frozenNext))).toEqual(lossOf(frozenNext));
  });
});

describe('refuseLossy', () => {
  test('lets faithful objects pass, and those that lost managedFields only', () => {
    expect(() => refuseLossy(pod(), 'update')).not.toThrow();
    expect(() => refuseLossy(markLossy(pod(), 'managed-fields-cut'), 'update')).not.toThrow();
  });

  test('says what, why and what to do', () => {
    const x = markLossy(markLossy(pod(), 'transformed', ['spec.a', 'spec.b']), 'unsafe-integer');
    const error = caught(() => refuseLossy(x, 'update'));
    expect(error.message).toMatch(
      /^update Pod shop\/cart refused: it was transformed .*\(spec\.a, spec\.b\); it holds integers past 2\^53/,
    );
    expect(error.message).toMatch(/patch or apply/);
    expect(error.verb).toBe('update');
    expect(error.losses.map((loss) => loss.reason)).toEqual(['transformed', 'unsafe-integer']);
  });

  test('shortens a long list of paths', () => {
    const paths = Array.from({ length: 8 }, (_, i) => `spec.f${i}`);
    const error = caught(() => refuseLossy(markLossy({}, 'transformed', paths), 'replace'));
    expect(error.message).toMatch(/^replace object refused: .*spec\.f4 and 3 more/);
    expect(caught(() => refuseLossy(markLossy({}, 'metadata-only'), 'update')).message).toMatch(/only the metadata/);
  });

  test('is recognised by its brand', () => {
    const error = caught(() => refuseLossy(markLossy(pod(), 'metadata-only'), 'update'));
    expect(isLossyObjectError(error)).toBe(true);
    expect(isLossyObjectError({ [Symbol.for('riata.LossyObjectError')]: true })).toBe(true);
    expect(isLossyObjectError(new Error('x'))).toBe(false);
    expect(isLossyObjectError(undefined)).toBe(false);
  });
});

function caught(run: () => void): LossyObjectError {
  try {
    run();
  } catch (error) {
    if (error instanceof LossyObjectError) return error;
    throw error;
  }
  throw new Error('nothing was thrown');
}
