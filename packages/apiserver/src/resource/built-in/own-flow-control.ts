import { freeze, type JsonObject } from 'riata/object';
import type { OwnObject } from './own-objects.js';

const set = {};
const manager = 'api-priority-and-fairness-config-producer-v1';
const annotations = { 'apf.kubernetes.io/autoupdate-spec': 'true' };
const ofMetadata = { 'f:annotations': { '.': set, 'f:apf.kubernetes.io/autoupdate-spec': set } };

/** Concurrency shares, lendable percentage and, for levels that queue requests, queues, hand size and queue length. */
const limits: Readonly<Record<string, readonly [number, number, (readonly [number, number, number])?]>> = {
  system: [30, 33, [64, 6, 50]],
  'node-high': [40, 25, [64, 6, 50]],
  'leader-election': [10, 0, [16, 4, 50]],
  'workload-high': [40, 50, [128, 6, 50]],
  'workload-low': [100, 90, [128, 6, 50]],
  'global-default': [20, 50, [128, 6, 50]],
  'catch-all': [5, 0],
};

/** The priority levels. Created once: every server of the process stores the same frozen parts. */
export const ownPriorityLevels: readonly OwnObject[] = freeze(priorityLevels());

function priorityLevels(): readonly OwnObject[] {
  const one = (name: string, spec: JsonObject, ofSpec: JsonObject) => ({
    object: { metadata: { name, generation: 1, annotations }, spec, status: {} },
    manager,
    fieldsV1: { 'f:metadata': ofMetadata, 'f:spec': { ...ofSpec, 'f:type': set } },
  });
  const exempt = { nominalConcurrencyShares: 0, lendablePercent: 0 };
  const ofExempt = { '.': set, 'f:lendablePercent': set, 'f:nominalConcurrencyShares': set };
  return [
    ...Object.entries(limits).map(([name, [nominalConcurrencyShares, lendablePercent, queuing]]) => {
      const [queues = 0, handSize = 0, queueLengthLimit = 0] = queuing ?? [];
      const limitResponse =
        queuing === undefined ? { type: 'Reject' } : { type: 'Queue', queuing: { queues, handSize, queueLengthLimit } };
      const ofQueuing = { '.': set, 'f:handSize': set, 'f:queueLengthLimit': set, 'f:queues': set };
      const ofLimited = {
        '.': set,
        'f:lendablePercent': set,
        'f:limitResponse': { '.': set, ...(queuing === undefined ? {} : { 'f:queuing': ofQueuing }), 'f:type': set },
        'f:nominalConcurrencyShares': set,
      };
      const limited = { nominalConcurrencyShares, limitResponse, lendablePercent };
      return one(name, { type: 'Limited', limited }, { 'f:limited': ofLimited });
    }),
    one('exempt', { type: 'Exempt', exempt }, { 'f:exempt': ofExempt }),
  ];
}

const anyResource = { verbs: ['*'], apiGroups: ['*'], resources: ['*'], clusterScope: true, namespaces: ['*'] };
const anyPath = { verbs: ['*'], nonResourceURLs: ['*'] };
const anything = { resourceRules: [anyResource], nonResourceRules: [anyPath] };
const leases = { apiGroups: ['coordination.k8s.io'], resources: ['leases'], namespaces: ['*'] };
const group = (name: string) => ({ kind: 'Group', group: { name } });
const user = (name: string) => ({ kind: 'User', user: { name } });
const everybody = [group('system:unauthenticated'), group('system:authenticated')];
const systemAccounts = { kind: 'ServiceAccount', serviceAccount: { namespace: 'kube-system', name: '*' } };
const controllerManager = user('system:kube-controller-manager');
const scheduler = user('system:kube-scheduler');

interface Flow {
  readonly name: string;
  readonly level: string;
  readonly precedence: number;
  /** How queued requests are divided into flows. @default requests are not queued */
  readonly by?: 'ByUser' | 'ByNamespace';
  readonly subjects: readonly JsonObject[];
  /** @default anything */
  readonly rules?: JsonObject;
}

const flows: readonly Flow[] = [
  { name: 'exempt', level: 'exempt', precedence: 1, subjects: [group('system:masters')] },
  {
    ...{ name: 'probes', level: 'exempt', precedence: 2, subjects: everybody },
    rules: { nonResourceRules: [{ verbs: ['get'], nonResourceURLs: ['/healthz', '/readyz', '/livez'] }] },
  },
  {
    ...{ name: 'system-leader-election', level: 'leader-election', precedence: 100, by: 'ByUser' },
    subjects: [controllerManager, scheduler, systemAccounts],
    rules: { resourceRules: [{ verbs: ['get', 'create', 'update'], ...leases }] },
  },
  {
    ...{ name: 'system-node-high', level: 'node-high', precedence: 400, by: 'ByUser' },
    subjects: [group('system:nodes')],
    rules: {
      resourceRules: [
        { ...anyResource, apiGroups: [''], resources: ['nodes', 'nodes/status'] },
        { verbs: ['*'], ...leases },
      ],
    },
  },
  { name: 'system-nodes', level: 'system', precedence: 500, by: 'ByUser', subjects: [group('system:nodes')] },
  {
    ...{ name: 'kube-controller-manager', level: 'workload-high', precedence: 800, by: 'ByNamespace' },
    subjects: [controllerManager],
  },
  { name: 'kube-scheduler', level: 'workload-high', precedence: 800, by: 'ByNamespace', subjects: [scheduler] },
  {
    ...{ name: 'kube-system-service-accounts', level: 'workload-high', precedence: 900, by: 'ByNamespace' },
    subjects: [systemAccounts],
  },
  {
    ...{ name: 'service-accounts', level: 'workload-low', precedence: 9000, by: 'ByUser' },
    subjects: [group('system:serviceaccounts')],
  },
  { name: 'global-default', level: 'global-default', precedence: 9900, by: 'ByUser', subjects: everybody },
  { name: 'catch-all', level: 'catch-all', precedence: 10_000, by: 'ByUser', subjects: everybody },
];

const ofCondition = {
  '.': set,
  'f:lastTransitionTime': set,
  'f:message': set,
  'f:reason': set,
  'f:status': set,
  'f:type': set,
};

/** The parts of FlowSchemas that all servers of the process share. */
const flowParts = freeze(
  flows.map(({ name, level, precedence, by, subjects, rules = anything }) => ({
    metadata: { name, generation: 1, annotations },
    spec: {
      ...{ priorityLevelConfiguration: { name: level }, matchingPrecedence: precedence },
      ...(by === undefined ? {} : { distinguisherMethod: { type: by } }),
      rules: [{ subjects, ...rules }],
    },
    fieldsV1: {
      'f:metadata': ofMetadata,
      'f:spec': {
        ...(by === undefined ? {} : { 'f:distinguisherMethod': { '.': set, 'f:type': set } }),
        'f:matchingPrecedence': set,
        'f:priorityLevelConfiguration': { 'f:name': set },
        'f:rules': set,
      },
    },
    status: {
      manager: 'api-priority-and-fairness-config-consumer-v1',
      fieldsV1: { 'f:status': { 'f:conditions': { 'k:{"type":"Dangling"}': ofCondition } } },
    },
    message: `This FlowSchema references the PriorityLevelConfiguration object named "${level}" and it exists`,
  })),
);

/** The FlowSchemas, which assign requests to priority levels. */
export function ownFlowSchemas(now: string): readonly OwnObject[] {
  return flowParts.map(({ metadata, spec, fieldsV1, status, message }) => {
    const dangling = { type: 'Dangling', status: 'False', lastTransitionTime: now, reason: 'Found', message };
    return { object: { metadata, spec, status: { conditions: [dangling] } }, manager, fieldsV1, status };
  });
}
