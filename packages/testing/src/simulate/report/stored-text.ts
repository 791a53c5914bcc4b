import { type Condition, equal, type KubeObject, type OwnerReference } from 'riata/object';
import type { StoredChange } from '../run/history.js';

/** How many fields are shown, and how much of a value. */
const mostFields = 4;
const mostText = 40;
/** What every write changes, or says again what the line says already. */
const obvious =
  /^(apiVersion|kind|metadata\.(name|namespace|generateName|uid|resourceVersion|creationTimestamp|managedFields|generation|deletionGracePeriodSeconds))$/;
const time = /^\d{4}-\d{2}-\d{2}T/;

/** The fields that a write has changed, as `data.size "1" → "2"`; empty if the object is gone. */
export function storedText({ before, after }: StoredChange): string {
  if (after === undefined) return '';
  const [old, now] = [leavesOf(before), leavesOf(after)];
  const texts = [...new Set([...now.keys(), ...old.keys()])].flatMap((path) => {
    const [from, to] = [old.get(path), now.get(path)];
    if (equal(from, to)) return [];
    if (to === undefined) return [`${path} removed`];
    if (to === true && path.startsWith('owner ')) return [`${path} added`];
    const value = shortText(to);
    return [from === undefined ? `${path} = ${value}` : `${path} ${shortText(from)} → ${value}`];
  });
  const more = texts.length - mostFields;
  return [...texts.slice(0, mostFields), ...(more > 0 ? [`${more} more`] : [])].join(', ');
}

/** Values by path; a list is one value. Metadata comes last, as it matters least. */
function leavesOf(object: KubeObject | undefined): ReadonlyMap<string, unknown> {
  const leaves = new Map<string, unknown>();
  const add = (value: unknown, path: string): void => {
    if (obvious.test(path) || value === undefined) return;
    const isNested = typeof value === 'object' && value !== null && !Array.isArray(value);
    if (path === 'metadata.ownerReferences') addOwners(leaves, value);
    else if (path === 'status.conditions') addConditions(leaves, value);
    else if (!isNested) leaves.set(path, value);
    else for (const [name, each] of Object.entries(value)) add(each, path === '' ? name : `${path}.${name}`);
  };
  const { metadata, ...rest } = object ?? {};
  add(rest, '');
  add(metadata, 'metadata');
  return leaves;
}

function addOwners(leaves: Map<string, unknown>, owners: unknown): void {
  for (const { kind, name } of owners as readonly OwnerReference[]) leaves.set(`owner ${kind} ${name}`, true);
}

function addConditions(leaves: Map<string, unknown>, conditions: unknown): void {
  if (!Array.isArray(conditions)) return;
  for (const { type, status, reason = '' } of conditions as readonly Partial<Condition>[]) {
    leaves.set(`condition ${type}`, `${status} ${reason}`.trim());
  }
}

function shortText(value: unknown): string {
  if (typeof value === 'string' && time.test(value)) return '<time>';
  const text = JSON.stringify(value);
  return text.length > mostText ? `${text.slice(0, mostText)}…` : text;
}
