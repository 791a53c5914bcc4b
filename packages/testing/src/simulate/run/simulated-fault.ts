import { type FieldChange, formatChange, type PlannedChange, parseChange } from './field-change.js';

/**
 * What goes wrong in a simulated run, each at one point:
 *
 * - at a write of the controllers: the process dies before it (`crash-before`) or right after it (`crash-after`), the
 *   answer is lost (`lost-answer`), it is refused as a conflict (`conflict`) or with a 500 (`error`); another replica
 *   takes over the lease (`leader-change`), or one joins and takes over shards (`shard-move`);
 * - at a watch event: it arrives after the events of other kinds (`reordered`), only after the next step of the story
 *   (`late`), not at all, as it was compacted away and only the end state is seen (`missed`), or the process
 *   restarts, once all that follows from the event is done, on an API server that lags behind, with the state from
 *   before the event (`stale`);
 * - at a step of the story: the process is down while it happens (`down`);
 * - at a call of a webhook that the process serves: it takes five seconds (`slow-webhook`) or fails (`failed-webhook`).
 */
export type FaultKind =
  | 'crash-before'
  | 'crash-after'
  | 'lost-answer'
  | 'conflict'
  | 'error'
  | 'leader-change'
  | 'shard-move'
  | 'reordered'
  | 'late'
  | 'missed'
  | 'stale'
  | 'down'
  | 'slow-webhook'
  | 'failed-webhook';

/** Where a fault happens. */
export type FaultPlace = 'write' | 'event' | 'step' | 'webhook';

/** The place of each kind of fault. */
export const faultPlaces: Readonly<Record<FaultKind, FaultPlace>> = {
  'crash-before': 'write',
  'crash-after': 'write',
  'lost-answer': 'write',
  conflict: 'write',
  error: 'write',
  'leader-change': 'write',
  'shard-move': 'write',
  reordered: 'event',
  late: 'event',
  missed: 'event',
  stale: 'event',
  down: 'step',
  'slow-webhook': 'webhook',
  'failed-webhook': 'webhook',
};

/** All kinds, in the order in which they are tried. */
export const faultKinds = Object.keys(faultPlaces) as readonly FaultKind[];

/** One fault of a run: `crash-after@3` dies after the third write. */
export interface SimulatedFault {
  readonly kind: FaultKind;
  /** Which write, event, step or call, counted from 1 over the whole run. */
  readonly at: number;
}

/** What a run is determined by, besides the code. */
export interface RunPlan {
  readonly seed: number;
  /** The story stops after so many writes. @default all */
  readonly steps?: number;
  /** What is changed, and undone again, when the story is over. @default nothing */
  readonly change?: PlannedChange;
  readonly faults: readonly SimulatedFault[];
}

/** The text that `replay` takes: `seed=1 steps=2 crash-after@3 late@7`. */
export function formatPlan({ seed, steps, change, faults }: RunPlan): string {
  const words = [`seed=${seed}`, ...(steps === undefined ? [] : [`steps=${steps}`])];
  if (change !== undefined) words.push(...formatChange(change));
  return [...words, ...faults.map(({ kind, at }) => `${kind}@${at}`)].join(' ');
}

/** Reads what {@link formatPlan} wrote. */
export function parsePlan(text: string): RunPlan {
  let seed = 1;
  let steps: number | undefined;
  let changed: number | undefined;
  const fields: FieldChange[] = [];
  const faults: SimulatedFault[] = [];
  for (const word of text.split(/\s+/).filter((each) => each !== '')) {
    const [, name = '', mark = '', digits = ''] = /^([a-z-]+)([=@])(\d+)$/.exec(word) ?? [];
    const value = Number(digits);
    const change = parseChange(word);
    if (change !== undefined && (changed ?? change.step) === change.step) {
      changed = change.step;
      fields.push(change.field);
    } else if (mark === '=' && name === 'seed') seed = value;
    else if (mark === '=' && name === 'steps') steps = value;
    else if (mark === '@' && Object.hasOwn(faultPlaces, name)) faults.push({ kind: name as FaultKind, at: value });
    else {
      throw new TypeError(
        `simulate: replay must be words like seed=1, steps=2 and crash-after@3, got "${word}"; copy it from the failure`,
      );
    }
  }
  return {
    ...{ seed, ...(steps !== undefined && { steps }), faults },
    ...(changed !== undefined && { change: { step: changed, fields } }),
  };
}

const words: Readonly<Record<FaultKind, (at: number) => string>> = {
  'crash-before': (at) => `the process dies before write ${at}`,
  'crash-after': (at) => `the process dies after write ${at}`,
  'lost-answer': (at) => `the answer to write ${at} is lost`,
  conflict: (at) => `write ${at} is refused as a conflict`,
  error: (at) => `write ${at} is answered with 500`,
  'leader-change': (at) => `another replica takes over the lease at write ${at}`,
  'shard-move': (at) => `another replica joins at write ${at}`,
  reordered: (at) => `event ${at} arrives after the events of other kinds`,
  late: (at) => `event ${at} arrives after the next step of the story`,
  missed: (at) => `event ${at} is compacted away`,
  stale: (at) => `the process restarts on the state from before event ${at}`,
  down: (at) => `the process is down during step ${at}`,
  'slow-webhook': (at) => `webhook call ${at} takes five seconds`,
  'failed-webhook': (at) => `webhook call ${at} fails`,
};

/** In words. */
export function describeFault({ kind, at }: SimulatedFault): string {
  return words[kind](at);
}
