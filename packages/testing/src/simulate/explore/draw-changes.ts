import { equal, type KubeObject } from 'riata/object';
import type { Random } from 'riata/runtime';
import { loadFastCheck } from '../../versions/load-fast-check.js';
import { type ChangeTurn, objectOfStep, tryChange } from '../run/change-turn.js';
import { describeChange, type FieldChange, overlaps } from '../run/field-change.js';
import type { RunResult } from '../run/run-result.js';
import type { RunPlan } from '../run/simulated-fault.js';
import { drawValues } from './draw-values.js';
import type { SpecChanges } from './from-schema.js';

/** More objects of one kind are not changed: they would show the same. */
const mostObjects = 3;

/** The changes of one object that the server accepts. */
export interface ObjectChanges {
  /** The step that wrote the object first. */
  readonly step: number;
  /** The story stops after so many steps, as the next one deletes the object. @default never */
  readonly steps?: number;
  readonly accepted: readonly FieldChange[];
}

/** What the changes of a simulation are drawn with. */
export interface DrawParts {
  readonly changes: readonly SpecChanges[];
  readonly seed: number;
  /** The story without faults. */
  readonly reference: RunResult;
  /** Makes a run that calls `probe` when its story is over. */
  readonly run: (plan: RunPlan, probe: (turn: ChangeTurn) => Promise<void>) => Promise<RunResult>;
  /** Called with each change that the server refuses. */
  readonly onRefused: (change: string, why: string) => void;
}

/** Draws changes of the objects that the story writes, and asks the server, by dry run, which of them it accepts. */
export async function drawChanges(parts: DrawParts): Promise<readonly ObjectChanges[]> {
  const { changes, seed, reference, run, onRefused } = parts;
  if (changes.length === 0) return [];
  const draw = drawValues(await loadFastCheck('fromSchema'), seed);
  const found: ObjectChanges[] = [];
  for (const each of changes) {
    const places = placesOf(reference, each).slice(0, mostObjects);
    if (places.length === 0) {
      throw new TypeError(`simulate: the story writes no object of ${each.kind}, whose schema \`changes\` names`);
    }
    for (const { step, steps } of places) {
      const accepted: FieldChange[] = [];
      await run({ seed, ...(steps !== undefined && { steps }), faults: [] }, async (turn) => {
        await turn.settle();
        const changed = await objectOfStep(turn, step);
        for (const field of changed === undefined ? [] : each.of(changed.object, draw)) {
          const answer = await tryChange(turn, changed as NonNullable<typeof changed>, [field]);
          if (typeof answer === 'string') onRefused(`${each.kind} ${describeChange(field)}`, answer);
          else if (!isUnchanged(answer, changed as NonNullable<typeof changed>)) accepted.push(field);
        }
      });
      found.push({ step, ...(steps !== undefined && { steps }), accepted });
    }
  }
  return found;
}

/** Each change alone. */
export function singleChanges(all: readonly ObjectChanges[], seed: number): readonly RunPlan[] {
  return all.flatMap(({ step, steps, accepted }) =>
    accepted.map((field) => ({
      ...{ seed, ...(steps !== undefined && { steps }), change: { step, fields: [field] }, faults: [] },
    })),
  );
}

/** Two to four fields of one object at once. */
export function randomChange(all: readonly ObjectChanges[], random: Random): Omit<RunPlan, 'seed' | 'faults'> {
  const { step, steps, accepted } = random.pick(all.filter((each) => each.accepted.length > 0));
  const fields: FieldChange[] = [];
  for (let count = random.int(2, 4); count > 0; count -= 1) {
    const field = random.pick(accepted);
    if (!fields.some((other) => overlaps(field, other))) fields.push(field);
  }
  return { ...(steps !== undefined && { steps }), change: { step, fields } };
}

/** Where the story writes objects of the kind first, and how long they exist. */
function placesOf(
  { steps, told }: RunResult,
  { group, kind }: SpecChanges,
): readonly { step: number; steps?: number }[] {
  const places = new Map<string, { step: number; steps?: number }>();
  for (const [at, { target, code = 500 }] of steps.slice(0, told).entries()) {
    if (target.kind !== kind || target.group !== group || target.name === undefined || code >= 300) continue;
    if (target.subresource !== undefined) continue;
    const known = places.get(target.object);
    if (target.verb !== 'delete') {
      if (known === undefined) places.set(target.object, { step: at + 1 });
    } else if (known !== undefined && known.steps === undefined) {
      places.set(target.object, { ...known, steps: at });
    }
  }
  return [...places.values()];
}

/** Whether the server made nothing of a change, by a default for instance. */
function isUnchanged(answer: KubeObject, { object }: { readonly object: KubeObject }): boolean {
  const { metadata: _, ...after } = answer;
  const { metadata: __, ...before } = object;
  return equal(after, before);
}
