import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { Deployment, Pod, StatefulSet } from '../../kinds/index.js';
import { and, when } from '../../object/cel/cel-functions.js';
import type { CelBool, CelList, CelNumber, CelString } from '../../object/cel/cel-types.js';
import { defineKind } from '../../object/define-kind.js';
import { policy } from './policy.js';

const Limits = defineKind({
  group: 'example.com',
  version: 'v1',
  kind: 'Limit',
  spec: z.object({ max: z.int(), zone: z.enum(['a', 'b']).optional() }),
});
const ofDeployments = policy(Deployment, { name: 'a' });

test('expressions have the types of the kind', () => {
  ofDeployments.require(({ object, old, request }) => {
    expectTypeOf(object.metadata.name).toExtend<CelString>();
    expectTypeOf(object.spec.selector.matchLabels.get('a')).not.toExtend<CelString>();
    expectTypeOf(object.spec.template.spec.containers.map((c) => c.name)).toExtend<
      CelList<string, 'present' | 'absent'>
    >();
    expectTypeOf(request.userInfo.groups.size()).toExtend<CelNumber>();
    expectTypeOf(old.spec.replicas.has()).toEqualTypeOf<CelBool>();
    return object.spec.paused;
  });
});

test('a wrong field, or a wrong value, does not compile', () => {
  // @ts-expect-error there is no such field
  ofDeployments.require(({ object }) => object.spec.replcas.gt(1));
  // @ts-expect-error a number is not compared with a text
  ofDeployments.require(({ object }) => object.spec.replicas.equals('1'));
  // @ts-expect-error a text has no sum
  ofDeployments.require(({ object }) => object.metadata.name.sum());
  // @ts-expect-error a number decides nothing
  ofDeployments.require(({ object }) => object.spec.replicas);
  // @ts-expect-error a plain boolean is not a CEL expression
  ofDeployments.require(() => true);
  // @ts-expect-error neither here
  ofDeployments.require(({ object }) => and(object.spec.paused, true));
  // @ts-expect-error both must have one type
  ofDeployments.require(({ object }) => when(object.spec.paused, 1, 'a').equals(1));
});

test('what may be absent requires a default before it is computed with', () => {
  ofDeployments.require(({ object }) => object.spec.replicas.orElse(1).plus(1).gt(2));
  // @ts-expect-error it may be absent
  ofDeployments.require(({ object }) => object.metadata.name.size().plus(object.spec.replicas).gt(2));
  // @ts-expect-error it may be absent
  ofDeployments.variable('n', ({ object }) => object.spec.replicas);
});

test('variables and params have their types', () => {
  const limited = policy(Deployment, { name: 'a', params: Limits, paramRef: { name: 'x' } });
  limited
    .variable('names', ({ object }) => object.spec.template.spec.containers.map((c) => c.name).orElse([]))
    .variable('max', ({ params }) => params.spec.max)
    .require(({ variables, params }) => {
      expectTypeOf(variables.names).toExtend<CelList<string>>();
      expectTypeOf(variables.max).toExtend<CelNumber>();
      return params.spec.zone.equals('a').and(variables.names.includes('x'));
    });
  // @ts-expect-error there is no such variable
  limited.require(({ variables }) => variables.none.gt(1));
  // @ts-expect-error no such zone
  limited.require(({ params }) => params.spec.zone.equals('c'));
  // @ts-expect-error the policy has no params
  ofDeployments.require(({ params }) => params.spec.max.gt(1));
});

test('the object of a deletion, and the old one of a creation, may be absent', () => {
  policy(Pod, { name: 'a', operations: ['update'] }).variable('x', ({ old }) => {
    expectTypeOf(old.metadata.name).toExtend<CelString>();
    return old.metadata.name;
  });
  policy(Pod, { name: 'a', operations: ['delete'] }).require(({ object, old }) => {
    expectTypeOf(object.metadata.name).not.toExtend<CelString>();
    expectTypeOf(old.metadata.name).toExtend<CelString>();
    return old.metadata.name.equals('a');
  });
  ofDeployments.require(({ object, old }) => {
    expectTypeOf(object.metadata.name).toExtend<CelString>();
    expectTypeOf(old.metadata.name).not.toExtend<CelString>();
    return old.has();
  });
});

test('fields to apply are those of the kind', () => {
  ofDeployments.mutate(({ object }) => ({ spec: { replicas: object.spec.replicas.orElse(1).plus(1) } }));
  ofDeployments.mutate(({ object }) => ({ metadata: { labels: { name: object.metadata.name, a: 'b' } } }));
  // @ts-expect-error there is no such field
  ofDeployments.mutate(() => ({ spec: { replcas: 1 } }));
  // @ts-expect-error it is a number
  ofDeployments.mutate(({ object }) => ({ spec: { replicas: object.metadata.name } }));
});

test('several kinds have their common fields', () => {
  policy([Deployment, StatefulSet], { name: 'a' }).require(({ object }) => object.spec.replicas.lte(3));
  // @ts-expect-error only Deployments can be paused
  policy([Deployment, StatefulSet], { name: 'a' }).require(({ object }) => object.spec.paused);
});
