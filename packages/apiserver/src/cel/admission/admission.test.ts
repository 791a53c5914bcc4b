import { describe, expect, test } from 'vitest';
import { boolType } from '../language/cel-type.js';
import { jsonValue, valueToJson } from '../language/json-value.js';
import type { Value } from '../language/value.js';
import { AuthorizerValue, ResourceCheckValue } from '../library/authorization.js';
import { applyConfigurationType, jsonPatchesType } from '../library/patches.js';
import { Activation, OutOfBudget } from './activation.js';
import { AdmissionCompiler, type CompiledExpression } from './admission-compiler.js';

const names = { params: true, authorizer: true, patches: true };
const authorizer = new AuthorizerValue({ username: 'u' }, ({ user, verb, resource, path }) => ({
  allowed: verb === 'get' && (resource === 'pods' || path === '/x'),
  reason: user.username,
}));
const values = new Map<string, Value>([
  ['object', jsonValue({ a: 1, b: 1.5, c: null, list: [1, 'x'], meta: { name: 'n' } })],
  ['oldObject', null],
  ['params', null],
  ['authorizer', authorizer],
  [
    'authorizer.requestResource',
    new ResourceCheckValue(authorizer, { group: '', resource: 'pods', subresource: '', namespace: 'x', name: 'y' }),
  ],
]);

function run(source: string, compiler = new AdmissionCompiler(true), budget = { left: 10_000_000 }): unknown {
  const outcome = new Activation(values, compiler.variables).run(compiler.compile(source, [], names), budget);
  return 'error' in outcome ? outcome.error : valueToJson(outcome.value);
}

describe('expressions of admission', () => {
  test.each<[string, unknown]>([
    ['object.a + 1', 2],
    ['object.b', 1.5],
    ['has(object.c) && !has(object.d)', true],
    ['object.c == null', true],
    ['object.list[1]', 'x'],
    ['object.?d.orValue("none")', 'none'],
    ['object.d', "expression 'object.d' resulted in error: no such key: d"],
    ['oldObject.x', "expression 'oldObject.x' resulted in error: no such key: x"],
    ['authorizer.group("").resource("pods").check("get").allowed()', true],
    ['authorizer.requestResource.check("list").allowed()', false],
    ['authorizer.path("/x").check("get").allowed()', true],
    ['authorizer.serviceAccount("a", "b").path("/x").check("get").reason()', 'system:serviceaccount:a:b'],
    ['authorizer.path(" ").check("get").allowed()', /path must not be empty$/],
    ['authorizer.serviceAccount("A", "b").path("/x").check("get").allowed()', /Invalid service account namespace$/],
    ['Object{spec: Object.spec{n: 1, ?m: object.?d}}', { spec: { n: 1 } }],
    ['[JSONPatch{op: "add", path: "/" + jsonpatch.escapeKey("a/b~c")}]', [{ op: 'add', path: '/a~1b~0c' }]],
  ])('%s', (source, expected) => {
    if (expected instanceof RegExp) expect(run(source)).toMatch(expected);
    else expect(run(source)).toEqual(expected);
  });

  test('an expression has to give what is asked for', () => {
    const problem = (source: string, type = boolType as Parameters<AdmissionCompiler['compile']>[1][number]) => {
      const compiled: CompiledExpression = new AdmissionCompiler(false).compile(source, [type], names);
      return 'problem' in compiled ? compiled.problem : undefined;
    };
    expect(problem('null')).toBe('must evaluate to bool but got null_type');
    expect(problem('true')).toBeUndefined();
    expect(problem('Object.spec{}', applyConfigurationType)).toBe('must evaluate to Object but got Object.spec');
    expect(problem('true ? [JSONPatch{op: "x"}] : []', jsonPatchesType)).toBeUndefined();
    expect(problem('variables.x')).toMatch(/undeclared reference to 'variables'/);
  });
});

describe('variables', () => {
  test('are computed when they are asked for, and once', () => {
    const compiler = new AdmissionCompiler(true);
    compiler.declare('big', '[1, 2, 3].map(x, x * 2)', names);
    compiler.declare('bad', 'object.d', names);
    compiler.declare('worse', 'nothing', names);
    expect(run('true || variables.bad', compiler)).toBe(true);
    expect(run('variables.bad', compiler)).toMatch(/composited variable "bad" fails to evaluate: no such key: d$/);
    expect(run('variables.worse', compiler)).toMatch(
      /composited variable "worse" fails to compile: compilation failed: /,
    );
    const once = { left: 1_000 };
    run('variables.big', compiler, once);
    const twice = { left: 1_000 };
    run('variables.big == variables.big', compiler, twice);
    // The second time it is there already: what is added is to name it and to compare.
    expect(once.left - twice.left).toBeLessThan(10);
  });

  test('and expressions have a budget together', () => {
    const compiler = new AdmissionCompiler(true);
    compiler.declare('big', '[1, 2, 3].map(x, x * 2)', names);
    expect(() => run('variables.big', compiler, { left: 20 })).toThrow(OutOfBudget);
    expect(() => run('true', compiler, { left: 0 })).not.toThrow();
    const checks = Array.from({ length: 3 }, (_, i) => `authorizer.path("/${i}").check("get").allowed()`);
    expect(run(checks.join(' || '))).toMatch(/operation cancelled: actual cost limit exceeded$/);
  });
});
