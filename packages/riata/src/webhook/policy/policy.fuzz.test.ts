import fc from 'fast-check';
import { expect, test } from 'vitest';
import { z } from 'zod';
import { and, not, or, when } from '../../object/cel/cel-functions.js';
import type { CelBool, CelList, CelNumber, CelOf, CelString, Presence } from '../../object/cel/cel-types.js';
import { defineKind } from '../../object/define-kind.js';
import { policy } from './policy.js';
import { loadPolicyEngine } from './policy-engine.js';

const Thing = defineKind({
  group: 'fuzz.example.com',
  version: 'v1',
  kind: 'Thing',
  spec: z.object({
    count: z.int(),
    limit: z.int().optional(),
    ratio: z.number().optional(),
    title: z.string(),
    zone: z.string().optional(),
    on: z.boolean().optional(),
    names: z.array(z.string()).optional(),
    sizes: z.array(z.int()),
    labels: z.record(z.string(), z.string()).optional(),
    parts: z.array(z.object({ name: z.string(), size: z.int().optional() })).optional(),
    'dashed-name': z.string().optional(),
    in: z.object({ namespace: z.string().optional() }).optional(),
  }),
});
type Spec = Parameters<typeof Thing>[0]['spec'];
type SpecCel = CelOf<FuzzSpec>;
interface FuzzSpec {
  readonly count: number;
  readonly limit?: number;
  readonly ratio?: number;
  readonly title: string;
  readonly zone?: string;
  readonly on?: boolean;
  readonly names?: readonly string[];
  readonly sizes: readonly number[];
  readonly labels?: { readonly [key: string]: string };
  readonly parts?: readonly { readonly name: string; readonly size?: number }[];
  readonly 'dashed-name'?: string;
  readonly in?: { readonly namespace?: string };
}

/** The values that an expression can name: as expressions, and as JavaScript has them. */
interface Scope {
  readonly spec: SpecCel;
  readonly part?: CelOf<{ readonly name: string; readonly size?: number }>;
  readonly text?: CelString;
  readonly number?: CelNumber;
}
interface Values {
  readonly spec: FuzzSpec;
  readonly part?: { readonly name: string; readonly size?: number };
  readonly text?: string;
  readonly number?: number;
}

/** An expression of the vocabulary, and what it means in JavaScript; undefined is absent. */
interface Pair<C, V> {
  readonly cel: (scope: Scope) => C;
  readonly js: (values: Values) => V;
}
type Bool = Pair<CelBool<Presence>, boolean | undefined>;
type Num = Pair<CelNumber<Presence>, number | undefined>;
type Text = Pair<CelString<string, Presence>, string | undefined>;
type Texts = Pair<CelList<string, Presence>, readonly string[] | undefined>;
type Numbers = Pair<CelList<number, Presence>, readonly number[] | undefined>;

const pair = <C, V>(cel: (scope: Scope) => C, js: (values: Values) => V): Pair<C, V> => ({ cel, js });
const word: fc.Arbitrary<string> = fc.constantFrom('', 'a', 'b', 'ab', 'Ab c', 'ü"\\\n', '𝒳y', 'x-y/z');
const small = fc.integer({ min: -3, max: 5 });
const both = (a: unknown, b: unknown) => a !== undefined && b !== undefined;
const points = (text: string) => [...text].length;
const lower = (text: string) => text.replace(/[A-Z]/g, (c) => c.toLowerCase());

const { bool } = fc.letrec<{ bool: Bool; num: Num; text: Text; texts: Texts; numbers: Numbers }>((tie) => {
  const options = { maxDepth: 4, depthSize: 'small' as const };
  return {
    num: fc.oneof(
      options,
      fc.constantFrom<Num>(
        pair(
          ({ spec }) => spec.count,
          ({ spec }) => spec.count,
        ),
        pair(
          ({ spec }) => spec.limit,
          ({ spec }) => spec.limit,
        ),
        pair(
          ({ part, spec }) => part?.size ?? spec.limit,
          ({ part, spec }) => (part === undefined ? spec.limit : part.size),
        ),
        pair(
          ({ number, spec }) => number ?? spec.count,
          ({ number, spec }) => number ?? spec.count,
        ),
      ),
      fc.tuple(tie('text'), small).map(
        ([t]): Num =>
          pair(
            (s) => t.cel(s).size(),
            (v) => points(t.js(v) ?? ''),
          ),
      ),
      fc.tuple(tie('num'), small).map(
        ([n, by]): Num =>
          pair(
            (s) => n.cel(s).orElse(by),
            (v) => n.js(v) ?? by,
          ),
      ),
      fc.tuple(tie('num'), fc.constantFrom('plus' as const, 'minus' as const, 'times' as const), small).map(
        ([n, op, by]): Num =>
          pair(
            (s) => n.cel(s)[op](by),
            (v) => {
              const of = n.js(v);
              if (of === undefined) return undefined;
              return op === 'plus' ? of + by : op === 'minus' ? of - by : of * by;
            },
          ),
      ),
      fc.tuple(tie('num'), fc.integer({ min: 1, max: 4 }), fc.boolean()).map(
        ([n, by, isMod]): Num =>
          pair(
            (s) => (isMod ? n.cel(s).mod(by) : n.cel(s).div(by)),
            (v) => {
              const of = n.js(v);
              if (of === undefined) return undefined;
              return isMod ? (of % by) + 0 : Math.trunc(of / by) + 0;
            },
          ),
      ),
      tie('texts').map(
        (l): Num =>
          pair(
            (s) => l.cel(s).size(),
            (v) => l.js(v)?.length ?? 0,
          ),
      ),
      tie('numbers').map(
        (l): Num =>
          pair(
            (s) => l.cel(s).sum(),
            (v) => (l.js(v) ?? []).reduce((a, b) => a + b, 0),
          ),
      ),
      fc.tuple(tie('bool'), tie('num'), tie('num')).map(
        ([b, x, y]): Num =>
          pair(
            (s) => when(b.cel(s), x.cel(s).orElse(0), y.cel(s).orElse(0)) as CelNumber,
            (v) => (b.js(v) === true ? (x.js(v) ?? 0) : (y.js(v) ?? 0)),
          ),
      ),
    ),
    text: fc.oneof(
      options,
      fc.constantFrom<Text>(
        pair(
          ({ spec }) => spec.title,
          ({ spec }) => spec.title,
        ),
        pair(
          ({ spec }) => spec.zone,
          ({ spec }) => spec.zone,
        ),
        pair(
          ({ spec }) => spec['dashed-name'],
          ({ spec }) => spec['dashed-name'],
        ),
        pair(
          ({ spec }) => spec.in.namespace,
          ({ spec }) => spec.in?.namespace,
        ),
        pair(
          ({ part, spec }) => part?.name ?? spec.zone,
          ({ part, spec }) => part?.name ?? spec.zone,
        ),
        pair(
          ({ text, spec }) => text ?? spec.title,
          ({ text, spec }) => text ?? spec.title,
        ),
      ),
      word.map(
        (key): Text =>
          pair(
            ({ spec }) => spec.labels.get(key),
            ({ spec }) => spec.labels?.[key],
          ),
      ),
      fc.nat(2).map(
        (at): Text =>
          pair(
            ({ spec }) => spec.names.at(at),
            ({ spec }) => spec.names?.[at],
          ),
      ),
      fc.tuple(tie('text'), word).map(
        ([t, by]): Text =>
          pair(
            (s) => t.cel(s).orElse(by),
            (v) => t.js(v) ?? by,
          ),
      ),
      fc.tuple(tie('text'), word).map(
        ([t, by]): Text =>
          pair(
            (s) => t.cel(s).concat(by),
            (v) => (t.js(v) === undefined ? undefined : `${t.js(v)}${by}`),
          ),
      ),
      tie('text').map(
        (t): Text =>
          pair(
            (s) => t.cel(s).lowerAscii(),
            (v) => (t.js(v) === undefined ? undefined : lower(t.js(v) as string)),
          ),
      ),
      tie('num').map(
        (n): Text =>
          pair(
            (s) => n.cel(s).toText(),
            (v) => (n.js(v) === undefined ? undefined : String(n.js(v))),
          ),
      ),
      tie('texts').map(
        (l): Text =>
          pair(
            (s) => l.cel(s).join('+'),
            (v) => (l.js(v) ?? []).join('+'),
          ),
      ),
    ),
    texts: fc.oneof(
      options,
      fc.constantFrom<Texts>(
        pair(
          ({ spec }) => spec.names,
          ({ spec }) => spec.names,
        ),
        pair(
          ({ spec }) => spec.parts.map((p) => p.name),
          ({ spec }) => spec.parts?.map((p) => p.name),
        ),
        pair(
          ({ spec }) => spec.title.split('a'),
          ({ spec }) => spec.title.split('a'),
        ),
      ),
      fc.tuple(tie('texts'), tie('bool')).map(
        ([l, b]): Texts =>
          pair(
            (s) => l.cel(s).filter((text) => b.cel({ ...s, text })),
            (v) => l.js(v)?.filter((text) => b.js({ ...v, text }) === true),
          ),
      ),
      tie('texts').map(
        (l): Texts =>
          pair(
            (s) => l.cel(s).orElse([]),
            (v) => l.js(v) ?? [],
          ),
      ),
    ),
    numbers: fc.oneof(
      options,
      fc.constant<Numbers>(
        pair(
          ({ spec }) => spec.sizes,
          ({ spec }) => spec.sizes,
        ),
      ),
      fc.tuple(tie('numbers'), tie('num')).map(
        ([l, n]): Numbers =>
          pair(
            (s) => l.cel(s).map((number) => n.cel({ ...s, number }).orElse(0)) as CelList<number, Presence>,
            (v) => l.js(v)?.map((number) => n.js({ ...v, number }) ?? 0),
          ),
      ),
    ),
    bool: fc.oneof(
      options,
      fc.constant<Bool>(
        pair(
          ({ spec }) => spec.on,
          ({ spec }) => spec.on,
        ),
      ),
      fc
        .tuple(
          tie('num'),
          tie('num'),
          fc.constantFrom(
            'gt' as const,
            'gte' as const,
            'lt' as const,
            'lte' as const,
            'equals' as const,
            'notEquals' as const,
          ),
        )
        .map(
          ([x, y, op]): Bool =>
            pair(
              (s) => x.cel(s)[op](y.cel(s)),
              (v) => {
                const [a, b] = [x.js(v), y.js(v)];
                if (op === 'equals') return a === b;
                if (op === 'notEquals') return a !== b;
                if (!both(a, b)) return false;
                const [c, d] = [a as number, b as number];
                return op === 'gt' ? c > d : op === 'gte' ? c >= d : op === 'lt' ? c < d : c <= d;
              },
            ),
        ),
      fc.tuple(fc.constantFrom(1, 1.5, 2), fc.boolean()).map(
        ([by, isSame]): Bool =>
          pair(
            ({ spec }) => (isSame ? spec.ratio.equals(by) : spec.ratio.times(2).lt(by)),
            ({ spec: { ratio } }) => (isSame ? ratio === by : ratio !== undefined && ratio * 2 < by),
          ),
      ),
      fc
        .tuple(
          tie('text'),
          tie('text'),
          fc.constantFrom(
            'equals' as const,
            'notEquals' as const,
            'startsWith' as const,
            'endsWith' as const,
            'contains' as const,
          ),
        )
        .map(
          ([x, y, op]): Bool =>
            pair(
              (s) => x.cel(s)[op](y.cel(s)),
              (v) => {
                const [a, b] = [x.js(v), y.js(v)];
                if (op === 'equals') return a === b;
                if (op === 'notEquals') return a !== b;
                if (a === undefined || b === undefined) return false;
                return op === 'startsWith' ? a.startsWith(b) : op === 'endsWith' ? a.endsWith(b) : a.includes(b);
              },
            ),
        ),
      fc.tuple(tie('text'), fc.array(word, { maxLength: 3 })).map(
        ([t, list]): Bool =>
          pair(
            (s) => t.cel(s).in(list),
            (v) => t.js(v) !== undefined && list.includes(t.js(v) as string),
          ),
      ),
      fc.tuple(tie('texts'), word).map(
        ([l, item]): Bool =>
          pair(
            (s) => l.cel(s).includes(item),
            (v) => l.js(v)?.includes(item) ?? false,
          ),
      ),
      fc.tuple(tie('texts'), tie('bool'), fc.constantFrom('all' as const, 'exists' as const, 'existsOne' as const)).map(
        ([l, b, op]): Bool =>
          pair(
            (s) => l.cel(s)[op]((text) => b.cel({ ...s, text })),
            (v) => {
              const count = (l.js(v) ?? []).filter((text) => b.js({ ...v, text }) === true).length;
              return op === 'all' ? count === (l.js(v) ?? []).length : op === 'exists' ? count > 0 : count === 1;
            },
          ),
      ),
      fc.tuple(tie('bool'), fc.boolean()).map(
        ([b, isAll]): Bool =>
          pair(
            (s) =>
              isAll
                ? s.spec.parts.all((part) => b.cel({ ...s, part }))
                : s.spec.parts.exists((part) => b.cel({ ...s, part })),
            (v) => {
              const parts = v.spec.parts ?? [];
              const is = (part: (typeof parts)[number]) => b.js({ ...v, part }) === true;
              return isAll ? parts.every(is) : parts.some(is);
            },
          ),
      ),
      tie('bool').map(
        (b): Bool =>
          pair(
            (s) => s.spec.labels.all((key, text) => key.notEquals('b').and(b.cel({ ...s, text }))),
            (v) =>
              Object.entries(v.spec.labels ?? {}).every(([key, text]) => key !== 'b' && b.js({ ...v, text }) === true),
          ),
      ),
      word.map(
        (key): Bool =>
          pair(
            ({ spec }) => spec.labels.has(key),
            ({ spec }) => Object.hasOwn(spec.labels ?? {}, key),
          ),
      ),
      tie('text').map(
        (t): Bool =>
          pair(
            (s) => t.cel(s).has(),
            (v) => t.js(v) !== undefined,
          ),
      ),
      tie('texts').map(
        (l): Bool =>
          pair(
            (s) => l.cel(s).isEmpty(),
            (v) => (l.js(v) ?? []).length === 0,
          ),
      ),
      fc.tuple(tie('bool'), tie('bool'), fc.nat(3)).map(
        ([x, y, which]): Bool =>
          pair(
            (s) => {
              const [a, b] = [x.cel(s), y.cel(s)];
              return which === 0 ? and(a, b) : which === 1 ? or(a, b) : which === 2 ? a.implies(b) : and(not(a), b);
            },
            (v) => {
              const [a, b] = [x.js(v) === true, y.js(v) === true];
              return which === 0 ? a && b : which === 1 ? a || b : which === 2 ? !a || b : !a && b;
            },
          ),
      ),
    ),
  };
});

const maybe = <T>(of: fc.Arbitrary<T>) => fc.option(of, { nil: undefined });
const spec: fc.Arbitrary<FuzzSpec> = fc
  .record({
    count: small,
    limit: maybe(small),
    ratio: maybe(fc.constantFrom(0, 0.5, 1, 1.5, 2)),
    title: word,
    zone: maybe(word),
    on: maybe(fc.boolean()),
    names: maybe(fc.array(word, { maxLength: 4 })),
    sizes: fc.array(small, { maxLength: 4 }),
    labels: maybe(fc.dictionary(word, word, { maxKeys: 3, noNullPrototype: true })),
    parts: maybe(fc.array(fc.record({ name: word, size: maybe(small) }), { maxLength: 3 })),
    'dashed-name': maybe(word),
    in: maybe(fc.record({ namespace: maybe(word) })),
  })
  .map((made) => JSON.parse(JSON.stringify(made)) as FuzzSpec);

test('random expressions have the types of the server, and decide as JavaScript does', {
  timeout: 60_000,
}, async () => {
  const engine = await loadPolicyEngine('fuzz');
  await fc.assert(
    fc.asyncProperty(
      fc.array(bool, { minLength: 1, maxLength: 4 }),
      fc.array(spec, { minLength: 1, maxLength: 4 }),
      async (tests, specs) => {
        let made = policy(Thing, { name: 'fuzz' });
        for (const [index, one] of tests.entries()) {
          made = made.require(({ object }) => one.cel({ spec: object.spec as unknown as SpecCel }), {
            message: String(index),
          });
        }
        const [object] = made.objects;
        const reports = await engine.checkPolicy(object as object, { definitions: [Thing.crd()] });
        expect(reports.filter(({ problem }) => problem !== undefined)).toEqual([]);
        for (const of of specs) {
          const thing = Thing({ metadata: { namespace: 'x', name: 'y' }, spec: of as Spec });
          const failed = (await made.check(thing)).map(({ message }) => message);
          const expected = tests.flatMap((one, index) => (one.js({ spec: of }) === true ? [] : [String(index)]));
          expect(failed).toEqual(expected);
        }
      },
    ),
    { numRuns: 150 },
  );
});
