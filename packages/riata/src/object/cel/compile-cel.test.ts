import { describe, expect, test } from 'vitest';
import type { Deployment, Pod } from '../../kinds/index.js';
import type { KindOf } from '../kind.js';
import { isCelCompileError } from './cel-compile-error.js';
import { and, cel, concat, jsonPatch, listOf, not, or, quantity, when } from './cel-functions.js';
import { nameNode } from './cel-node.js';
import type { CelOf } from './cel-types.js';
import { compileApply, compilePatch, compileTest, compileValue, objectRoot } from './compile-cel.js';

interface Context {
  readonly object: CelOf<KindOf<typeof Deployment>>;
  readonly old: CelOf<KindOf<typeof Deployment> | undefined>;
  readonly pod: CelOf<KindOf<typeof Pod>>;
}
const options = {
  subject: 'test',
  style: 'optional' as const,
  roots: {
    object: objectRoot('object'),
    old: objectRoot('oldObject', { absent: 'null' }),
    pod: objectRoot('pod'),
  },
};
const compiled = (run: (context: Context) => unknown) => compileTest(run, options);
const value = (run: (context: Context) => unknown) => compileValue(run, options);

describe('a function that is compiled', () => {
  test('the images of all containers', () => {
    expect(
      compiled(({ object }) =>
        object.spec.template.spec.containers.all((c) => c.image.startsWith('registry.example.com/')),
      ),
    ).toBe(
      '!object.?spec.?template.?spec.?containers.hasValue() || object.spec.template.spec.containers.all(container, has(container.image) && container.image.startsWith("registry.example.com/"))',
    );
  });

  test.each<[string, (context: Context) => unknown, string]>([
    ['equals', ({ pod }) => pod.metadata.name.equals('a'), 'has(pod.metadata.name) && pod.metadata.name == "a"'],
    [
      'a label',
      ({ pod }) => pod.metadata.labels.get('a/b').equals('x'),
      'pod.metadata.?labels[?"a/b"].hasValue() && pod.metadata.labels["a/b"] == "x"',
    ],
    ['a key', ({ pod }) => pod.metadata.labels.has('a'), 'has(pod.metadata.labels) && "a" in pod.metadata.labels'],
    ['presence', ({ object }) => object.spec.replicas.has(), 'object.?spec.?replicas.hasValue()'],
    [
      'a default',
      ({ object }) => object.spec.replicas.orElse(1).lte(5),
      '(object.?spec.?replicas.hasValue() ? object.spec.replicas : 1) <= 5',
    ],
    [
      'two absent fields',
      ({ object, old }) => object.spec.replicas.equals(old.spec.replicas),
      'object.?spec.?replicas.hasValue() == (oldObject != null && oldObject.?spec.?replicas.hasValue()) && (!object.?spec.?replicas.hasValue() || object.spec.replicas == oldObject.spec.replicas)',
    ],
    [
      'and, or, not',
      ({ object }) => and(not(object.spec.paused), or(object.spec.replicas.gt(1), object.spec.replicas.lt(0))),
      '!(object.?spec.?paused.hasValue() && object.spec.paused) && (object.?spec.?replicas.hasValue() && object.spec.replicas > 1 || object.?spec.?replicas.hasValue() && object.spec.replicas < 0)',
    ],
    [
      'when',
      ({ object }) => when(object.spec.paused, object.spec.replicas.orElse(0), 3).equals(3),
      '(object.?spec.?paused.hasValue() && object.spec.paused ? (object.?spec.?replicas.hasValue() ? object.spec.replicas : 0) : 3) == 3',
    ],
    [
      'in',
      ({ object }) => object.metadata.name.in(['a', 'b']),
      'has(object.metadata.name) && object.metadata.name in ["a", "b"]',
    ],
    [
      'quantities',
      ({ pod }) => pod.spec.containers.all((c) => c.resources.limits.get('memory').asQuantity().lte(quantity('1Gi'))),
      '!pod.?spec.?containers.hasValue() || pod.spec.containers.all(container, container.?resources.?limits[?"memory"].hasValue() && quantity(container.resources.limits["memory"]).compareTo(quantity("1Gi")) <= 0)',
    ],
    [
      'maps',
      ({ pod }) => pod.metadata.labels.all((key, of) => and(key.size().lt(9), of.notEquals(''))),
      '!has(pod.metadata.labels) || pod.metadata.labels.all(label, label.size() < 9 && pod.metadata.labels[label] != "")',
    ],
    ['text of your own', ({ object }) => cel<boolean>`${object.metadata.name} < "b"`, 'object.metadata.name < "b"'],
    [
      'arithmetic',
      ({ object }) => object.metadata.name.size().plus(1).times(2).mod(3).equals(0),
      '((has(object.metadata.name) ? object.metadata.name.size() : 0) + 1) * 2 % 3 == 0',
    ],
    [
      'patterns',
      ({ object }) => object.metadata.name.matches(/^a\d+$/),
      'has(object.metadata.name) && object.metadata.name.matches("^a\\\\d+$")',
    ],
    [
      'formats',
      ({ object }) => object.metadata.name.hasFormat('dns1123Label'),
      'has(object.metadata.name) && !format.dns1123Label().validate(object.metadata.name).hasValue()',
    ],
    [
      'lists',
      ({ object }) => listOf(['a', 'b']).includes(object.metadata.name),
      'has(object.metadata.name) && object.metadata.name in ["a", "b"]',
    ],
  ])('%s', (_, run, expected) => expect(compiled(run)).toBe(expected));

  test('a text, and a list', () => {
    expect(value(({ object }) => concat('name ', object.metadata.name))).toBe('"name " + object.metadata.name');
    expect(value(({ pod }) => pod.spec.containers.map((c) => c.name))).toBe(
      'pod.spec.containers.map(container, container.name)',
    );
  });

  test('fields to apply, and patches', () => {
    const run = ({ object }: Context) => ({
      metadata: { labels: { 'a/b': object.metadata.name } },
      spec: { replicas: 3, template: { spec: { containers: [{ name: 'a', image: 'x' }] } } },
    });
    expect(compileApply(run, options)).toBe(
      'Object{metadata: Object.metadata{labels: {"a/b": object.metadata.name}}, spec: Object.spec{replicas: 3, template: Object.spec.template{spec: Object.spec.template.spec{containers: [Object.spec.template.spec.containers{name: "a", image: "x"}]}}}}',
    );
    const patches = ({ object }: Context) => [
      jsonPatch.add(['metadata', 'labels', 'a/b'], 'x'),
      jsonPatch.remove(['metadata', 'labels', object.metadata.name, 'y']),
    ];
    expect(compilePatch(patches, options)).toBe(
      '[JSONPatch{op: "add", path: "/metadata/labels/a~1b", value: "x"}, JSONPatch{op: "remove", path: "/metadata/labels/" + jsonpatch.escapeKey(object.metadata.name) + "/y"}]',
    );
  });

  test.each<[string, (context: Context) => unknown, RegExp]>([
    ['===', ({ object }) => (object.metadata.name as unknown) === 'a', /returned a plain boolean/],
    [
      '>',
      ({ object }) => (object.spec.replicas as unknown as number) > 3,
      /object.spec.replicas is used with a JavaScript operator.*\.gt/,
    ],
    ['+', ({ object }) => (object.metadata.name as unknown as string) + 'a', /JavaScript operator.*concat/],
    ['a template', ({ object }) => `${object.metadata.name as unknown as string}`, /JavaScript operator.*concat/],
    ['!', ({ object }) => !object.spec.paused, /plain boolean/],
    [
      '&&',
      ({ object }) => object.spec.paused && object.spec.replicas.gt(1),
      /object.spec.paused is not part of the result/,
    ],
    [
      '&& in a loop',
      ({ pod }) => pod.spec.containers.all((c) => c.name.equals('a') && c.image.equals('b')),
      /container.name == "a" is not part/,
    ],
    ['||', ({ object }) => object.spec.paused || object.spec.replicas.gt(1), /has "\|\|".*use or/],
    ['??', ({ object }) => object.spec.replicas ?? 3, /has "\?\?".*orElse/],
    [
      '?:',
      ({ object }) => (object.spec.paused ? object.spec.replicas.gt(1) : object.spec.replicas.gt(2)),
      /paused is not part/,
    ],
    ['for of', ({ pod }) => [...(pod.spec.containers as unknown as string[])], /cannot be iterated/],
    ['in', ({ pod }) => 'a' in pod.metadata.labels, /cannot be searched/],
    ['spread', ({ object }) => ({ ...object.spec }), /cannot be spread/],
    ['a write', ({ object }) => Object.assign(object.spec, { replicas: 3 }), /cannot be changed/],
    [
      'an unknown method',
      ({ object }) => (object.metadata.name as unknown as { toUpperCase(): unknown }).toUpperCase(),
      /toUpperCase is not a function/,
    ],
    ['async', async ({ object }) => object.spec.paused, /must not be async/],
    ['nothing', () => undefined, /returned nothing/],
    ['a Date', ({ object }) => object.metadata.name.equals(new Date(0) as unknown as string), /a Date is not a value/],
    ['flags', ({ object }) => object.metadata.name.matches(/a/i), /takes no flags/],
    ['JSON', ({ object }) => JSON.stringify(object), /toJSON is not a function/],
  ])('%s is refused', (_, run, message) => {
    let thrown: unknown;
    try {
      compiled(run);
    } catch (error) {
      thrown = error;
    }
    expect(isCelCompileError(thrown)).toBe(true);
    expect(String(thrown)).toMatch(message);
    expect(String(thrown)).toMatch(/^CelCompileError: test: /);
  });

  test('|| in texts and patterns is not an operator', () => {
    expect(compiled(({ object }) => object.metadata.name.matches(/a||b/))).toContain('"a||b"');
    expect(compiled(({ object }) => object.metadata.name.equals('a || b ?? c'))).toContain('"a || b ?? c"');
  });

  test('an expression of another function', () => {
    let leaked: unknown;
    compiled(({ object }) => {
      leaked = object.metadata.name;
      return object.metadata.name.equals('a').and((leaked as Context['object']['metadata']['name']).equals('b'));
    });
    expect(() => compiled(({ object }) => object.metadata.name.equals(leaked as string))).toThrow(/another function/);
  });

  test('rules ask with has(…), and an optional oldSelf for its value', () => {
    const schema = {
      type: 'object' as const,
      required: ['max'],
      properties: {
        max: { type: 'integer' as const },
        min: { type: 'integer' as const },
        ratio: { type: 'number' as const },
        names: { type: 'array' as const, items: { type: 'string' as const } },
      },
    };
    const rule = (
      run: (context: {
        self: CelOf<{ max: number; min?: number; ratio?: number; names?: string[] }>;
        oldSelf: CelOf<{ max: number } | undefined>;
      }) => unknown,
    ) =>
      compileTest(run, {
        subject: 'rule',
        style: 'has',
        roots: {
          self: nameNode('self', { schema, trusted: true }),
          oldSelf: nameNode('oldSelf', { schema, absent: 'optional' }),
        },
      });
    expect(rule(({ self }) => self.max.gte(self.min))).toBe('has(self.min) && self.max >= self.min');
    expect(rule(({ self, oldSelf }) => self.max.equals(oldSelf.max))).toBe(
      'oldSelf.hasValue() && has(oldSelf.value().max) && self.max == oldSelf.value().max',
    );
    expect(rule(({ self }) => self.ratio.lt(2))).toBe('has(self.ratio) && self.ratio < 2.0');
    expect(rule(({ self }) => self.ratio.orElse(0).times(2).lt(2))).toBe(
      '(has(self.ratio) ? self.ratio : 0.0) * 2.0 < 2.0',
    );
    expect(rule(({ self }) => self.names.all((n) => n.size().lt(3)))).toBe(
      '!has(self.names) || self.names.all(name, name.size() < 3)',
    );
  });
});
