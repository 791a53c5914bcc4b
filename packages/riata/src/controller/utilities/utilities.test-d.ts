import { expectTypeOf, test } from 'vitest';
import { z } from 'zod';
import type { Cache } from '../../cache/cache.js';
import type { Client } from '../../client/interfaces.js';
import { ConfigMap, Deployment, Node } from '../../kinds/index.js';
import { defineKind } from '../../object/define-kind.js';
import { channelSource } from '../source/channel-source.js';
import { pollerSource } from '../source/poller-source.js';
import { createOrPatch, createOrUpdate } from './create-or-update.js';
import { retryOnConflict } from './retry-on-error.js';
import { waitFor, waitForCondition } from './wait-for.js';

declare const client: Client;
declare const cache: Cache;
const key = { namespace: 'shop', name: 'cart' };
const Cart = defineKind({
  ...{ group: 'shop.example.com', version: 'v1', kind: 'Cart' },
  spec: z.object({ size: z.int() }),
  status: z.object({ items: z.int() }),
});

test('a draft may be new: nothing but its metadata is sure to be there', () => {
  void createOrUpdate(client, Cart, key, (draft) => {
    expectTypeOf(draft.spec).toEqualTypeOf<{ size: number } | undefined>();
    expectTypeOf(draft.metadata.name).toEqualTypeOf<string>();
    draft.spec = { size: 3 };
    // @ts-expect-error: it is a number.
    draft.spec.size = '3';
    // @ts-expect-error: a kind stays what it is.
    draft.kind = 'Basket';
  });
  void createOrPatch(client, ConfigMap, key, (draft) => {
    draft.data = { ...draft.data, size: '3' };
  });
});

test('the result has the kind of the object, and the key its namespace', async () => {
  const { object, result } = await createOrUpdate(client, Deployment, key, () => {});
  expectTypeOf(object).toEqualTypeOf<Deployment>();
  expectTypeOf(result).toEqualTypeOf<'unchanged' | 'created' | 'updated' | 'updatedStatus' | 'updatedStatusOnly'>();
  void createOrUpdate(client, Node, { name: 'n' }, () => {});
  // @ts-expect-error: Deployments live in namespaces.
  void createOrUpdate(client, Deployment, { name: 'n' }, () => {});
});

test('waitFor gives what the predicate is sure of', async () => {
  expectTypeOf(await waitFor(client, Deployment, key, (d) => d?.spec?.replicas === 3)).toEqualTypeOf<
    Deployment | undefined
  >();
  expectTypeOf(
    await waitFor(cache, Deployment, key, (d): d is Deployment => d !== undefined),
  ).toEqualTypeOf<Deployment>();
  expectTypeOf(await waitForCondition(cache, Deployment, key, 'Available')).toEqualTypeOf<Deployment>();
});

test('retryOnConflict gives what the function gives', async () => {
  expectTypeOf(await retryOnConflict(() => 3)).toEqualTypeOf<number>();
  expectTypeOf(await retryOnConflict(async () => 'x')).toEqualTypeOf<string>();
});

test('sources want to know how to get from an item to a key', () => {
  const numbers: AsyncIterable<number> = (async function* () {})();
  channelSource(numbers, { map: (n) => [{ name: String(n) }] });
  // @ts-expect-error: a number is no key.
  channelSource(numbers);
  pollerSource({
    poll: async () => [{ arn: 'a' }],
    id: (item) => item.arn,
    keys: (item) => ({ name: item.arn }),
  });
});
