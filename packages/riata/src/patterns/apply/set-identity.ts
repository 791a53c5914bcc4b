import { formatGvk, type GroupVersionKind, gvkOf } from '../../object/gvk.js';
import type { Owner } from '../../object/owner-references.js';
import type { WithMetadata } from '../../object/with-metadata.js';
import { hash } from '../../runtime/hash.js';

/** The labels and annotations by which objects of a set are known: those of wrangler, so that sets can change hands. */
export const setMarks = {
  /** Label: the same on all objects of a set. */
  hash: 'objectset.rio.cattle.io/hash',
  /** Label: `false` keeps an object when it is no longer in the set. */
  prune: 'objectset.rio.cattle.io/prune',
  /** Annotation: the set's own name. */
  id: 'objectset.rio.cattle.io/id',
  ownerGvk: 'objectset.rio.cattle.io/owner-gvk',
  ownerName: 'objectset.rio.cattle.io/owner-name',
  ownerNamespace: 'objectset.rio.cattle.io/owner-namespace',
  /** Annotation: what was applied last, for the three-way form. */
  applied: 'objectset.rio.cattle.io/applied',
  /** Annotation: digest of what was applied last, for the server-side form. */
  intent: 'objectset.rio.cattle.io/intent',
} as const;

/** All marks begin so. */
export const markPrefix = 'objectset.rio.cattle.io/';

/** Whose a set is: a name, an owner, or both. */
export interface SetNames {
  readonly setId?: string;
  readonly owner?: Owner;
}

/** What tells one set from all others. */
export interface SetIdentity {
  readonly hash: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly annotations: Readonly<Record<string, string>>;
  /** Selects the set's objects. */
  readonly selector: string;
  /** For people. */
  readonly text: string;
}

/**
 * The identity of a set, the same that wrangler gives it (`GetLabelsAndAnnotations`, `GetSelectorFromOwner`). Throws a
 * `TypeError` if it has neither a name nor an owner.
 */
export function setIdentity({ setId = '', owner }: SetNames): SetIdentity {
  if (setId === '' && owner === undefined) {
    throw new TypeError(
      'apply: a set wants setId, owner or both, got neither; without, nothing of it could be found again',
    );
  }
  const annotations: Record<string, string> = { [setMarks.id]: setId };
  if (owner !== undefined) {
    annotations[setMarks.ownerGvk] = formatGvk(gvkOf(owner));
    annotations[setMarks.ownerName] = owner.metadata.name;
    annotations[setMarks.ownerNamespace] = owner.metadata.namespace ?? '';
  }
  const order = [setMarks.id, setMarks.ownerGvk, setMarks.ownerName, setMarks.ownerNamespace];
  const digest = hash('sha1', order.map((name) => annotations[name] ?? '').join(''));
  const { kind, metadata } = owner ?? {};
  const place = metadata?.namespace === undefined ? '' : `${metadata.namespace}/`;
  const whose = owner === undefined ? '' : `${kind} ${place}${metadata?.name}`;
  return {
    hash: digest,
    labels: { [setMarks.hash]: digest },
    annotations,
    selector: `${setMarks.hash}=${digest}`,
    text: [setId === '' ? '' : JSON.stringify(setId), whose].filter(Boolean).join(' of '),
  };
}

/** The owner that an object's annotations name. */
export interface NamedOwner {
  readonly gvk: GroupVersionKind;
  readonly namespace?: string;
  readonly name: string;
  readonly setId: string;
}

/** The owner of the set that an object belongs to, by its annotations; undefined if they name none. Asks nobody. */
export function namedOwner(object: WithMetadata): NamedOwner | undefined {
  const annotations = object.metadata?.annotations ?? {};
  const name = annotations[setMarks.ownerName];
  const [groupVersion, kind] = (annotations[setMarks.ownerGvk] ?? '').split(', Kind=');
  if (!name || !groupVersion || !kind) return undefined;
  const slash = groupVersion.indexOf('/');
  const gvk = { group: groupVersion.slice(0, Math.max(slash, 0)), version: groupVersion.slice(slash + 1), kind };
  const namespace = annotations[setMarks.ownerNamespace];
  return { gvk, ...(namespace ? { namespace } : {}), name, setId: annotations[setMarks.id] ?? '' };
}
