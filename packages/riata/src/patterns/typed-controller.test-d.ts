import { expectTypeOf, test } from 'vitest';
import type { Client } from '../client/interfaces.js';
import { ConfigMap, Deployment, Namespace, Pod, Service } from '../kinds/index.js';
import { defineKind } from '../object/define-kind.js';
import type { Controllers } from './controllers.js';
import { Apply } from './desired-set/apply.js';
import { registerGeneratingHandler } from './generating/generating-handler.js';
import { relatedResource } from './related-resource.js';
import { registerStatusHandler } from './status/status-handler.js';
import { Trigger } from './trigger.js';
import type { TypedController } from './typed-controller.js';

declare const controllers: Controllers;
declare const client: Client;

const Gadget = defineKind({
  ...{ group: 'example.com', version: 'v1', kind: 'Gadget' },
  spec: { type: 'object', properties: { size: { type: 'integer' } } } as const,
  status: { type: 'object', properties: { count: { type: 'integer' } } } as const,
});

test('a controller has the types of its kind, and requires a namespace where the kind has one', () => {
  const pods = controllers.for(Pod);
  expectTypeOf(pods).toEqualTypeOf<TypedController<Pod, 'Namespaced'>>();
  expectTypeOf(pods.get({ namespace: 'shop', name: 'a' })).resolves.toEqualTypeOf<Pod>();
  expectTypeOf(pods.cache.find({ namespace: 'shop', name: 'a' })).resolves.toEqualTypeOf<Pod | undefined>();
  expectTypeOf(pods.cache.getByIndex('by-node', 'a')).resolves.toEqualTypeOf<readonly Pod[]>();
  // @ts-expect-error no namespace
  void pods.get({ name: 'a' });
  // @ts-expect-error no namespace
  void pods.cache.get({ name: 'a' });
  void controllers.for(Namespace).get({ name: 'a' });
  // @ts-expect-error a namespace has none
  void controllers.for(Namespace).get({ namespace: 'shop', name: 'a' });
});

test('handlers see and give objects of the kind; that of onRemove is never gone', () => {
  const pods = controllers.for(Pod);
  pods.onChange('one', (_, pod) => {
    expectTypeOf(pod).toEqualTypeOf<Pod | undefined>();
    return pod;
  });
  pods.onRemove('two', (_, pod) => {
    expectTypeOf(pod).toEqualTypeOf<Pod>();
  });
  // @ts-expect-error another kind
  pods.onRemove('three', () => ({}) as ConfigMap);
  new Trigger(pods).onTrigger('four', ({ signal }) => expectTypeOf(signal).toEqualTypeOf<AbortSignal>());
});

test('status and generating handlers see the status of the kind', () => {
  const gadgets = controllers.for(Gadget);
  registerStatusHandler(gadgets, { name: 'count' }, (gadget, status) => {
    expectTypeOf(gadget.spec?.size).toEqualTypeOf<number | undefined>();
    expectTypeOf(status.count).toEqualTypeOf<number | undefined>();
    return { ...status, count: 1 };
  });
  // @ts-expect-error the count is a number
  registerStatusHandler(gadgets, { name: 'count' }, (_, status) => ({ ...status, count: 'one' }));
  const made = ConfigMap({ metadata: { name: 'a' } });
  registerGeneratingHandler(gadgets, new Apply(client), { name: 'maps' }, (_, status) => ({ objects: [made], status }));
  // @ts-expect-error an object of no kind
  registerGeneratingHandler(gadgets, new Apply(client), { name: 'maps' }, () => ({ objects: [{ metadata: {} }] }));
});

test('a resolver sees objects of the kind that is watched, or of any', () => {
  const pods = controllers.for(Pod);
  const deployments = controllers.for(Deployment);
  const nodeOf = (_: string, __: string, pod: Pod | undefined) => [{ name: pod?.spec?.nodeName ?? '' }];
  relatedResource.watch('node', nodeOf, pods, [pods]);
  const several = [deployments, controllers.for(Service), pods.shared];
  relatedResource.watch('owners', relatedResource.ownerResolver(Gadget), controllers.for(Gadget), several);
  // @ts-expect-error a resolver for Pods cannot take Deployments
  relatedResource.watch('node', nodeOf, pods, [deployments]);
});
