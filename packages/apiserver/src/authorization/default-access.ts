import { freeze, type JsonObject } from 'riata/object';
import type { OwnObject } from '../resource/built-in/own-objects.js';
import { metaOf } from '../resource/metadata.js';
import type { SeededObject } from '../resource/object-store.js';
import { aggregatedRules } from './aggregated-rules.js';
import { boundControllers, defaultClusterRoleBindingText, defaultRoleBindingText } from './default-binding-text.js';
import { defaultClusterRoleText, defaultRoleText } from './default-role-text.js';

const set = {};
const apiGroup = 'rbac.authorization.k8s.io';
const aggregateTo = 'rbac.authorization.k8s.io/aggregate-to-';
const annotations = { 'rbac.authorization.kubernetes.io/autoupdate': 'true' };
const bootstrapping = { 'kubernetes.io/bootstrapping': 'rbac-defaults' };
const ofAnnotations = { '.': set, 'f:rbac.authorization.kubernetes.io/autoupdate': set };

// Shared: what many objects have in common is stored once.
const ofRole = { 'f:metadata': ofMetadata(bootstrapping), 'f:rules': set };
const ofEmptyBinding = { 'f:metadata': ofMetadata(bootstrapping), 'f:roleRef': set };
const ofBinding = { ...ofEmptyBinding, 'f:subjects': set };

/** The roles and bindings of a new cluster. Made once: every server of the process stores the same frozen parts. */
export const defaultClusterRoles = freeze(placed(blocks(defaultClusterRoleText), clusterRoleOf));
/** As {@link defaultClusterRoles}, with the rules that kube-controller-manager collects for `admin`, `edit` and `view`. */
export const aggregatedClusterRoles = freeze(withCollectedRules(defaultClusterRoles));
export const defaultRoles = freeze(placed(blocks(defaultRoleText), (block) => roleOf(block)));
export const defaultClusterRoleBindings = freeze(
  placed([...blocks(defaultClusterRoleBindingText), ...boundControllers.map(controllerBinding)], (block) =>
    bindingOf(block, 'ClusterRole'),
  ),
);
export const defaultRoleBindings = freeze(placed(blocks(defaultRoleBindingText), (block) => bindingOf(block, 'Role')));

interface Block {
  /** The words of its first line. */
  readonly head: readonly string[];
  readonly lines: readonly string[];
}

function blocks(text: string): Block[] {
  return text
    .trim()
    .split(/\n(?! )/)
    .map((block) => {
      const [head = '', ...lines] = block.split('\n');
      return { head: head.split(' '), lines: lines.map((line) => line.trim()) };
    });
}

/** The word behind a sign of the head. */
function after({ head }: Block, sign: string): string | undefined {
  const at = head.indexOf(sign);
  return at < 0 ? undefined : head[at + 1];
}

function placed(all: readonly Block[], make: (block: Block) => OwnObject): readonly SeededObject[] {
  return all.map(({ head, lines }) => {
    const [first = '', ...rest] = head;
    const slash = first.indexOf('/');
    return {
      namespace: first.slice(0, Math.max(slash, 0)),
      own: make({ head: [first.slice(slash + 1), ...rest], lines }),
    };
  });
}

function controllerBinding(name: string): Block {
  return { head: [`system:controller:${name}`], lines: [`account kube-system/${name}`] };
}

function clusterRoleOf(block: Block): OwnObject {
  const [label, selected] = [after(block, '>'), after(block, '<')];
  const labels = label === undefined ? bootstrapping : { ...bootstrapping, [`${aggregateTo}${label}`]: 'true' };
  if (selected === undefined) return roleOf(block, labels);
  const clusterRoleSelectors = [{ matchLabels: { [`${aggregateTo}${selected}`]: 'true' } }];
  return {
    object: {
      metadata: { name: block.head[0] ?? '', labels, annotations },
      rules: null,
      aggregationRule: { clusterRoleSelectors },
    },
    fieldsV1: { 'f:aggregationRule': { '.': set, 'f:clusterRoleSelectors': set }, 'f:metadata': ofMetadata(labels) },
  };
}

function roleOf({ head, lines }: Block, labels: JsonObject = bootstrapping): OwnObject {
  return {
    object: { metadata: { name: head[0] ?? '', labels, annotations }, rules: lines.map(ruleOf) },
    fieldsV1: labels === bootstrapping ? ofRole : { 'f:metadata': ofMetadata(labels), 'f:rules': set },
  };
}

function ofMetadata(labels: JsonObject): JsonObject {
  const ofLabels = Object.fromEntries(Object.keys(labels).map((key) => [`f:${key}`, set]));
  return { 'f:annotations': ofAnnotations, 'f:labels': { '.': set, ...ofLabels } };
}

function ruleOf(line: string): JsonObject {
  const [verbs = [], groups = [], what = [], resourceNames] = line.split(' ').map((part) => part.split(','));
  if (groups[0] === '-') return { verbs, nonResourceURLs: what };
  const apiGroups = groups.map((group) => (group === 'core' ? '' : group));
  return { verbs, apiGroups, resources: what, ...(resourceNames && { resourceNames }) };
}

function bindingOf({ head, lines }: Block, kind: 'Role' | 'ClusterRole'): OwnObject {
  const [name = '', , , role = name] = head;
  const roleRef = { apiGroup, kind, name: role };
  const metadata = { name, labels: bootstrapping, annotations };
  const subjects = lines.map(subjectOf);
  return {
    object: { metadata, ...(subjects.length > 0 && { subjects }), roleRef },
    fieldsV1: subjects.length > 0 ? ofBinding : ofEmptyBinding,
  };
}

function subjectOf(line: string): JsonObject {
  const [kind = '', who = ''] = line.split(' ');
  if (kind !== 'account') return { kind: kind === 'user' ? 'User' : 'Group', apiGroup, name: who };
  const [namespace = '', name = ''] = who.split('/');
  return { kind: 'ServiceAccount', name, namespace };
}

function withCollectedRules(roles: readonly SeededObject[]): readonly SeededObject[] {
  let collected = roles;
  // `admin` holds what `edit` holds, and that what `view` holds.
  for (const name of ['view', 'edit', 'admin']) {
    const objects = collected.map(({ own }) => own.object);
    collected = collected.map((one) => {
      const { own } = one;
      if (metaOf(own.object).name !== name) return one;
      const rules = aggregatedRules(own.object, objects);
      const applied = { manager: 'clusterrole-aggregation-controller', fieldsV1: { 'f:rules': set } };
      return { ...one, own: { ...own, object: { ...own.object, rules }, applied } };
    });
  }
  return collected;
}
