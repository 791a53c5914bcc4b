import type { CelType } from './cel-type.js';
import type { Value } from './value.js';

/** One form of a function. */
export interface Overload {
  /** As cel-go names it, e.g. `starts_with_string`: costs depend on it. */
  readonly id: string;
  readonly isMember: boolean;
  /** The receiver of a member function is the first of them. */
  readonly args: readonly CelType[];
  readonly result: CelType;
  /** Throws a `CelError`. */
  readonly call: (...args: Value[]) => Value;
}

/** Functions by name, each with its forms in the order in which they are tried. */
export type Functions = Readonly<Record<string, readonly Overload[]>>;

type Call = (...args: never[]) => Value;

/** A form that is called as `name(a, b)`. */
export function plain(id: string, args: readonly CelType[], result: CelType, call: Call): Overload {
  return { id, isMember: false, args, result, call: call as Overload['call'] };
}

/** A form that is called as `a.name(b)`. */
export function member(id: string, args: readonly CelType[], result: CelType, call: Call): Overload {
  return { id, isMember: true, args, result, call: call as Overload['call'] };
}
