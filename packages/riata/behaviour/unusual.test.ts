import { createClient, impersonating } from 'riata/client';
import { ClusterRole, ConfigMap, Pod } from 'riata/kinds';
import { SelfSubjectReview } from 'riata/kinds/authentication.k8s.io/v1';
import { collectedWarnings, isInvalid, isNotFound, isRequestEntityTooLarge, isRequestTimeout } from 'riata/rest';
import { expect, test } from 'vitest';
import { describeServers, realOnly, rejection, testOn, uniqueName } from './servers.js';

describeServers('unusual things', (server) => {
  test('names with characters that a URL has to escape', async () => {
    const { client } = server();
    for (const odd of [':node', 'a b', 'a:b@c', 'a+b&c=d', 'a?b#c', 'ä€😀', "a'b;c,d"]) {
      const name = `${uniqueName('r-')}${odd}`;
      const made = await client.create(ClusterRole({ metadata: { name }, rules: [] }));
      expect(made.metadata.name).toBe(name);
      expect(await client.get(ClusterRole, { name })).toEqual(made);
      const { items } = await client.list(ClusterRole, { fieldSelector: { 'metadata.name': name } });
      expect(items).toEqual([made]);
      await client.patch(ClusterRole, { name }, { type: 'merge', body: { metadata: { labels: { a: 'b' } } } });
      await client.delete(ClusterRole, { name });
      expect(await client.find(ClusterRole, { name })).toBeUndefined();
    }
  });

  test('text beyond ASCII: in objects and in warnings', async () => {
    const namespace = await server().namespace();
    const warningHandler = collectedWarnings();
    await using client = createClient(server().config, { warningHandler });
    const data = { text: 'ä€😀\u0000\u2028\ufeff\\"\n' };
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data }));
    expect(made.data).toEqual(data);
    expect((await client.list(ConfigMap, { namespace })).items[0]?.data).toEqual(data);
    const containers = [{ name: 'a', image: 'a:1', 'ö€ "q"': 1 } as { name: string; image: string }];
    await client.create(Pod({ metadata: { namespace, name: 'b' }, spec: { containers } }));
    expect(warningHandler.warnings.map((warning) => warning.text)).toEqual([
      'unknown field "spec.containers[0].ö€ \\"q\\""',
    ]);
  });

  test('text beyond ASCII: in the name of a user', async () => {
    const user = 'jänê@exämple.org';
    const who = await impersonating(server().client, { user, groups: ['entwickler-ü'] }).create(
      SelfSubjectReview({ metadata: {} }),
    );
    expect(who.status?.userInfo?.username).toBe(user);
  });

  test('an object close to the largest comes whole through get, list and watch', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const { resourceVersion } = (await client.list(ConfigMap, { namespace })).metadata;
    await using watch = await client.watch(ConfigMap, { namespace, resourceVersion });
    const data = { a: 'ä'.repeat(500_000) };
    const made = await client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data }));
    expect(made.data).toEqual(data);
    expect((await client.get(ConfigMap, made.metadata)).data).toEqual(data);
    expect((await client.list(ConfigMap, { namespace })).items).toEqual([made]);
    for await (const event of watch) {
      if (event.type === 'BOOKMARK') continue;
      expect(event).toEqual({ type: 'ADDED', object: made });
      break;
    }
  });

  test('an object that is too large is refused by the kind, or by the server', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const sized = (mb: number) =>
      client.create(ConfigMap({ metadata: { namespace, name: 'a' }, data: { a: 'x'.repeat(mb * 1024 * 1024) } }));
    await expect(sized(1.5)).rejects.toSatisfy(isInvalid);
    const error = await rejection(sized(4));
    expect(error).toSatisfy(isRequestEntityTooLarge);
    expect(error.message).toMatch(/limit is 3145728/);
  });

  test('many at once: each gets its own answer', async () => {
    const { client } = server();
    const namespace = await server().namespace();
    const names = Array.from({ length: 200 }, (_, i) => `c-${i}`);
    const made = await Promise.all(names.map((name) => client.create(ConfigMap({ metadata: { namespace, name } }))));
    expect(made.map((object) => object.metadata.name)).toEqual(names);
    const read = await Promise.all(names.map((name) => client.get(ConfigMap, { namespace, name })));
    expect(read).toEqual(made);
    const watches = await Promise.all(names.slice(0, 50).map(() => client.watch(ConfigMap, { namespace })));
    expect(await client.get(ConfigMap, { namespace, name: 'c-1' })).toEqual(made[1]);
    for (const watch of watches) watch.stop();
  });

  test('a time limit of our own', async () => {
    const namespace = await server().namespace();
    await using client = createClient(server().config, { timeout: '200ms' });
    // The server waits three seconds for a state that it has not reached.
    const error = await rejection(client.list(ConfigMap, { namespace, resourceVersion: String(2 ** 40) }));
    expect(error).toSatisfy(isRequestTimeout);
  });

  test('paths that no kind stands for', async () => {
    const { client } = server();
    const ready = await client.rest.get().absPath('/readyz').doRaw();
    expect(new TextDecoder().decode(ready)).toBe('ok');
    await expect(client.rest.get().absPath('/nothing').do()).rejects.toSatisfy(isNotFound);
  });

  testOn(realOnly, 'a path whose answer goes on and on', async () => {
    const metrics = await server().client.rest.get().absPath('/metrics').stream();
    expect(metrics.contentType).toMatch(/^text\/plain/);
    metrics.close();
  });
});
