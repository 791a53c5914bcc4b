import { styleText } from 'node:util';
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

const color = (name: 'cyan' | 'green' | 'yellow' | 'red' | 'gray' | 'bold', text: string) =>
  styleText(name, text, { stream: process.stdout });

/** Renders a scene as lines that fit into the terminal. */
export function draw(scene: Scene, columns: number, rows: number): string[] {
  const head = [color('bold', cut(scene.title, columns)), color('cyan', cut(`▸ ${scene.chapter}`, columns)), ''];
  const foot = ['', ...scene.hints.map((hint) => color('gray', cut(hint, columns)))];
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
    color('gray', cut('reconciles: controller, key (causes) → writes', columns)),
    ...records,
    ...foot,
  ];
}

function objectLine({ kind, name, state, failed, detail }: ObjectLine, columns: number): string {
  const mark = failed ? color('red', '✗') : state === 'ready' ? color('green', '●') : color('yellow', '◌');
  return `${mark} ${cut(`${kind.padEnd(12)} ${name.padEnd(34)} ${state.padEnd(12)} ${detail}`, columns - 2)}`;
}

/** Describes one reconcile in a line. */
export function describe({ controller, key, reasons, writes, durationMs, error }: ReconcileRecord): string {
  const why = [
    ...new Set(reasons.map(({ source, change }) => (change === undefined ? source : `${source} ${change}`))),
  ].join(', ');
  const what = error ?? (writes.map(({ verb, object }) => `${verb} ${object}`).join(', ') || 'nothing to do');
  const place = key.namespace === undefined ? key.name : `${key.namespace}/${key.name}`;
  return `${controller.padEnd(14)} ${place} (${why}) → ${what}, ${durationMs.toFixed(1)} ms`;
}

function recordLine(record: ReconcileRecord, columns: number): string {
  const text = cut(describe(record), columns);
  return record.error === undefined ? (record.writes.length === 0 ? color('gray', text) : text) : color('red', text);
}

function cut(text: string, columns: number): string {
  const points = [...text];
  return points.length <= columns ? text : `${points.slice(0, Math.max(1, columns - 1)).join('')}…`;
}
