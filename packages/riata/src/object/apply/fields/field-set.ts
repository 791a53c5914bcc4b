import { type Path, type PathElement, sortElements } from './path-element.js';

interface FieldNode {
  /** Whether the place itself belongs to the set; being above a member does not make it one. */
  readonly member: boolean;
  /** Never empty. */
  readonly below: FieldSet | undefined;
}

type Nodes = ReadonlyMap<PathElement, FieldNode>;

/**
 * A set of places in an object (`fieldpath.Set`): the fields that a manager owns, or that a write changes. Immutable,
 * so sets share their branches. A place and the places below it are members independently of each other.
 */
export class FieldSet {
  static readonly empty = new FieldSet(new Map());

  readonly #nodes: Nodes;

  private constructor(nodes: Nodes) {
    this.#nodes = nodes;
  }

  /** The set of these paths. The empty path, the object as a whole, cannot be a member. */
  static of(...paths: readonly Path[]): FieldSet {
    const builder = new FieldSetBuilder();
    for (const path of paths) builder.add(path);
    return builder.build();
  }

  /** From one level: each element with whether it is a member and what lies below it. */
  static level(nodes: Iterable<readonly [PathElement, member: boolean, below: FieldSet | undefined]>): FieldSet {
    const level = new Map<PathElement, FieldNode>();
    for (const [element, member, below] of nodes) put(level, element, member, below);
    return level.size === 0 ? FieldSet.empty : new FieldSet(level);
  }

  get isEmpty(): boolean {
    return this.#nodes.size === 0;
  }

  /** The number of members. */
  get size(): number {
    let count = 0;
    for (const { member, below } of this.#nodes.values()) count += (member ? 1 : 0) + (below?.size ?? 0);
    return count;
  }

  /** Whether exactly this place is a member. */
  has(path: Path): boolean {
    let set: FieldSet | undefined = this;
    for (let i = 0; i < path.length - 1 && set !== undefined; i++) set = set.below(path[i]!);
    const last = path[path.length - 1];
    return last !== undefined && set?.isMember(last) === true;
  }

  /** Whether the element is a member on the first level. */
  isMember(element: PathElement): boolean {
    return this.#nodes.get(element)?.member === true;
  }

  /** The members below an element of the first level, relative to it; undefined if it has none. */
  below(element: PathElement): FieldSet | undefined {
    return this.#nodes.get(element)?.below;
  }

  /** The first level: every element that is a member or above one. In no order. */
  elements(): Iterable<PathElement> {
    return this.#nodes.keys();
  }

  /** The first level in upstream's order. */
  sortedElements(): PathElement[] {
    return sortElements(this.#nodes.keys());
  }

  /** All members: those of a level first, then what is below each, in upstream's order. */
  *paths(): Generator<Path, void, undefined> {
    yield* this.#paths([]);
  }

  *#paths(prefix: Path): Generator<Path, void, undefined> {
    const sorted = this.sortedElements();
    for (const element of sorted) if (this.isMember(element)) yield [...prefix, element];
    for (const element of sorted) {
      const below = this.below(element);
      if (below !== undefined) yield* below.#paths([...prefix, element]);
    }
  }

  equals(other: FieldSet): boolean {
    if (this === other) return true;
    if (this.#nodes.size !== other.#nodes.size) return false;
    for (const [element, { member, below }] of this.#nodes) {
      const theirs = other.#nodes.get(element);
      if (theirs === undefined || theirs.member !== member) return false;
      if (below === undefined || theirs.below === undefined ? below !== theirs.below : !below.equals(theirs.below)) {
        return false;
      }
    }
    return true;
  }

  /** Members of either. */
  union(other: FieldSet): FieldSet {
    if (this === other || other.isEmpty) return this;
    if (this.isEmpty) return other;
    const nodes = new Map(this.#nodes);
    for (const [element, theirs] of other.#nodes) {
      const ours = nodes.get(element);
      if (ours === undefined) {
        nodes.set(element, theirs);
        continue;
      }
      const below = ours.below && theirs.below ? ours.below.union(theirs.below) : (ours.below ?? theirs.below);
      const member = ours.member || theirs.member;
      if (member !== ours.member || below !== ours.below) nodes.set(element, { member, below });
    }
    return new FieldSet(nodes);
  }

  /** Members of both. */
  intersection(other: FieldSet): FieldSet {
    if (this === other) return this;
    return this.#keep(other, (ours, theirs) => {
      if (theirs === undefined) return undefined;
      const below = ours.below && theirs.below ? ours.below.intersection(theirs.below) : undefined;
      return { member: ours.member && theirs.member, below };
    });
  }

  /** Members that are not in `other`. A member of `other` removes nothing but itself: members below it stay. */
  difference(other: FieldSet): FieldSet {
    if (this === other) return FieldSet.empty;
    if (other.isEmpty) return this;
    return this.#keep(other, (ours, theirs) => {
      if (theirs === undefined) return ours;
      const below = ours.below && theirs.below ? ours.below.difference(theirs.below) : ours.below;
      return { member: ours.member && !theirs.member, below };
    });
  }

  /** Members that are neither in `other` nor below one of its members. */
  recursiveDifference(other: FieldSet): FieldSet {
    if (other.isEmpty) return this;
    return this.#keep(other, (ours, theirs) => {
      if (theirs === undefined) return ours;
      if (theirs.member) return undefined;
      const below = ours.below && theirs.below ? ours.below.recursiveDifference(theirs.below) : ours.below;
      return { member: ours.member, below };
    });
  }

  /** Only the members that have no members below them. */
  leaves(): FieldSet {
    return this.#keep(this, ({ member, below }) => ({
      member: member && below === undefined,
      below: below?.leaves(),
    }));
  }

  #keep(other: FieldSet, choose: (ours: FieldNode, theirs: FieldNode | undefined) => FieldNode | undefined): FieldSet {
    const nodes = new Map<PathElement, FieldNode>();
    let same = true;
    for (const [element, ours] of this.#nodes) {
      const chosen = choose(ours, other.#nodes.get(element));
      if (chosen !== undefined && chosen.member === ours.member && chosen.below === ours.below) {
        nodes.set(element, ours);
        continue;
      }
      same = false;
      if (chosen !== undefined) put(nodes, element, chosen.member, chosen.below);
    }
    if (same) return this;
    return nodes.size === 0 ? FieldSet.empty : new FieldSet(nodes);
  }
}

function put(
  nodes: Map<PathElement, FieldNode>,
  element: PathElement,
  member: boolean,
  below: FieldSet | undefined,
): void {
  const kept = below === undefined || below.isEmpty ? undefined : below;
  if (member || kept !== undefined) nodes.set(element, { member, below: kept });
}

/** Collects paths into a set. */
export class FieldSetBuilder {
  #member = false;
  #children: Map<PathElement, FieldSetBuilder> | undefined;

  /** Adds a path; its parents do not become members by that. */
  add(path: Path): void {
    if (path.length === 0) return;
    let node: FieldSetBuilder = this;
    for (const element of path) node = node.#child(element);
    node.#member = true;
  }

  build(): FieldSet {
    if (this.#children === undefined) return FieldSet.empty;
    const level: [PathElement, boolean, FieldSet | undefined][] = [];
    for (const [element, child] of this.#children) level.push([element, child.#member, child.build()]);
    return FieldSet.level(level);
  }

  #child(element: PathElement): FieldSetBuilder {
    this.#children ??= new Map();
    let child = this.#children.get(element);
    if (child === undefined) {
      child = new FieldSetBuilder();
      this.#children.set(element, child);
    }
    return child;
  }
}
