import { equal } from 'riata/object';
import { idOf } from '../run/cluster-state.js';
import { describeChange } from '../run/field-change.js';
import { RunFailure } from '../run/run-failure.js';
import type { RunResult, RunState } from '../run/run-result.js';
import type { SimulationRule } from '../simulate-options.js';
import { textDiff } from './text-diff.js';

/** A violation, with what differs. */
export interface Verdict {
  readonly failure: RunFailure;
  /** What differs in the end, as a diff. */
  readonly diff?: string;
}

/** How runs are judged. */
export interface JudgeOptions {
  readonly except: readonly SimulationRule[];
  /** The run of the same story without faults; undefined for that run itself. */
  readonly reference?: RunResult;
  /** A state as text by object, as `normaliseState` makes it. */
  readonly textsOf: (state: RunState) => ReadonlyMap<string, string>;
}

/** What a run has violated; undefined if nothing. */
export function judgeRun(run: RunResult, { except, reference, textsOf }: JudgeOptions): Verdict | undefined {
  if (run.failure !== undefined) return { failure: run.failure };
  const rules: readonly [SimulationRule, () => Verdict | undefined][] = [
    ['undone change', () => notUndone(run, textsOf)],
    ['nothing left', () => left(run.end)],
    ['no foreign deletion', () => foreignDeletion(run, reference)],
    ['same end state', () => different(run, reference, textsOf)],
  ];
  for (const [rule, check] of rules) {
    const verdict = except.includes(rule) ? undefined : check();
    if (verdict !== undefined) return verdict;
  }
  return undefined;
}

function left(end: RunState | undefined): Verdict | undefined {
  const [object] = end?.objects.filter(({ metadata }) => end.isCreated(metadata.uid ?? '')) ?? [];
  if (object === undefined) return undefined;
  const { finalizers = [], deletionTimestamp, ownerReferences = [] } = object.metadata;
  const why =
    deletionTimestamp === undefined
      ? ownerReferences.length === 0
        ? ', which has no owner'
        : ''
      : `, which waits for its finalizers: ${finalizers.join(', ')}`;
  return {
    failure: new RunFailure(
      'nothing left',
      `${idOf(object)} is left after everything that the story created was deleted${why}`,
    ),
  };
}

function foreignDeletion(run: RunResult, reference: RunResult | undefined): Verdict | undefined {
  if (reference === undefined) return undefined;
  const deleted = run.writes.filter(({ verb, code = 500 }) => verb === 'delete' && code < 300);
  const named = new Set(run.steps.filter(({ target }) => target.verb === 'delete').map(({ target }) => target.object));
  // Which of several equal objects goes is not for a name to say: the state in the end shows if one is missing.
  const generated = [...run.writes, ...reference.writes].flatMap(({ verb, object }) =>
    verb === 'create' && object.endsWith('*') ? [object.slice(0, -1)] : [],
  );
  // Without faults, the garbage collector may be first.
  const kept = deleted.find(
    ({ object, step }) =>
      reference.created.has(object) &&
      !named.has(object) &&
      !generated.some((prefix) => object.startsWith(prefix)) &&
      step < (reference.removed.get(object) ?? Number.POSITIVE_INFINITY),
  )?.object;
  if (kept === undefined) return undefined;
  const message = `a controller deleted ${kept}, which it keeps when there are no faults`;
  return { failure: new RunFailure('no foreign deletion', message) };
}

function different(
  run: RunResult,
  reference: RunResult | undefined,
  textsOf: JudgeOptions['textsOf'],
): Verdict | undefined {
  if (reference === undefined) return undefined;
  const moments = [
    ...[...run.states].map(([step, state]) => [`after step ${step}`, reference.states.get(step), state] as const),
    ['after the story', reference.after, run.after] as const,
    ['in the end', reference.end, run.end] as const,
  ];
  for (const [when, expected, actual] of moments) {
    const found =
      expected === undefined || actual === undefined ? undefined : firstDifference(expected, actual, textsOf);
    if (found === undefined) continue;
    const message = `${found.id} ${found.what} ${when}, compared with the run without faults`;
    return { failure: new RunFailure('same end state', message), diff: found.diff };
  }
  return undefined;
}

/** The first object in which two states differ. */
function firstDifference(
  expected: RunState,
  actual: RunState,
  textsOf: JudgeOptions['textsOf'],
): { id: string; what: string; diff: string } | undefined {
  if (isSame(expected, actual)) return undefined;
  const [before, after] = [textsOf(expected), textsOf(actual)];
  for (const id of new Set([...before.keys(), ...after.keys()])) {
    const [one, other] = [before.get(id), after.get(id)];
    if (one === other) continue;
    const what = other === undefined ? 'is missing' : one === undefined ? 'should not exist' : 'differs';
    return { id, what, diff: textDiff(one ?? '', other ?? '') };
  }
  return undefined;
}

/** Without faults, an undone change leaves everything as it was. */
function notUndone({ plan, change, after }: RunResult, textsOf: JudgeOptions['textsOf']): Verdict | undefined {
  if (change === undefined || change.refused !== undefined || plan.faults.length > 0 || after === undefined) return;
  const found = firstDifference(change.before, after, textsOf);
  if (found === undefined) return;
  const { id, what, diff } = found;
  const fields = plan.change?.fields.map(describeChange).join(', ');
  const message = `${id} ${what} after a change of ${change.object} was undone (${fields})`;
  return { failure: new RunFailure('undone change', message), diff };
}

/** Up to the first fault, runs are the same to the last byte. */
function isSame(one: RunState, other: RunState): boolean {
  return one.world === other.world && equal(one.objects, other.objects);
}
