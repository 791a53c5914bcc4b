import { isJsonObject } from '../../object/json.js';
import { createJsonPatch, type JsonPatchOperation } from '../../object/patch/json-patch.js';
import { parsePointer } from '../../object/patch/json-pointer.js';
import { valueAt } from '../../object/value/value-at.js';
import { metadataWithout } from '../manifests/yaml.js';
import { markPrefix } from './set-identity.js';

/** One difference between what is stored and what will be. */
export interface DiffLine {
  readonly change: 'add' | 'remove' | 'change';
  /** `spec.replicas`, `spec.template.spec.containers[0].image`, `metadata.labels["app.kubernetes.io/name"]`. */
  readonly path: string;
  readonly from?: unknown;
  readonly to?: unknown;
}

const serverFields: ReadonlySet<string> = new Set([
  ...['managedFields', 'resourceVersion', 'generation', 'uid', 'creationTimestamp', 'selfLink'],
]);

/**
 * The differences, field by field, without the server's own fields and the marks of sets. Values of Secrets are left
 * out: plans are printed and kept.
 */
export function diffObjects(from: object, to: object): DiffLine[] {
  const isSecret = 'kind' in to && to.kind === 'Secret';
  const [before, after] = [comparable(from), comparable(to)];
  const lines = createJsonPatch(before, after).flatMap((operation) => lineOf(operation, before));
  return isSecret ? lines.map(({ change, path }) => ({ change, path })) : lines;
}

/** The lines as people read them: `~ spec.replicas: 2 → 3`. */
export function formatDiff(lines: readonly DiffLine[]): string[] {
  return lines.map(({ change, path, from, to }) => {
    if (from === undefined && to === undefined) return `${{ add: '+', remove: '-', change: '~' }[change]} ${path}`;
    if (change === 'add') return `+ ${path}: ${short(to)}`;
    return change === 'remove' ? `- ${path}: ${short(from)}` : `~ ${path}: ${short(from)} → ${short(to)}`;
  });
}

function comparable(object: object): object {
  const { metadata, ...rest } = object as { readonly metadata?: unknown };
  if (!isJsonObject(metadata)) return rest;
  return { ...rest, metadata: metadataWithout(metadata, serverFields, (key) => key.startsWith(markPrefix)) };
}

function lineOf(operation: JsonPatchOperation, before: object): DiffLine[] {
  const tokens = parsePointer(operation.path);
  const path = pathText(tokens);
  const from = valueAt(before, ...tokens);
  if (operation.op === 'remove') return [{ change: 'remove', path, from }];
  if (operation.op === 'add') return [{ change: 'add', path, to: operation.value }];
  return operation.op === 'replace' ? [{ change: 'change', path, from, to: operation.value }] : [];
}

function pathText(tokens: readonly string[]): string {
  return tokens.reduce((path, token) => {
    if (/^\d+$/.test(token)) return `${path}[${token}]`;
    if (!/^[A-Za-z_][\w-]*$/.test(token)) return `${path}[${JSON.stringify(token)}]`;
    return path === '' ? token : `${path}.${token}`;
  }, '');
}

function short(value: unknown): string {
  const text = JSON.stringify(value) ?? 'undefined';
  return text.length > 200 ? `${text.slice(0, 197)}…` : text;
}
