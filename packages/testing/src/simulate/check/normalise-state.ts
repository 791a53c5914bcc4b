import type { KubeObject } from 'riata/object';
import type { RunState } from '../run/run-result.js';

type Plain = null | boolean | number | string | readonly Plain[] | { readonly [name: string]: Plain };

/** Volumes of tokens, which the server adds to Pods. */
const tokenVolume = /\bkube-api-access-[a-z0-9]{5}\b/g;
const anyUid = /\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g;
const times = /"\d{4}-\d{2}-\d{2}T[^"]*"/g;
const time = /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(\.\d+)?(Z|[+-]\d{2}:\d{2})$/;
/** Fields of metadata that differ from run to run. */
const varying: ReadonlySet<string> = new Set([
  'uid',
  'resourceVersion',
  'creationTimestamp',
  'managedFields',
  'generation',
  'selfLink',
]);

/**
 * The state as text by object, so that two runs can be compared: without uids, versions and times, and with generated
 * names replaced by numbers.
 */
export function normaliseState(state: RunState): ReadonlyMap<string, string> {
  const { objects, world } = state;
  const texts = new StateTexts(state);
  const result = new Map<string, string>();
  for (const object of objects) {
    const { kind, metadata, ...rest } = withoutRecovery(object);
    const kept = Object.fromEntries(Object.entries(metadata).filter(([name]) => !varying.has(name)));
    const name = texts.renamed(metadata.name ?? '');
    const id = `${kind} ${metadata.namespace === undefined ? '' : `${metadata.namespace}/`}${name}`;
    const plain = texts.plain({ kind, metadata: kept, ...rest }, metadata.generation);
    result.set(id, JSON.stringify(plain, undefined, 2));
  }
  if (world !== undefined) result.set('the world', JSON.stringify(texts.plain(JSON.parse(world)), undefined, 2));
  return result;
}

/**
 * What the values of a state are compared as. Methods and loops rather than closures: those were made anew for each state,
 * and V8 optimized them again and again, which took a tenth of its compiler's time.
 */
class StateTexts {
  readonly #names: ReadonlyMap<string, string>;
  readonly #uids: RunState['uids'];
  readonly #living: ReadonlySet<string | undefined>;

  constructor({ objects, uids }: RunState) {
    this.#names = generatedNames(objects);
    this.#uids = uids;
    this.#living = new Set(objects.map(({ metadata }) => metadata.uid));
  }

  /** Names may contain the uid of another object, such as those of provisioned volumes. */
  renamed(text: string): string {
    return this.#names.get(text) ?? text.replaceAll(anyUid, (uid) => this.#uidText(uid) ?? uid);
  }

  /** A generation only counts writes; whether the status is about the newest one matters. */
  plain(value: unknown, generation?: number): Plain {
    if (typeof value === 'string') return this.#textOf(value);
    if (typeof value !== 'object' || value === null) return (value ?? null) as Plain;
    if (Array.isArray(value)) {
      const items: Plain[] = [];
      for (const each of value) items.push(this.plain(each, generation));
      return items;
    }
    // Without a prototype, as any key may be a field of an object.
    const result: Record<string, Plain> = Object.create(null);
    for (const name of Object.keys(value).sort()) {
      const each = (value as Record<string, unknown>)[name];
      if (each === undefined) continue;
      const isObserved = name === 'observedGeneration' && typeof each === 'number' && generation !== undefined;
      // Of an object in metadata, or of another one in a reference.
      if (name === 'resourceVersion' && typeof each === 'string') continue;
      if (isObserved) result[name] = each === generation ? '<the newest>' : '<an older one>';
      else result[name] = this.plain(each, generation);
    }
    return result;
  }

  #textOf(value: string): string {
    if (time.test(value)) return '<time>';
    const text = value.replaceAll(anyUid, (uid) => this.#uidText(uid) ?? uid);
    return this.#uidText(value) ?? replaceIn(text, this.#names).replaceAll(tokenVolume, 'kube-api-access-<…>');
  }

  #uidText(uid: string): string | undefined {
    const id = this.#uids.get(uid);
    if (id === undefined) return undefined;
    const at = id.lastIndexOf('/') + 1 || id.indexOf(' ') + 1;
    return `<uid of ${this.#living.has(uid) ? '' : 'the deleted '}${id.slice(0, at)}${this.renamed(id.slice(at))}>`;
  }
}

/**
 * A controller that writes no status gets one when a reconcile fails, and `Ready` is true again when the next one
 * succeeds: that only tells that something had failed.
 */
function withoutRecovery(object: KubeObject): KubeObject {
  const { status, ...rest } = object as KubeObject & { readonly status?: Record<string, unknown> };
  const { conditions, observedGeneration: _, ...others } = status ?? {};
  if (!Array.isArray(conditions) || conditions.length !== 1 || Object.keys(others).length > 0) return object;
  const { type, status: value, reason } = conditions[0] as Record<string, unknown>;
  return type === 'Ready' && value === 'True' && reason === 'Reconciled' ? rest : object;
}

/** Numbers for generated names: the n-th of those with the same prefix and content. */
function generatedNames(objects: readonly KubeObject[]): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const groups = new Map<string, KubeObject[]>();
  for (const object of objects) {
    const { generateName, namespace = '' } = object.metadata;
    if (!generateName) continue;
    const group = `${object.kind} ${namespace}/${generateName}`;
    groups.set(group, [...(groups.get(group) ?? []), object]);
  }
  for (const group of groups.values()) {
    const sorted = group
      .map((object) => ({ object, text: contentOf(object) }))
      .sort((a, b) => (a.text < b.text ? -1 : 1));
    for (const [at, { object }] of sorted.entries()) {
      names.set(object.metadata.name ?? '', `${object.metadata.generateName}<${at + 1}>`);
    }
  }
  return names;
}

function contentOf({ metadata: { name = '', labels, annotations }, ...rest }: KubeObject): string {
  const text = JSON.stringify([labels, annotations, rest]).replaceAll(name, '');
  // What differs from run to run must not decide which of them is the first.
  return text.replaceAll(tokenVolume, '').replaceAll(times, '');
}

function replaceIn(text: string, names: ReadonlyMap<string, string>): string {
  let result = text;
  for (const [name, number] of names) if (result.includes(name)) result = result.replaceAll(name, number);
  return result;
}
