import { expectTypeOf, test } from 'vitest';
import { ConfigMap, Pod } from '../kinds/index.js';
import type { KindClient } from './kind-client.js';
import type { SharedController } from './shared-controller.js';
import type { SharedControllerFactory } from './shared-controller-factory.js';

declare const factory: SharedControllerFactory;

test('handlers see objects of the kind', () => {
  const maps = factory.forKind(ConfigMap);
  expectTypeOf(maps).toEqualTypeOf<SharedController<ConfigMap>>();
  maps.registerHandler('one', (key, map, ctx) => {
    expectTypeOf(key).toEqualTypeOf<string>();
    expectTypeOf(map).toEqualTypeOf<ConfigMap | undefined>();
    expectTypeOf(ctx.client).toEqualTypeOf<KindClient<ConfigMap>>();
    return map;
  });
  maps.registerHandler('two', async (_, map) => map);
  maps.registerHandler('three', () => {});
});

test('what a handler returns is of the kind', () => {
  const pod = {} as Pod;
  // @ts-expect-error another kind
  factory.forKind(ConfigMap).registerHandler('one', () => pod);
  factory.forKind(Pod).registerHandler('one', () => pod);
});
