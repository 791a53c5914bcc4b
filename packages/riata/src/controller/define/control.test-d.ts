import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import { ConfigMap, Deployment, Namespace, Secret } from '../../kinds/index.js';
import { defineKind } from '../../object/define-kind.js';
import type { KindOf, NamespacedMeta } from '../../object/kind.js';
import { handlerFuncs } from '../source/event-handler.js';
import { changed, generationChanged } from '../source/predicate.js';
import { control } from './control.js';
import type { ControllerDefinition } from './controller-definition.js';

const Foo = defineKind({
  group: 'samplecontroller.riata.dev',
  version: 'v1',
  kind: 'Foo',
  spec: z.object({ deploymentName: z.string(), replicas: z.int().default(1), secretName: z.string().optional() }),
  status: z.object({ availableReplicas: z.int() }),
});
interface Foo extends KindOf<typeof Foo> {}

test('a reconciler knows its object, what it applies and what it says', () => {
  const foos = control(Foo, { concurrency: 4, predicates: [generationChanged, changed((foo) => foo.spec.replicas)] })
    .owns(Deployment)
    .watches(Secret, { referencedBy: (foo) => foo.spec.secretName })
    .watches(ConfigMap, (configMap) => [{ namespace: configMap.metadata.namespace, name: 'all' }])
    .watchesMetadata(Namespace, (namespace) => [{ name: namespace.metadata.name }])
    .watches(Secret, {
      handler: ({ old, new: now }, enqueue) => {
        expectTypeOf(old).toEqualTypeOf<KindOf<typeof Secret> | undefined>();
        if (now?.type !== old?.type) enqueue({ name: 'all' }, { after: '1m', priority: 3 });
      },
    })
    .watches(Secret, {
      handler: handlerFuncs({ delete: (secret, enqueue) => enqueue({ name: secret.type ?? 'none' }) }),
    })
    .indexes(Secret, 'type', (secret) => [secret.type ?? ''])
    .reads(ConfigMap)
    .reconcile(async ({ object: foo, apply, status, client, key }) => {
      expectTypeOf(foo.spec.replicas).toEqualTypeOf<number>();
      expectTypeOf(foo.metadata).toEqualTypeOf<NamespacedMeta>();
      const deployment = await apply(
        Deployment({ metadata: { name: foo.spec.deploymentName }, spec: undefined as never }),
      );
      expectTypeOf(deployment).toEqualTypeOf<KindOf<typeof Deployment>>();
      const said = await status({ availableReplicas: 3, conditions: [{ type: 'Available', status: 'True' }] });
      expectTypeOf(said.status?.availableReplicas).toEqualTypeOf<number | undefined>();
      expectTypeOf(await client.get(ConfigMap, { namespace: 'a', name: key.name })).toEqualTypeOf<
        KindOf<typeof ConfigMap>
      >();
      return { requeueAfter: '10m' };
    });
  expectTypeOf(foos).toEqualTypeOf<ControllerDefinition<KindOf<typeof Foo>>>();
});

test('what makes no sense does not compile', () => {
  control(Foo).reconcile(async ({ object, status, apply }) => {
    // @ts-expect-error the kind has no such field
    void object.spec.nothing;
    // @ts-expect-error objects of a cache are read-only
    object.spec.replicas = 3;
    // @ts-expect-error the status has no such field
    await status({ nothing: 1 });
    // @ts-expect-error of another type
    await status({ availableReplicas: 'three' });
    // @ts-expect-error an object that was read is no intent
    await apply(object);
  });
  // @ts-expect-error a result is nothing, requeueAfter or requeue
  control(Foo).reconcile(() => 'later');
  // @ts-expect-error a duration has a unit
  control(Foo).reconcile(() => ({ requeueAfter: '10' }));
  // @ts-expect-error a definition needs a reconciler
  expectTypeOf(control(Foo)).toMatchTypeOf<ControllerDefinition>();
});

test('who is called when the object is gone has to look', () => {
  control(Foo)
    .evenWhenGone()
    .reconcile(({ object }) => {
      expectTypeOf(object).toEqualTypeOf<KindOf<typeof Foo> | undefined>();
    });
});

test('a reconciler may be an object', () => {
  class Foos {
    reconcile({ object }: { readonly object: Foo }): void {
      void object.spec.deploymentName;
    }
  }
  expectTypeOf(control(Foo).reconcile(new Foos())).toMatchTypeOf<ControllerDefinition>();
});
