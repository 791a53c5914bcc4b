import { expectRoundTrips, TestEnvironment } from '@riata/testing';
import { ApiError, isNotFound } from 'riata';
import { Deployment } from 'riata/kinds';
import { expect, test } from 'vitest';
import { keep, ownRegistry, siteRules, sites, siteVersions } from './main.js';
import { Site } from './site.js';

const image = { name: 'registry.example.com/shop', tag: '1' };

/** With the kind and all of its guards: in this process; on the real server over HTTPS in `npm run test:real`. */
async function start() {
  const env = await TestEnvironment.start({ kinds: [Site] });
  await env.startManager({ run: [sites, siteRules, siteVersions, ownRegistry] });
  const namespace = await env.namespace('guarded-sites');
  return { env, client: env.client, namespace, host: `${namespace}.example.com` };
}

test('Sites get a zone, and keep it', async () => {
  const { env, client, namespace, host } = await start();
  await using _env = env;
  const key = { namespace, name: 'shop' };
  const { spec } = await client.create(Site({ metadata: key, spec: { image, host } }));
  expect(spec).toEqual({ image, host, replicas: 1, zone: 'a' });
  await env.settle();
  expect((await client.get(Deployment, key)).spec.template.metadata?.labels).toEqual({ site: 'shop', zone: 'a' });

  const moved = client.patch(Site, key, { type: 'merge', body: { spec: { zone: 'b' } } });
  await expect(moved).rejects.toThrow(/spec\.zone: Invalid value: "b": is immutable/);
});

test('two Sites cannot have one host', async () => {
  const { env, client, namespace, host } = await start();
  await using _env = env;
  const site = (name: string, spec: object = {}) =>
    Site({ metadata: { namespace, name }, spec: { image, host, ...spec } });
  await client.create(site('first'));
  await env.settle();
  const error = await client.create(site('second')).catch((refused: unknown) => refused);
  expect(error).toBeInstanceOf(ApiError);
  expect((error as ApiError).status).toMatchObject({
    ...{ code: 422, reason: 'Invalid' },
    details: {
      causes: [{ field: 'spec.host', message: expect.stringContaining(`belongs to Site ${namespace}/first`) }],
    },
  });
  await client.create(site('second', { host: `www.${host}` }));
});

test('a Site that is marked is not deleted', async () => {
  const { env, client, namespace, host } = await start();
  await using _env = env;
  const key = { namespace, name: 'shop' };
  await client.create(Site({ metadata: { ...key, annotations: { [keep]: 'true' } }, spec: { image, host } }));
  await expect(client.delete(Site, key)).rejects.toThrow(`remove the annotation ${keep} first`);
  await client.patch(Site, key, { type: 'merge', body: { metadata: { annotations: { [keep]: null } } } });
  await client.delete(Site, key);
  await env.settle();
  await expect(client.get(Site, key)).rejects.toSatisfy(isNotFound);
});

test('v1 reads and writes the same Sites, and keeps the zone that it does not know', async () => {
  const { env, client, namespace, host } = await start();
  await using _env = env;
  const key = { namespace, name: 'shop' };
  const { v1 } = Site.versions;
  // A server converts a moment after its definition says how.
  await env.eventually(() => client.create(v1({ metadata: key, spec: { image: `${image.name}:1`, host } })));
  expect((await client.get(Site, key)).spec).toEqual({ image, host, replicas: 1, zone: 'a' });

  await client.patch(v1, key, { type: 'merge', body: { spec: { image: `${image.name}:2` } } });
  expect((await client.get(Site, key)).spec).toEqual({ image: { ...image, tag: '2' }, host, replicas: 1, zone: 'a' });
});

test('nothing is lost between the versions', () => expectRoundTrips(Site));

test('images come from one registry', async () => {
  const { env, client, namespace, host } = await start();
  await using _env = env;
  const foreign = Site({ metadata: { namespace, name: 'shop' }, spec: { image: { name: 'elsewhere/shop' }, host } });
  const denied = /images must come from registry\.example\.com/;
  // A server enforces a policy a moment after it is written.
  await env.eventually(() => expect(client.create(foreign, { dryRun: true })).rejects.toThrow(denied));
  // Without any server.
  expect(await ownRegistry.check(foreign)).toMatchObject([{ message: expect.stringMatching(denied) }]);
});
