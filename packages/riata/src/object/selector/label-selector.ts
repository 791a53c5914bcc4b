import { compareStrings } from '../compare-strings.js';
import type { LabelSelector } from '../meta.js';
import {
  formatRequirement,
  type LabelOperator,
  type LabelRequirement,
  labelRequirement,
  matchesRequirement,
} from './label-requirement.js';
import { parseLabelRequirements } from './parse-label-requirements.js';

/** A set of labels, as in an object's metadata (`labels.Set`). */
export type Labels = Readonly<Record<string, string>>;

/** Chooses objects by their labels (`labels.Selector`). Immutable. */
export interface Selector {
  /** All of these must hold; sorted by key. Empty for {@link everything} and for {@link nothing}. */
  readonly requirements: readonly LabelRequirement[];
  /** True for {@link nothing} alone: no request is needed to know that it finds nothing. */
  readonly selectsNothing: boolean;
  /** True when the labels are selected. No labels are the same as an empty set. */
  matches(labels: Labels | undefined | null): boolean;
  /** True when nothing is restricted (`Selector.Empty`). */
  isEmpty(): boolean;
  /** A selector with additional requirements (`Selector.Add`). */
  add(...requirements: LabelRequirement[]): Selector;
  /** The value that a label must have, where the selector leaves only one (`Selector.RequiresExactMatch`). */
  requiresExactMatch(label: string): string | undefined;
  /**
   * The form that goes into a `labelSelector` parameter, sorted: equal selectors print the same, and {@link parseSelector}
   * reads it back. {@link nothing} prints as a contradiction, so that no server takes it for "everything".
   */
  toString(): string;
}

// A key that is there and is not. Go prints an empty text here, which a server reads as "everything".
const contradiction = '!riata.dev/nothing,riata.dev/nothing';

class LabelSelectorImpl implements Selector {
  readonly requirements: readonly LabelRequirement[];
  readonly selectsNothing: boolean;

  constructor(requirements: readonly LabelRequirement[], selectsNothing = false) {
    this.requirements = Object.freeze([...requirements].sort((a, b) => compareStrings(a.key, b.key)));
    this.selectsNothing = selectsNothing;
    Object.freeze(this);
  }

  matches(labels: Labels | undefined | null): boolean {
    if (this.selectsNothing) return false;
    for (const requirement of this.requirements) if (!matchesRequirement(requirement, labels)) return false;
    return true;
  }

  isEmpty(): boolean {
    return this.requirements.length === 0 && !this.selectsNothing;
  }

  add(...requirements: LabelRequirement[]): Selector {
    return this.selectsNothing ? this : new LabelSelectorImpl([...this.requirements, ...requirements]);
  }

  requiresExactMatch(label: string): string | undefined {
    const requirement = this.requirements.find(({ key }) => key === label);
    const isExact = requirement && ['=', '==', 'in'].includes(requirement.operator);
    return isExact && requirement.values.length === 1 ? requirement.values[0] : undefined;
  }

  toString(): string {
    return this.selectsNothing ? contradiction : this.requirements.map(formatRequirement).join(',');
  }

  toJSON(): string {
    return this.toString();
  }
}

const all = new LabelSelectorImpl([]);
const none = new LabelSelectorImpl([], true);

/** Selects every object (`labels.Everything`). */
export function everything(): Selector {
  return all;
}

/** Selects no object (`labels.Nothing`), and stays so whatever is added. */
export function nothing(): Selector {
  return none;
}

/**
 * Reads the text form with Kubernetes' grammar (`labels.Parse`): `a=b`, `a==b`, `a!=b`, `a in (x,y)`, `a notin (x)`,
 * `a`, `!a`, `a>1`, `a<1`, joined by commas. The empty text selects everything. Throws a `SyntaxError` that says where
 * and what, also for keys and values that no label can have.
 */
export function parseSelector(text: string): Selector {
  return new LabelSelectorImpl(parseLabelRequirements(text));
}

/** Selects by requirements made with `labelRequirement`; all must hold. None selects everything. */
export function selectorOf(...requirements: LabelRequirement[]): Selector {
  return new LabelSelectorImpl(requirements);
}

/** Selects what has all of these labels (`labels.ValidatedSelectorFromSet`). No labels select everything. */
export function selectorFromLabels(labels: Labels): Selector {
  return new LabelSelectorImpl(Object.entries(labels).map(([key, value]) => labelRequirement(key, '=', [value])));
}

const fromObject: ReadonlyMap<string, LabelOperator> = new Map([
  ['In', 'in'],
  ['NotIn', 'notin'],
  ['Exists', 'exists'],
  ['DoesNotExist', '!'],
]);

/**
 * Reads a selector out of an object's field (`metav1.LabelSelectorAsSelector`). Mind the two empty ones: an absent
 * selector selects nothing, an empty one everything. Throws a `TypeError` for unknown operators and for keys and values
 * that no label can have.
 */
export function selectorFrom(selector: LabelSelector | undefined | null): Selector {
  if (selector === undefined || selector === null) return none;
  const requirements = Object.entries(selector.matchLabels ?? {}).map(([key, value]) =>
    labelRequirement(key, '=', [value]),
  );
  for (const { key, operator, values } of selector.matchExpressions ?? []) {
    const known = fromObject.get(operator);
    if (known === undefined) {
      throw new TypeError(
        `label selector on ${JSON.stringify(key)}: operator ${JSON.stringify(operator)} must be one of ${[...fromObject.keys()].join(', ')}`,
      );
    }
    requirements.push(labelRequirement(key, known, values ?? []));
  }
  return new LabelSelectorImpl(requirements);
}
