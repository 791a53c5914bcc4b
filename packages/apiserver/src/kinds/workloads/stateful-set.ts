import { equal, type JsonObject } from 'riata/object';
import { metaOf, numberOf, recordOf, recordsOf, textOf, valueAt } from '../../resource/metadata.js';
import { dnsLabel, dnsLabelName } from '../../schema/name-rules.js';
import { type FieldError, forbidden, invalid, notSupported } from '../../status/field-error.js';
import { checkNonNegative, checkText } from '../checks/basic-checks.js';
import { computed, prefixed } from '../defaults-table.js';
import type { KindRules } from '../kind-rules.js';
import { withoutDisabledIn } from '../pods/disabled-fields.js';
import { claimSpecDefaults } from '../pods/pod-defaults.js';
import { templateDefaults } from '../pods/pod-template.js';
import { templateWarnings } from '../pods/pod-warnings.js';
import { checkClaimSpec } from '../storage/persistent-volume-claim.js';
import { checkCollisions, checkCounts, checkReplicaStatus, checkSelectorAndTemplate } from './replica-checks.js';

export const statefulSetRules: KindRules = {
  defaults: {
    'spec.podManagementPolicy': 'OrderedReady',
    'spec.updateStrategy.rollingUpdate': ({ type }) => (type === undefined ? {} : undefined),
    'spec.updateStrategy.type': 'RollingUpdate',
    'spec.updateStrategy.rollingUpdate.partition': (_, set) =>
      (valueAt(set, 'spec.updateStrategy.type') ?? 'RollingUpdate') === 'RollingUpdate' ? 0 : undefined,
    'spec.persistentVolumeClaimRetentionPolicy': {},
    'spec.persistentVolumeClaimRetentionPolicy.whenDeleted': 'Retain',
    'spec.persistentVolumeClaimRetentionPolicy.whenScaled': 'Retain',
    'spec.replicas': 1,
    'spec.revisionHistoryLimit': 10,
    'spec.volumeClaimTemplates[].kind': computed(() => 'PersistentVolumeClaim'),
    'spec.volumeClaimTemplates[].apiVersion': computed(() => 'v1'),
    'spec.volumeClaimTemplates[].status.phase': 'Pending',
    ...prefixed('spec.volumeClaimTemplates[].spec', claimSpecDefaults),
    ...templateDefaults('spec.template'),
  },
  nameRule: dnsLabelName,
  validate: (set, before) => checkSpec(recordOf(set.spec), before === undefined),
  validateUpdate: ({ spec }, before) => checkUpdate(recordOf(spec), recordOf(before.spec)),
  validateStatus: ({ status }, before) => [
    ...checkCounts(recordOf(status), ['replicas', ...counts, 'observedGeneration', 'collisionCount'], 'status'),
    ...checkReplicaStatus(recordOf(status), counts, 'status.readyReplicas'),
    ...checkCollisions(recordOf(status), recordOf(before.status)),
  ],
  warnings: (set, before) => [
    ...templateWarnings(set, before, 'spec.template'),
    ...(numberOf(recordOf(set.spec).revisionHistoryLimit) < 0
      ? ['spec.revisionHistoryLimit: a negative value retains all historical revisions; a value >= 0 is recommended']
      : []),
  ],
  prepare: (given, before) => {
    const set = withoutDisabledIn(given, ['spec', 'template']);
    return maxUnavailable(before) === undefined && maxUnavailable(set) !== undefined ? unbounded(set) : set;
  },
};

const maxUnavailable = (set: JsonObject | undefined) =>
  valueAt(set, 'spec.updateStrategy.rollingUpdate.maxUnavailable');

/** `maxUnavailable` is a feature that is off: the field is dropped. */
function unbounded(set: JsonObject): JsonObject {
  const spec = recordOf(set.spec);
  const strategy = recordOf(spec.updateStrategy);
  const { maxUnavailable: _, ...rollingUpdate } = recordOf(strategy.rollingUpdate);
  return { ...set, spec: { ...spec, updateStrategy: { ...strategy, rollingUpdate } } };
}

const counts = ['readyReplicas', 'currentReplicas', 'updatedReplicas', 'availableReplicas'];

function checkSpec(spec: JsonObject, isNew: boolean): FieldError[] {
  const { podManagementPolicy: policy, persistentVolumeClaimRetentionPolicy: retention, serviceName } = spec;
  const errors: FieldError[] = [];
  if (policy !== 'OrderedReady' && policy !== 'Parallel') {
    errors.push(invalid('spec.podManagementPolicy', policy, "must be 'OrderedReady' or 'Parallel'"));
  }
  const policies = ['Retain', 'Delete'];
  for (const when of ['whenDeleted', 'whenScaled']) {
    const value = recordOf(retention)[when];
    if (policies.includes(textOf(value))) continue;
    errors.push(notSupported(`spec.persistentVolumeClaimRetentionPolicy.${when}`, value, policies));
  }
  return [
    ...errors,
    ...checkStrategy(recordOf(spec.updateStrategy), 'spec.updateStrategy'),
    ...(isNew
      ? recordsOf(spec.volumeClaimTemplates).flatMap((claim, i) =>
          checkClaimSpec(recordOf(claim.spec), `spec.volumeClaimTemplates[${i}].spec`),
        )
      : []),
    ...checkCounts(spec, ['replicas', 'minReadySeconds'], 'spec'),
    ...checkNonNegative(recordOf(spec.ordinals).start, 'spec.ordinals.start'),
    ...(isNew && textOf(serviceName) !== '' ? checkText(dnsLabel, textOf(serviceName), 'spec.serviceName') : []),
    ...checkSelectorAndTemplate(
      { ...spec, template: templateToCheck(spec) },
      { empty: 'statefulset', deadline: 'StatefulSet', unreadable: '' },
    ),
  ];
}

/** The template with what each Pod is given: its name, and its own volumes. */
function templateToCheck(spec: JsonObject): JsonObject {
  const template = recordOf(spec.template);
  const { hostname: _, subdomain: __, ...pod } = recordOf(template.spec);
  const claims = recordsOf(spec.volumeClaimTemplates).map((claim) => textOf(metaOf(claim).name));
  const own = claims.map((name) => ({ name, persistentVolumeClaim: { claimName: name } }));
  const others = recordsOf(pod.volumes).filter(({ name }) => !claims.includes(textOf(name)));
  const volumes = [...new Map(own.map((volume) => [volume.name, volume])).values(), ...others];
  return { ...template, spec: claims.length === 0 ? pod : { ...pod, volumes } };
}

function checkStrategy(strategy: JsonObject, path: string): FieldError[] {
  const { type, rollingUpdate } = strategy;
  const { partition, maxUnavailable } = recordOf(rollingUpdate);
  const shown =
    rollingUpdate === undefined ? null : { Partition: partition ?? 0, MaxUnavailable: maxUnavailable ?? null };
  if (type === 'OnDelete') {
    if (shown === null) return [];
    return [invalid(`${path}.rollingUpdate`, shown, "only allowed for updateStrategy 'RollingUpdate'")];
  }
  if (type !== 'RollingUpdate') {
    const value = { Type: type ?? '', RollingUpdate: shown };
    return [invalid(path, value, "must be 'RollingUpdate' or 'OnDelete'")];
  }
  return checkNonNegative(partition, `${path}.rollingUpdate.partition`);
}

const changeable = [
  'replicas',
  'template',
  'updateStrategy',
  'minReadySeconds',
  'ordinals',
  'revisionHistoryLimit',
  'persistentVolumeClaimRetentionPolicy',
];

function checkUpdate(spec: JsonObject, before: JsonObject): FieldError[] {
  const fixed = (of: JsonObject) =>
    Object.fromEntries(Object.entries(of).filter(([name]) => !changeable.includes(name)));
  if (equal(fixed(spec), fixed(before))) return [];
  const names =
    "'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds'";
  return [forbidden('spec', `updates to statefulset spec for fields other than ${names} are forbidden`)];
}
