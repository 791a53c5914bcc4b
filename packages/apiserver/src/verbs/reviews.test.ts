import { createClient, makeKind } from 'riata';
import { CustomResourceDefinition, SelfSubjectAccessReview } from 'riata/kinds';
import { expect, test } from 'vitest';
import { ApiServer } from '../api-server.js';

test('a review is answered and not stored; a custom kind of the same name is stored', async () => {
  await using server = await ApiServer.start();
  await using client = createClient(server.config);
  const review = SelfSubjectAccessReview({
    metadata: {},
    spec: { resourceAttributes: { verb: 'get', resource: 'pods' } },
  });
  expect((await client.create(review)).status).toEqual({ allowed: true });

  for (const kind of ['TokenReview', 'Constructor']) {
    const plural = `${kind.toLowerCase()}s`;
    const names = { plural, kind };
    const schema = { openAPIV3Schema: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true } };
    const versions = [{ name: 'v1', served: true, storage: true, schema }];
    const metadata = { name: `${plural}.example.com` };
    await client.create(
      CustomResourceDefinition({ metadata, spec: { group: 'example.com', scope: 'Cluster', names, versions } }),
    );
    await server.idle();
    const Custom = makeKind({ group: 'example.com', version: 'v1', kind, plural, scope: 'Cluster' });
    const made = await client.create(Custom({ metadata: { name: 'a' }, spec: { x: 1 } }));
    expect(made.status).toBeUndefined();
    expect(await client.get(Custom, { name: 'a' })).toEqual(made);
  }
});
