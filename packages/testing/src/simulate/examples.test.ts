import type { KindOf } from 'riata';
import { ConfigMap } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { expect, test } from 'vitest';
import { ownRegistry, siteRules, sites, siteVersions } from '../../../../examples/guarded-sites/main.js';
import { Site } from '../../../../examples/guarded-sites/site.js';
import { cache, SharedSettings, sharedSettings } from '../../../../examples/my-kind/main.js';
import { Foo, foos } from '../../../../examples/sample-controller/main.js';
import { inDefault, Widget, widget } from '../widget.fixture.js';
import { simulate } from './simulate.js';
import type { StoryContext } from './simulate-options.js';

/** Few, to be cheap: all single faults of these take minutes. */
const runs = 6;
const key = { namespace: 'default', name: 'shop' };

test('sample-controller', async () => {
  const report = await simulate({
    ...{ kinds: [Foo], run: [foos], runs },
    story: async ({ client }) => {
      await client.create(Foo({ metadata: key, spec: { deploymentName: 'web', replicas: 1 } }));
      await client.patch(Foo, key, { type: 'merge', body: { spec: { replicas: 2 } } });
      await client.delete(Foo, key);
    },
  });
  expect(report.runs).toBeGreaterThan(runs);
});

test('my-kind', async () => {
  const report = await simulate({
    ...{ kinds: [SharedSettings], run: [sharedSettings], manager: { cache }, runs },
    story: async ({ client }) => {
      await client.create(SharedSettings({ metadata: key, spec: { data: { quiet: '22:00' } } }));
      await client.patch(SharedSettings, key, { type: 'merge', body: { spec: { data: { quiet: '23:00' } } } });
      await client.delete(SharedSettings, key);
    },
  });
  expect(report.runs).toBeGreaterThan(runs);
});

test('guarded-sites, with its webhooks', async () => {
  const report = await simulate({
    ...{ kinds: [Site], run: [sites, siteRules, siteVersions, ownRegistry], runs },
    // Webhook configurations and policies stay when a process ends, as other replicas use them.
    ignore: ({ apiVersion, kind }) =>
      apiVersion.startsWith('admissionregistration') || kind === 'CustomResourceDefinition',
    story: async ({ client }) => {
      const image = { name: 'registry.example.com/shop', tag: '1' };
      await client.create(Site({ metadata: key, spec: { image, host: 'shop.example.com' } }));
      await client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 2 } } });
      await client.delete(Site, key);
    },
  });
  expect(report.runs).toBeGreaterThan(runs);
});

test('shared handlers', async () => {
  const story = async ({ client }: StoryContext) => {
    await client.create(widget('w'));
    await client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 2 } } });
  };
  const report = await simulate({
    ...{ kinds: [Widget], story, runs },
    handlers: (factory, { signal }) => {
      const pages = factory.clients.forKind(ConfigMap);
      const publish = async (_: unknown, changed: KindOf<typeof Widget> | undefined) => {
        if (changed === undefined) return;
        const { name } = changed.metadata;
        const data = { size: String(changed.spec.size) };
        const known = await pages.find(inDefault(name));
        const page = setControllerReference(changed, ConfigMap({ metadata: inDefault(name), data }));
        if (known === undefined) await pages.create(page);
        else if (known.data?.size !== data.size) await pages.update({ ...known, data });
      };
      factory.forKind(Widget).registerHandler('publish', publish, { signal });
    },
  });
  expect([...report.writes.keys()]).toContain('update ConfigMap default/w');
});
