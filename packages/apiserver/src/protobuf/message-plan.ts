import { once } from '../once.js';
import { fieldNumberTexts } from '../resource/generated/field-numbers.js';
import type { GoField, GoStruct } from '../schema/built-in/go-type.js';

/** A field of a message: one of JSON's, or a message that JSON has not, whose fields stand among its owner's there. */
export type PlanEntry = { readonly number: number; readonly field: GoField; readonly embedded?: undefined } | Embedded;

interface Embedded {
  readonly number: number;
  readonly embedded: MessagePlan;
}

/** How a struct looks as a message. */
export interface MessagePlan {
  /** By number. */
  readonly entries: readonly PlanEntry[];
  readonly byNumber: ReadonlyMap<number, PlanEntry>;
}

/** Read from the generated types on first use: constants, the same for every server. */
const plans = new Map<string, MessagePlan>();

export function planOf(struct: GoStruct): MessagePlan {
  let plan = plans.get(struct.id);
  if (plan === undefined) {
    plan = makePlan(struct);
    plans.set(struct.id, plan);
  }
  return plan;
}

/**
 * The table has a line for each struct, e.g. `NamedRuleWithOperations 1 2.1 2.2.1`: the numbers of its fields in order,
 * those of an embedded message behind its own number, `-` for a missing one. Without a line, the fields are counted
 * from 1. The kind and version of an object are in the envelope.
 */
function makePlan(struct: GoStruct): MessagePlan {
  const fields = struct.fieldList;
  const numbers = numbersOf(struct.id);
  const root = new Map<number, Draft>();
  let count = 0;
  for (const field of fields) {
    const isTypeMeta = field.via.length === 1 && field.via[0] === 'TypeMeta';
    if (!isTypeMeta) count += 1;
    const path = numbers === undefined ? (isTypeMeta ? '-' : String(count)) : (numbers[field.index] ?? '-');
    if (path !== '-') place(root, path.split('.').map(Number), field);
  }
  return finish(root);
}

type Draft = { readonly field: GoField } | { readonly below: Map<number, Draft> };

function place(drafts: Map<number, Draft>, [number = 0, ...rest]: readonly number[], field: GoField): void {
  if (rest.length === 0) {
    drafts.set(number, { field });
    return;
  }
  const known = drafts.get(number);
  const below = known !== undefined && 'below' in known ? known.below : new Map<number, Draft>();
  drafts.set(number, { below });
  place(below, rest, field);
}

function finish(drafts: ReadonlyMap<number, Draft>): MessagePlan {
  const entries = [...drafts]
    .sort(([a], [b]) => a - b)
    .map(
      ([number, draft]): PlanEntry =>
        'field' in draft ? { number, field: draft.field } : { number, embedded: finish(draft.below) },
    );
  return { entries, byNumber: new Map(entries.map((entry) => [entry.number, entry])) };
}

const lines = once(() => {
  const found = new Map<string, readonly string[]>();
  for (const [path, text] of Object.entries(fieldNumberTexts)) {
    for (const line of text.trim().split('\n')) {
      const [name = '', ...numbers] = line.split(' ');
      found.set(`${path}.${name}`, numbers);
    }
  }
  return found;
});

function numbersOf(id: string): readonly string[] | undefined {
  return lines().get(id);
}
