import { fromSchema } from '@riata/testing';
import type { KindOf } from 'riata';
import { ConfigMap, Pod } from 'riata/kinds';
import { setControllerReference } from 'riata/object';
import { Controllers } from 'riata/patterns';
import { App } from '../../../examples/app-platform/app.js';
import { runApps } from '../../../examples/app-platform/main.js';
import { restartFrontends } from '../../../examples/frontend-restarter/main.js';
import { ownRegistry, siteRules, sites, siteVersions } from '../../../examples/guarded-sites/main.js';
import { Site } from '../../../examples/guarded-sites/site.js';
import { cache, SharedSettings, sharedSettings } from '../../../examples/my-kind/main.js';
import { Foo, foos } from '../../../examples/sample-controller/main.js';
import { pilots, Ship } from '../../../examples/sharded-fleet/main.js';
import { inDefault, Widget, widget } from '../src/widget.fixture.js';
import type { NamedSimulation } from './named-simulation.js';

const key = { namespace: 'default', name: 'shop' };

/** Examples that write something. `configmap-watch`, `pod-logger` and `tour` only print, and `demo` runs two of these. */
export const exampleSimulations: readonly NamedSimulation[] = [
  {
    name: 'sample-controller',
    options: {
      ...{ kinds: [Foo], run: [foos], changes: fromSchema(Foo) },
      story: async ({ client }) => {
        await client.create(Foo({ metadata: key, spec: { deploymentName: 'web', replicas: 1 } }));
        await client.patch(Foo, key, { type: 'merge', body: { spec: { replicas: 2 } } });
        await client.delete(Foo, key);
      },
    },
  },
  {
    name: 'my-kind',
    options: {
      ...{ kinds: [SharedSettings], run: [sharedSettings], manager: { cache }, changes: fromSchema(SharedSettings) },
      story: async ({ client }) => {
        await client.create(SharedSettings({ metadata: key, spec: { data: { quiet: '22:00' } } }));
        await client.patch(SharedSettings, key, { type: 'merge', body: { spec: { data: { quiet: '23:00' } } } });
        await client.delete(SharedSettings, key);
      },
    },
  },
  {
    name: 'guarded-sites, with its webhooks',
    options: {
      ...{ kinds: [Site], run: [sites, siteRules, siteVersions, ownRegistry], changes: fromSchema(Site) },
      // Webhook configurations and policies stay when a process ends, as other replicas use them.
      ignore: ({ apiVersion, kind }) =>
        apiVersion.startsWith('admissionregistration') || kind === 'CustomResourceDefinition',
      story: async ({ client }) => {
        const image = { name: 'registry.example.com/shop', tag: '1' };
        await client.create(Site({ metadata: key, spec: { image, host: 'shop.example.com' } }));
        await client.patch(Site, key, { type: 'merge', body: { spec: { replicas: 2 } } });
        await client.delete(Site, key);
      },
    },
  },
  {
    name: 'app-platform: typed controllers and desired sets',
    options: {
      kinds: [App],
      handlers: (factory, { signal }) => runApps(new Controllers(factory), { signal }),
      story: async ({ client }) => {
        await client.create(App({ metadata: key, spec: { image: 'shop:1', replicas: 2, settings: { A: 'B' } } }));
        await client.patch(App, key, { type: 'merge', body: { spec: { maxReplicas: 5 } } });
        await client.delete(App, key);
      },
    },
  },
  {
    name: 'frontend-restarter: a shared handler',
    options: {
      handlers: (factory, { signal }) => restartFrontends(factory, key, { signal }),
      // It annotates a ConfigMap of others.
      story: async ({ client }) => {
        const spec = { containers: [{ name: 'web', image: 'web:1' }] };
        await client.create(ConfigMap({ metadata: key, data: { color: 'red' } }));
        await client.create(Pod({ metadata: { ...inDefault('web'), labels: { app: 'frontend' } }, spec }));
        await client.patch(ConfigMap, key, { type: 'merge', body: { data: { color: 'blue' } } });
      },
    },
  },
  {
    name: 'sharded-fleet',
    options: {
      ...{ kinds: [Ship], run: () => [pilots('a pilot')], changes: fromSchema(Ship) },
      manager: { sharding: { namespace: 'default', name: 'fleet' } },
      story: async ({ client }) => {
        await client.create(Ship({ metadata: inDefault('one'), spec: { course: 0 } }));
        await client.create(Ship({ metadata: inDefault('two'), spec: { course: 90 } }));
        await client.patch(Ship, inDefault('one'), { type: 'merge', body: { spec: { course: 180 } } });
      },
    },
  },
  {
    name: 'shared handlers',
    options: {
      kinds: [Widget],
      story: async ({ client }) => {
        await client.create(widget('w'));
        await client.patch(Widget, inDefault('w'), { type: 'merge', body: { spec: { size: 2 } } });
      },
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
    },
  },
];
