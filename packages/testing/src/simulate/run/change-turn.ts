import type { ConnectedClient } from 'riata/client';
import type { Json, KindRef, KubeObject, ObjectKey } from 'riata/object';
import { isApiError } from 'riata/rest';
import { changePatches, type FieldChange, type PlannedChange } from './field-change.js';
import { RunFailure } from './run-failure.js';
import type { ChangeResult, RunPoint, RunState } from './run-result.js';
import type { StoryStep } from './story-line.js';

/** What a run lets its change act with. */
export interface ChangeTurn {
  /** Its writes are steps of the story. */
  readonly client: ConnectedClient;
  readonly steps: readonly StoryStep[];
  readonly point: () => RunPoint;
  drive<T>(promise: Promise<T>, what: string): Promise<T>;
  /** Does all that follows from the last step, in the time that the option `horizon` gives. */
  settle(): Promise<void>;
  /** Ends a step that was answered. */
  finishStep(): Promise<void>;
  snapshot(): RunState;
  /** Checks that the controllers have converged: no failing reconcile, and no write in a second pass. */
  checkConverged(): Promise<void>;
  note(text: string): void;
}

/** The object that a step of the story wrote, as it is now. */
export interface ChangedObject {
  readonly kind: KindRef;
  readonly key: ObjectKey;
  readonly object: KubeObject;
  readonly text: string;
}

/** Changes an object when the story is over, lets everything converge, and undoes the change. */
export async function makeChange(turn: ChangeTurn, { step, fields }: PlannedChange): Promise<ChangeResult> {
  await turn.settle();
  const before = turn.snapshot();
  const at = turn.point();
  const changed = await objectOfStep(turn, step);
  if (changed === undefined) {
    throw new RunFailure('story', `the object of step ${step} does not exist when it should be changed`);
  }
  const { there, back, text } = changePatches(changed.object as unknown as Json, fields);
  const result = { at, object: changed.text, before };
  turn.note(`changes ${changed.text}: ${text}`);
  const refused = await patch(turn, changed, there);
  if (refused !== undefined) return { ...result, refused };
  await turn.settle();
  await turn.checkConverged();
  turn.note(`undoes that change of ${changed.text}`);
  const stays = await patch(turn, changed, back);
  return stays === undefined ? result : { ...result, refused: `it can't be undone: ${stays}` };
}

/** Undefined if it does not exist. */
export async function objectOfStep(turn: ChangeTurn, step: number): Promise<ChangedObject | undefined> {
  const { client } = turn;
  const target = turn.steps[step - 1]?.target;
  if (target?.name === undefined) return undefined;
  const { group, version, namespace, name } = target;
  const apiVersion = group === '' ? version : `${group}/${version}`;
  const kind = await turn.drive(client.mapper.kindFor({ apiVersion, kind: target.kind } as KubeObject), 'discovery');
  const key = { ...(namespace !== undefined && { namespace }), name } as ObjectKey;
  const object = await turn.drive(client.find(kind, key as never), `the read of ${target.object}`);
  return object === undefined ? undefined : { kind, key, object, text: target.object.replace(/\/status$/, '') };
}

/** What the server would make of a change; a text if it refuses it. */
export async function tryChange(
  turn: ChangeTurn,
  { kind, key, object, text }: ChangedObject,
  fields: readonly FieldChange[],
): Promise<KubeObject | string> {
  const { there } = changePatches(object as unknown as Json, fields);
  if (there.length === 0) return object;
  const asked = turn.client.patch(kind, key as never, { type: 'json', body: there } as never, { dryRun: true });
  return turn.drive(asked, `the dry run of a change of ${text}`).catch(refusalOf);
}

async function patch(
  turn: ChangeTurn,
  { kind, key, text }: ChangedObject,
  body: readonly object[],
): Promise<string | undefined> {
  if (body.length === 0) return undefined;
  const asked = turn.client.patch(kind, key as never, { type: 'json', body } as never);
  const refused = await turn
    .drive(asked, `a change of ${text}`)
    .then(() => undefined)
    .catch(refusalOf);
  await turn.finishStep();
  return refused;
}

/** What a server refuses for its content is no failure of a controller. */
function refusalOf(error: unknown): string {
  if (isApiError(error) && error.code >= 400 && error.code < 500) return error.message;
  throw error;
}
