import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { KubeObject } from '../../object/meta.js';
import { decodeObject, type FramedObject } from '../../object/scan/decode-object.js';
import { equal } from '../../object/value/equal.js';
import { freeze } from '../../object/value/freeze.js';
import { jsonObject, jsonValue, nested } from '../../object/value/json.fixture.js';
import { lossOf, markLossy } from '../../object/value/lossy.js';
import { RecentStrings } from './recent-strings.js';
import { ReferenceDecoder } from './reference-decoder.js';
import { StoreDecoder } from './store-decoder.js';

const runs = Number(process.env.RIATA_RUNS ?? 400);

function decoder() {
  return new ReferenceDecoder(new RecentStrings(64), (_, after) => after);
}

/** What is made of a text along a known object; `undefined` if it is left to the parser. */
function along(known: object, text: string, isVersion = true): object | undefined {
  let made: object | undefined;
  const decode = (framed: FramedObject) => {
    made = decoder().decode(framed, known, isVersion);
    return made;
  };
  decodeObject(Buffer.from(text), { cutManagedFields: true, decoder: { decode } });
  return made;
}

const like = <T extends object>(known: T, change: (draft: T) => unknown): { text: string; known: T } => {
  const draft = JSON.parse(JSON.stringify(known)) as T;
  change(draft);
  return { text: JSON.stringify(draft), known };
};

const pod = {
  apiVersion: 'v1',
  kind: 'Pod',
  metadata: { name: 'web-1', namespace: 'shop', resourceVersion: '7', labels: { app: 'web', tier: 'é' } },
  spec: { nodeName: 'node-1', containers: [{ name: 'web', ports: [80, -1], args: ['a', 'b'], stdin: true }] },
  status: { phase: 'Running', ready: null as string | null, restarts: 0, share: 0.5 as number },
};
type Pod = typeof pod;

describe('what differs is made, the rest is taken from the known one', () => {
  test('a string, a number, a literal', () => {
    const { text, known } = like(freeze(structuredClone(pod)) as Pod, (draft) => {
      draft.metadata.resourceVersion = '8';
      draft.status = { phase: 'Failed', ready: 'no', restarts: 12, share: 0.25 };
      draft.spec.containers[0]!.stdin = false;
    });
    const made = along(known, text) as Pod;
    expect(made).toEqual(JSON.parse(text));
    expect(Object.keys(made)).toEqual(Object.keys(known));
    expect(made.metadata.labels).toBe(known.metadata.labels);
    expect(made.spec.containers[0]?.ports).toBe(known.spec.containers[0]?.ports);
    expect(Object.isFrozen(made)).toBe(false);
  });

  test('an event of what came in a list, where the type is the other way round', () => {
    const { apiVersion, kind, ...rest } = pod;
    const event = { kind, apiVersion, ...rest, status: { ...rest.status, phase: 'Failed' } };
    expect(along(pod, JSON.stringify(event))).toEqual(event);
    expect(along(event, JSON.stringify(pod))).toEqual(pod);
    expect(along(pod, JSON.stringify({ kind, apiVersion: 'v2', ...rest }))).toBeUndefined();
    expect(along(pod, JSON.stringify({ kind, ...rest }))).toBeUndefined();
    expect(along({ kind }, JSON.stringify({ apiVersion, kind }))).toBeUndefined();
  });

  test('nothing: the known one', () => {
    const { status: _, ...known } = pod;
    expect(along(known, JSON.stringify(known))).toBe(known);
  });

  test.each<[string, (draft: Pod) => void]>([
    ['a key more', (draft) => Object.assign(draft.spec, { hostNetwork: true })],
    ['a key less', (draft) => Reflect.deleteProperty(draft.spec.containers[0]!, 'name')],
    ['a longer array', (draft) => draft.spec.containers[0]!.args.push('c')],
    ['a shorter array', (draft) => draft.spec.containers[0]!.args.pop()],
    ['an empty array', (draft) => draft.spec.containers.splice(0)],
    ['another type', (draft) => Object.assign(draft.spec, { nodeName: { a: [1] }, containers: 'none' })],
    ['escapes and more than ASCII', (draft) => Object.assign(draft.spec, { nodeName: '"\\\n日本 🚀' })],
    ['a fraction', (draft) => Object.assign(draft.status, { phase: -0.25 })],
  ])('%s', (_, change) => {
    const { text, known } = like(pod, change);
    expect(along(known, text)).toEqual(JSON.parse(text));
  });

  test('managedFields are cut wherever they stand', () => {
    const fields = '"managedFields":[{"manager":"x","fieldsV1":{"f:a":{}}}]';
    const { status: _, ...known } = pod;
    for (const at of ['"name"', '"resourceVersion"', '"labels"']) {
      const text = JSON.stringify(known).replace(at, `${fields},${at}`);
      expect(along(known, text)).toBe(known);
    }
    expect(along(known, JSON.stringify(known).replace('"é"}}', `"é"},${fields}}`))).toBe(known);
    const more = JSON.stringify(known).replace('"name"', `${fields},"uid":"u","name"`);
    expect(along(known, more)).toEqual({ ...known, metadata: { uid: 'u', ...known.metadata } });
  });
});

describe('left to the parser', () => {
  const { status: _, ...known } = pod;
  const text = JSON.stringify(known);
  test.each<[string, string]>([
    ['white space', JSON.stringify(known, null, 1)],
    ['a member more', text.replace(/}$/, ',"status":{}}')],
    ['a member less', text.replace('"kind":"Pod",', '')],
    ['an integer past 2^53', text.replace('80', '9007199254740993')],
    ['a fraction with an exponent', text.replace('80', '1.5e2')],
    ['an exponent', text.replace('80', '1e400')],
    ['minus zero', text.replace('80', '-0')],
    ['an escaped managedFields', text.replace('"name"', '"\\u006danagedFields":[],"name"')],
  ])('%s', (__, other) => {
    expect(along(known, other)).toBeUndefined();
  });

  test('what is lossy, and what is nested too deep', () => {
    expect(along(markLossy({ ...known }, 'transformed'), text)).toBeUndefined();
    const deep = { in: nested(400) };
    expect(along(deep, JSON.stringify(deep))).toBeUndefined();
  });

  test('all but some, once many were not alike', () => {
    const patient = decoder();
    let tried = 0;
    const decode = (framed: FramedObject) => {
      const made = patient.decode(framed, known);
      if (made !== undefined) tried++;
      return made;
    };
    for (let i = 0; i < 20; i++) decodeObject(Buffer.from('{"other":1}'), { decoder: { decode } });
    for (let i = 0; i < 40; i++) decodeObject(Buffer.from(text), { decoder: { decode } });
    expect(tried).toBeGreaterThan(20);
  });
});

describe('whatever comes', () => {
  const string = fc.oneof(fc.constantFrom('', 'x', '"', '\\', 'a"b', '","', '\n', 'é', '日本', '\u0000'), fc.string());
  const leaf = fc.oneof(string, fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true }), fc.constant(null));

  test('it is equal to what the parser makes, and the known one stays as it is', () => {
    fc.assert(
      fc.property(
        jsonObject(),
        fc.array(fc.tuple(fc.nat(), fc.oneof(leaf, jsonValue())), { maxLength: 3 }),
        fc.boolean(),
        (base, changes, isFrozen) => {
          const known = { ...base, metadata: { name: 'a', labels: { ...base } }, spec: { deep: [base, { base }] } };
          if (isFrozen) freeze(known);
          const before = JSON.stringify(known);
          const next = JSON.parse(before) as object;
          for (const [at, value] of changes) replaceAt(next, at, value);
          const text = JSON.stringify(next);
          const expected = JSON.parse(text) as object;
          const made = along(known, text);
          if (made !== undefined) {
            expect(equal(made, expected)).toBe(true);
            expect(JSON.stringify(made)).toBe(JSON.stringify(expected));
          }
          expect(JSON.stringify(known)).toBe(before);
        },
      ),
      { numRuns: runs },
    );
  });

  test('what is broken is refused', () => {
    const known = { kind: 'A', metadata: { name: 'a"b', note: 'x\\y' }, spec: { list: [1, 'two', null, true] } };
    const text = JSON.stringify(known);
    fc.assert(
      fc.property(fc.nat(text.length - 1), fc.constantFrom(...'"\\,:{}[]0e-x\n '), fc.boolean(), (at, by, insert) => {
        const broken = text.slice(0, at) + by + text.slice(insert ? at : at + 1);
        let expected: unknown;
        try {
          expected = JSON.parse(broken);
        } catch {
          expect(() => along(known, broken)).toThrow(SyntaxError);
          return;
        }
        const made = along(known, broken);
        if (made !== undefined) expect(made).toEqual(expected);
      }),
      { numRuns: runs },
    );
  });
});

interface Noted extends KubeObject {
  readonly spec: { readonly note: string };
}

test('a large part that did not change is known by its text alone, and one that did is not taken for it', () => {
  const known = (note: string, resourceVersion = '1'): Noted => ({
    apiVersion: 'v1',
    kind: 'A',
    metadata: { name: 'a', uid: 'u', creationTimestamp: '', resourceVersion },
    spec: { note },
  });
  let stored: object | undefined;
  const decoder = new StoreDecoder(() => stored);
  const decode = (object: object, previous?: object) => {
    stored = previous;
    return decodeObject<Noted>(Buffer.from(JSON.stringify(object)), { decoder });
  };
  const large = 'x'.repeat(2_000);
  decoder.share(decode(known('')), undefined);
  const first = decoder.share(decode(known(large)), undefined);
  freeze(first);
  const second = decode(known(large, '2'), first);
  expect(second.spec).toBe(first.spec);
  expect(second.metadata.resourceVersion).toBe('2');
  for (const other of [`${large.slice(1)}y`, `${large}x`, '', large.slice(1)]) {
    const changed = decode(known(other), second);
    expect(changed.spec.note === other).toBe(true);
    expect(decoder.share(changed, second)).toBe(changed);
  }
  const same = decode(known(large, '2'), second);
  expect(lossOf(markLossy(same, 'transformed'))).toBeDefined();
  expect(lossOf(second)).toBeUndefined();
});

/** Puts a value in place of one somewhere in an object. */
function replaceAt(root: object, at: number, value: unknown): void {
  let node = root as Record<string, unknown>;
  let left = at;
  for (;;) {
    const keys = Object.keys(node).filter((key) => key !== '__proto__');
    const key = keys[left % (keys.length || 1)];
    if (key === undefined) return;
    const child = node[key];
    left = Math.floor(left / keys.length);
    if (typeof child !== 'object' || child === null || left % 3 === 0) {
      node[key] = value;
      return;
    }
    node = child as Record<string, unknown>;
  }
}
