import { formatGvk, type GroupVersionKind, gvkOf, splitApiVersion } from '../../object/gvk.js';
import type { Owner } from '../../object/owner-references.js';
import type { WithMetadata } from '../../object/with-metadata.js';
import { hash } from '../../runtime/crypto/hash.js';

/** The labels and annotations of objects in a set; wrangler's, so that sets can be migrated either way. */
export const setMarks = {
  /** Label: the same on all objects of a set, and on those of sets that happen to have the same hash. */
  hash: 'objectset.rio.cattle.io/hash',
  /** Label: `false` keeps an object when it is no longer in the set. */
  prune: 'objectset.rio.cattle.io/prune',
  /** Annotation: the set's own name. */
  id: 'objectset.rio.cattle.io/id',
  ownerGvk: 'objectset.rio.cattle.io/owner-gvk',
  ownerName: 'objectset.rio.cattle.io/owner-name',
  ownerNamespace: 'objectset.rio.cattle.io/owner-namespace',
  /** Annotation: the last applied configuration, for the three-way form. */
  applied: 'objectset.rio.cattle.io/applied',
  /** Annotation: digest of what was applied last, for the server-side form. */
  intent: 'objectset.rio.cattle.io/intent',
} as const;

/** All marks begin so. */
export const markPrefix = 'objectset.rio.cattle.io/';

/** Identifies a set: by name, by owner, or both. */
export interface SetNames {
  readonly setId?: string;
  readonly owner?: Owner;
}

/** The identity of a set. */
export interface SetIdentity {
  /** The value of the label. Sets of different owners can share it, see {@link key}. */
  readonly hash: string;
  /**
   * Differs between any two sets. The hash does not: wrangler computes it from the joined names without a separator, so
   * that owner `web` in `prodx` and owner `webpro` in `dx` have the same one.
   */
  readonly key: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Selects the set's objects, and those of any set with the same hash. */
  readonly selector: string;
  /** For people. */
  readonly text: string;
}

/** The annotations that make up an identity, in the order in which wrangler hashes them. */
export const identityMarks = [setMarks.id, setMarks.ownerGvk, setMarks.ownerName, setMarks.ownerNamespace] as const;

type Annotations = Readonly<Record<string, string>> | undefined;

/**
 * The identity of a set, the same that wrangler gives it (`GetLabelsAndAnnotations`, `GetSelectorFromOwner`). Throws a
 * `TypeError` if it has neither a name nor an owner.
 */
export function setIdentity({ setId = '', owner }: SetNames): SetIdentity {
  if (setId === '' && owner === undefined) {
    throw new TypeError('apply: a set requires setId, owner or both; they identify its objects');
  }
  const annotations: Record<string, string> = { [setMarks.id]: setId };
  if (owner !== undefined) {
    annotations[setMarks.ownerGvk] = formatGvk(gvkOf(owner));
    annotations[setMarks.ownerName] = owner.metadata.name;
    annotations[setMarks.ownerNamespace] = owner.metadata.namespace ?? '';
  }
  return identityFrom(annotations);
}

/**
 * The identity that an object states: by its annotations, provided that its label agrees with them. Undefined for an
 * object in no set. Who wrote the marks is another question, see `isMember`.
 */
export function statedIdentity({ metadata }: WithMetadata): SetIdentity | undefined {
  const label = metadata?.labels?.[setMarks.hash];
  if (label === undefined || !identityMarks.some((mark) => metadata?.annotations?.[mark])) return undefined;
  const identity = identityFrom(metadata?.annotations);
  return identity.hash === label ? identity : undefined;
}

/** The {@link SetIdentity.key} that annotations stand for. */
export function setKey(annotations: Annotations): string {
  return JSON.stringify(identityMarks.map((mark) => annotations?.[mark] ?? ''));
}

/** The set that annotations name, for people. */
export function setText(annotations: Annotations): string {
  const [setId = '', gvk = '', name = '', namespace = ''] = identityMarks.map((mark) => annotations?.[mark]);
  const owner = name === '' ? '' : `${gvk.split(', Kind=').at(-1)} ${namespace === '' ? '' : `${namespace}/`}${name}`;
  return [setId === '' ? '' : JSON.stringify(setId), owner].filter(Boolean).join(' of ');
}

function identityFrom(given: Annotations): SetIdentity {
  const stated = identityMarks.filter((mark) => given?.[mark] !== undefined);
  const annotations = Object.fromEntries(stated.map((mark) => [mark, given?.[mark] ?? '']));
  const digest = hash('sha1', identityMarks.map((mark) => annotations[mark] ?? '').join(''));
  return {
    ...{ hash: digest, key: setKey(annotations), labels: { [setMarks.hash]: digest }, annotations },
    selector: `${setMarks.hash}=${digest}`,
    text: setText(annotations),
  };
}

/** The owner that an object's annotations name. */
export interface NamedOwner {
  readonly gvk: GroupVersionKind;
  readonly namespace?: string;
  readonly name: string;
  readonly setId: string;
}

/**
 * The owner of the set that an object states to be in; undefined if it states none, or its label and annotations
 * disagree. Reads nothing from the server.
 */
export function namedOwner(object: WithMetadata): NamedOwner | undefined {
  const { annotations = {} } = statedIdentity(object) ?? {};
  const name = annotations[setMarks.ownerName];
  const [groupVersion, kind] = (annotations[setMarks.ownerGvk] ?? '').split(', Kind=');
  if (!name || !groupVersion || !kind) return undefined;
  const gvk = { ...splitApiVersion(groupVersion), kind };
  const namespace = annotations[setMarks.ownerNamespace];
  return { gvk, ...(namespace ? { namespace } : {}), name, setId: annotations[setMarks.id] ?? '' };
}
