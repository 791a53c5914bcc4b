import { clip, painter, reconcileLine } from '@riata/cli/view';
import type { KubeObject } from 'riata';
import type { ReconcileRecord } from 'riata/controller';
import type { Pod } from 'riata/kinds';
import { summarize } from 'riata/patterns';

/** One line of the list of objects. */
export interface ObjectLine {
  readonly kind: string;
  readonly name: string;
  /** The state of `summarize`. */
  readonly state: string;
  readonly failed: boolean;
  readonly detail: string;
}

/** Summarizes an object in one line. */
export function lineOf(object: KubeObject): ObjectLine {
  const { state, error, transitioning, message } = summarize(object);
  // kstatus counts every Pod that has ended as Current, however it ended.
  const failed = error || state === 'failed';
  const detail = message.join(', ') || (object.kind === 'Pod' ? ((object as Pod).spec?.nodeName ?? '') : '');
  const shown = failed || transitioning || state === 'succeeded' ? state : 'ready';
  return { kind: object.kind, name: object.metadata.name, state: shown, failed, detail };
}

/** What the demo shows at one moment. */
export interface Scene {
  readonly title: string;
  readonly chapter: string;
  readonly objects: readonly ObjectLine[];
  readonly records: readonly ReconcileRecord[];
  readonly hints: readonly string[];
}

const color = painter(process.stdout.isTTY === true && process.env.NO_COLOR === undefined);

/** Renders a scene as lines that fit into the terminal. */
export function draw(scene: Scene, columns: number, rows: number): string[] {
  const head = [color('bold', clip(scene.title, columns)), color('cyan', clip(`▸ ${scene.chapter}`, columns)), ''];
  const foot = ['', ...scene.hints.map((hint) => color('gray', clip(hint, columns)))];
  const room = Math.max(6, rows - head.length - foot.length - 3);
  const forObjects = Math.min(scene.objects.length, Math.ceil(room / 2));
  const shown = scene.objects.slice(0, forObjects).map((line) => objectLine(line, columns));
  const hidden = scene.objects.length - forObjects;
  if (hidden > 0) shown[shown.length - 1] = color('gray', `  … and ${hidden + 1} more`);
  const records = scene.records.slice(-(room - forObjects)).map((record) => recordLine(record, columns));
  return [
    ...head,
    color('gray', 'objects'),
    ...shown,
    '',
    color('gray', clip('reconciles: controller, key (causes) → writes', columns)),
    ...records,
    ...foot,
  ];
}

function objectLine({ kind, name, state, failed, detail }: ObjectLine, columns: number): string {
  const mark = failed ? color('red', '✗') : state === 'ready' ? color('green', '●') : color('yellow', '◌');
  return `${mark} ${clip(`${kind.padEnd(12)} ${name.padEnd(34)} ${state.padEnd(12)} ${detail}`, columns - 2)}`;
}

function recordLine(record: ReconcileRecord, columns: number): string {
  const text = clip(reconcileLine(record), columns);
  return record.error === undefined ? (record.writes.length === 0 ? color('gray', text) : text) : color('red', text);
}
