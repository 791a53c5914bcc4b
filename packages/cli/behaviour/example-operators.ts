import type { ManagerOptions } from 'riata';
import type { Addable, Manager } from 'riata/manager';
import { Controllers, type PolicyRule } from 'riata/patterns';
import { createLogger } from 'riata/runtime';
import { SharedControllerFactory } from 'riata/shared';
import { App } from '../../../examples/app-platform/app.js';
import { runApps } from '../../../examples/app-platform/main.js';
import { watchConfigMaps } from '../../../examples/configmap-watch/main.js';
import { restartFrontends } from '../../../examples/frontend-restarter/main.js';
import { ownRegistry, siteRules, sites, siteVersions } from '../../../examples/guarded-sites/main.js';
import { cache, sharedSettings } from '../../../examples/my-kind/main.js';
import { logPods } from '../../../examples/pod-logger/main.js';
import { foos } from '../../../examples/sample-controller/main.js';
import { pilots } from '../../../examples/sharded-fleet/main.js';
import {
  type OperatorConfig,
  type OperatorDefinition,
  type OperatorOptions,
  operator,
} from '../src/config/operator.js';

/** Runs a function for as long as the manager does. */
function runs(name: string, run: (manager: Manager, signal: AbortSignal) => Promise<void>): Addable {
  return {
    addTo: (manager) => manager.add({ name, run: ({ signal }) => run(manager, signal) }),
  } as Addable;
}

const all = ['create', 'delete', 'get', 'list', 'patch', 'update', 'watch'];
const times = { leaseDuration: '5s', renewDeadline: '3s', retryPeriod: '500ms' } as const;
const reading = ['get', 'list', 'watch'];
const rule = (group: string, resources: string[], verbs: string[]): PolicyRule => ({
  ...{ apiGroups: [group], resources, verbs },
});

interface Example extends Pick<OperatorOptions, 'kinds' | 'rights'> {
  readonly definitions: readonly OperatorDefinition[];
  /** Of the manager, in a namespace. */
  readonly options?: (namespace: string) => ManagerOptions;
}

const apps = runs('apps', async (manager, signal) => {
  const controllers = new Controllers(SharedControllerFactory.fromManager(manager));
  runApps(controllers, { signal });
  await controllers.run({ signal });
});

const frontends = runs('frontends', async (manager, signal) => {
  const factory = SharedControllerFactory.fromManager(manager);
  restartFrontends(factory, { namespace: 'default', name: 'frontend' }, { signal });
  await factory.run({ signal });
});

/** What examples that only read have seen, as `Kind name`. */
export const observed = new Set<string>();

const podLog = createLogger((_level, _message, { pod }) => {
  if (typeof pod === 'string') observed.add(`Pod ${pod.split('/').at(-1)}`);
}, 'info');
const podLogs = runs('pods', (manager, signal) => logPods(manager.connection, { log: podLog, signal }));
const seeChange = (line: string) => void observed.add(`ConfigMap ${line.split(' ')[1]}`);
const changes = runs('changes', (manager, signal) =>
  watchConfigMaps(manager.connection, seeChange, { namespace: 'default', signal }),
);

/** What the examples run, and what their code does beyond definitions. */
const examples = {
  'app-platform': {
    definitions: [apps],
    kinds: [App],
    rights: [
      rule(App.group, ['apps'], [...reading, 'patch', 'update']),
      rule(App.group, ['apps/status'], ['get', 'patch', 'update']),
      rule(App.group, ['apps/finalizers'], ['update']),
      rule('', ['configmaps', 'services'], all),
      rule('apps', ['deployments'], all),
      rule('autoscaling', ['horizontalpodautoscalers'], all),
    ],
  },
  'configmap-watch': { definitions: [changes], rights: [rule('', ['configmaps'], reading)] },
  'frontend-restarter': {
    definitions: [frontends],
    rights: [rule('', ['configmaps'], [...reading, 'patch']), rule('', ['pods'], [...reading, 'delete'])],
  },
  'guarded-sites': {
    definitions: [sites, siteRules, siteVersions, ownRegistry],
    options: (namespace) => ({
      leaderElection: { namespace, name: 'guarded-sites' },
      health: { port: 8081 },
      metrics: { port: 8080, protected: true },
      webhooks: { name: 'guarded-sites', namespace },
    }),
  },
  'my-kind': { definitions: [sharedSettings], options: () => ({ cache }), rights: [rule('', ['configmaps'], all)] },
  'pod-logger': {
    definitions: [podLogs],
    options: () => ({ health: { port: 8081 } }),
    rights: [rule('', ['pods'], reading)],
  },
  'sample-controller': {
    definitions: [foos],
    options: (namespace) => ({
      leaderElection: { namespace, name: 'sample-controller' },
      metrics: { port: 8080 },
    }),
  },
  'sharded-fleet': {
    definitions: [pilots('ship')],
    options: (namespace) => ({ sharding: { namespace, name: 'fleet', ...times }, health: { port: 8081 } }),
  },
} satisfies Record<string, Example>;

/** The name of an example that runs in a cluster for as long as it is there. */
export type ExampleName = keyof typeof examples;

export const exampleNames = Object.keys(examples) as ExampleName[];

/** An example as an operator in a namespace. */
export function exampleOperator(name: ExampleName, namespace: string = name): OperatorConfig {
  const { definitions, options = () => ({}), kinds, rights }: Example = examples[name];
  return operator({
    ...{ name, namespace, version: '1.0.0', image: `registry.example.com/${name}` },
    run: async () => ({ definitions, options: options(namespace) }),
    ...(kinds && { kinds }),
    ...(rights && { rights }),
  });
}
