import type { Change } from '../../cache/informer/change.js';
import type { KubeObject, LabelSelector } from '../../object/meta.js';
import { parseSelector, type Selector, selectorFrom } from '../../object/selector/label-selector.js';
import { equal } from '../../object/value/equal.js';

/** Whether a change matters (`predicate.Predicate`). If it throws, the object is retried and all others pass. */
export type Predicate<T extends KubeObject = KubeObject> = (change: Change<T>) => boolean;

/** Changes of this part of an object; additions and deletions always. Compared deeply, quickly where nothing changed. */
export function changed<T extends KubeObject>(part: (object: T) => unknown): Predicate<T> {
  return (change) => {
    const { old, new: now } = change;
    if (old === undefined || now === undefined) return true;
    return old !== now && !equal(part(old), part(now));
  };
}

/**
 * Changes of the spec, not of status or metadata (`GenerationChangedPredicate`). Only for kinds that count
 * generations: custom ones do, and most built-in ones with a spec and a status.
 */
export const generationChanged: Predicate = changed((object) => object.metadata.generation);

/** Any real change: no resyncs (`ResourceVersionChangedPredicate`). */
export const resourceVersionChanged: Predicate = changed((object) => object.metadata.resourceVersion);

/** Changes of annotations (`AnnotationChangedPredicate`). */
export const annotationsChanged: Predicate = changed((object) => object.metadata.annotations ?? {});

/** Changes of labels (`LabelChangedPredicate`). */
export const labelsChanged: Predicate = changed((object) => object.metadata.labels ?? {});

/**
 * Objects with matching labels (`LabelSelectorPredicate`). Also the change by which one stops matching, where the
 * original checks the new labels alone: a controller of matching objects must notice that one no longer matches.
 */
export function matchesLabels(selector: string | LabelSelector | Selector): Predicate {
  const parsed = toSelector(selector);
  return ({ old, new: now }) =>
    (now !== undefined && parsed.matches(now.metadata.labels)) ||
    (old !== undefined && parsed.matches(old.metadata.labels));
}

/** All of them (`predicate.And`); without any, everything. */
export function and<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.every((predicate) => predicate(change));
}

/** One of them (`predicate.Or`); without any, nothing. */
export function or<T extends KubeObject>(...predicates: readonly Predicate<T>[]): Predicate<T> {
  return (change) => predicates.some((predicate) => predicate(change));
}

/** The contrary (`predicate.Not`). */
export function not<T extends KubeObject>(predicate: Predicate<T>): Predicate<T> {
  return (change) => !predicate(change);
}

/** By type of change (`predicate.Funcs`); missing functions let everything through. A resync counts as an update. */
export function predicateFuncs<T extends KubeObject>(funcs: {
  readonly create?: (object: T, isInInitialList: boolean) => boolean;
  readonly update?: (old: T, object: T) => boolean;
  readonly delete?: (object: T, isFinalStateUnknown: boolean) => boolean;
}): Predicate<T> {
  return ({ type, old, new: now, isInInitialList, isFinalStateUnknown }) => {
    if (type === 'Added') return funcs.create?.(now as T, isInInitialList) ?? true;
    if (type === 'Deleted') return funcs.delete?.(old as T, isFinalStateUnknown) ?? true;
    return funcs.update?.(old as T, now as T) ?? true;
  };
}

function toSelector(selector: string | LabelSelector | Selector): Selector {
  if (typeof selector === 'string') return parseSelector(selector);
  return 'matches' in selector ? selector : selectorFrom(selector);
}
