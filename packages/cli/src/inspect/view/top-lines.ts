import type { CacheRow, ControllerRow, FailingRow, TopFrame } from '../top-model.js';
import { reconcileLine } from './reconcile-line.js';
import { type Color, clip, clockTime, megabytes, type Paint, shortDuration } from './text.js';

/** A line that a program shows beside its operator. */
export interface SurroundingLine {
  /** One character, in the colour. */
  readonly mark: string;
  readonly color: Color;
  readonly text: string;
}

/** What a program shows beside its operator. */
export interface TopSurroundings {
  /** Above everything but the title. */
  readonly banner?: string;
  /** Below the controllers. */
  readonly section?: { readonly heading: string; readonly lines: readonly SurroundingLine[] };
  /** The last lines. */
  readonly hints?: readonly string[];
}

/** How a frame is drawn. */
export interface TopLayout extends TopSurroundings {
  readonly columns: number;
  readonly rows: number;
  readonly paint: Paint;
  /** The chosen controller: failures and reconciles are its own alone. */
  readonly selected?: string;
}

const dash = '-';

/** Draws a frame as lines that fit into the terminal. */
export function topLines(frame: TopFrame, layout: TopLayout): string[] {
  const { columns, rows, paint, selected, banner, section: beside, hints = [] } = layout;
  const { operator, replicas, nowMs, upMs, riata, rssBytes, heapUsedBytes } = frame;
  const isShown = (row: { readonly controller: string }) => selected === undefined || row.controller === selected;
  const title = `${operator}  ${replicas === 1 ? '1 replica' : `${replicas} replicas`}, up ${shortDuration(upMs)}, riata ${riata}`;
  const memory = `memory ${megabytes(rssBytes)}, heap ${megabytes(heapUsedBytes)}  ${clockTime(nowMs)}Z`;
  const head = [
    paint('bold', clip(title, columns)),
    clip(memory, columns),
    ...(banner === undefined ? [] : [paint('cyan', clip(banner, columns))]),
    '',
  ];
  const foot = hints.length === 0 ? [] : ['', ...hints.map((hint) => paint('gray', clip(hint, columns)))];
  const room = rows - head.length - foot.length;
  // Without headings and the lines between sections.
  const inner = Math.max(6, room - (beside === undefined ? 7 : 9));
  // A section of the program takes its lines from the others.
  const [most, few] = beside === undefined ? [0.35, 0.2] : [0.25, 0.12];
  const failing = frame.failing.filter(isShown);
  const controllers = section(frame.controllers, Math.ceil(inner * most), (row) =>
    controllerLine(row, row.name === selected, columns, paint),
  );
  const failures = section(failing, Math.ceil(inner * few), (row) => paint('red', clip(failingLine(row), columns)));
  const caches = section(frame.caches, Math.ceil(inner * few), (row) => cacheLine(row, columns, paint));
  const own = section(
    beside?.lines ?? [],
    Math.ceil(inner * 0.35),
    ({ mark, color, text }) => `${paint(color, mark)} ${clip(text, columns - 2)}`,
  );
  const upper = [
    paint('gray', clip(controllerHead, columns)),
    ...controllers,
    '',
    ...(beside === undefined ? [] : [paint('gray', clip(`  ${beside.heading}`, columns)), ...own, '']),
    ...(failures.length === 0 ? [] : [paint('gray', clip(failingHead, columns)), ...failures, '']),
    paint('gray', clip(cacheHead, columns)),
    ...caches,
    '',
    paint('gray', clip(`RECONCILES  controller, key (causes) → writes${sampled(frame.sampling)}`, columns)),
  ];
  const left = Math.max(1, room - upper.length);
  const latest = frame.latest.filter(isShown).slice(-left);
  return [...head, ...upper, ...latest.map((record) => recordLine(record, columns, paint)), ...foot];
}

/** Says so where not all are shown. */
function sampled({ seen, sent }: TopFrame['sampling']): string {
  return seen > sent ? ` (a sample: ${sent} of ${seen} in a second)` : '';
}

function section<T>(rows: readonly T[], most: number, line: (row: T) => string): string[] {
  if (rows.length <= most) return rows.map(line);
  return [...rows.slice(0, Math.max(0, most - 1)).map(line), `… and ${rows.length - Math.max(0, most - 1)} more`];
}

/** Widths fit into 80 columns. */
function controllerCells(first: string, cells: readonly string[]): string {
  const widths = [4, 6, 6, 6, 6, 7, 7, 5];
  return [clip(first, 22).padEnd(22), ...cells.map((cell, index) => cell.padStart(widths[index] ?? 0))].join(' ');
}

const controllerHead = controllerCells('  CONTROLLER', [
  '/S',
  'ERR/S',
  'MEDIAN',
  'P95',
  'QUEUED',
  'WAITED',
  'DELAYED',
  'RUNS',
]);

function controllerLine(row: ControllerRow, isSelected: boolean, columns: number, paint: Paint): string {
  const { name, phase, perSecond, errorsPerSecond, medianMs, p95Ms, queued, waitedMs, delayed, active, overdue } = row;
  const duration = (ms: number | undefined) => (ms === undefined ? dash : shortDuration(ms));
  const shown = phase === 'running' ? name : `${name} (${phase})`;
  const text = controllerCells(`${isSelected ? '›' : ' '} ${shown}`, [
    perSecond.toFixed(1),
    errorsPerSecond.toFixed(1),
    duration(medianMs),
    duration(p95Ms),
    String(queued),
    duration(waitedMs),
    String(delayed),
    `${active}${overdue > 0 ? '!' : ''}`,
  ]);
  const line = clip(text, columns);
  if (isSelected) return paint('inverse', line);
  return errorsPerSecond > 0 || overdue > 0 ? paint('yellow', line) : line;
}

function failingCells(what: string, tries: string, retry: string, error: string): string {
  return `  ${clip(what, 30).padEnd(30)} ${tries.padStart(5)} ${retry.padStart(6)}  ${error}`;
}

const failingHead = failingCells('FAILING', 'TRIES', 'RETRY', 'ERROR');

function failingLine({ controller, key, attempt, retryInMs, error }: FailingRow): string {
  const retry = retryInMs === undefined ? 'never' : retryInMs === 0 ? 'now' : shortDuration(retryInMs);
  return failingCells(`${controller} ${key}`, String(attempt || dash), retry, error);
}

const cacheHead = '  CACHE                                  OBJECTS  SYNCED  LAST EVENT';

function cacheLine({ kind, objects, synced, lastEventMs, problem }: CacheRow, columns: number, paint: Paint): string {
  const last = lastEventMs === undefined ? dash : shortDuration(lastEventMs);
  const text = `  ${clip(kind, 36).padEnd(36)} ${String(objects).padStart(9)}  ${(synced ? 'yes' : 'no').padStart(6)}  ${last.padStart(10)}  ${problem ?? ''}`;
  const line = clip(text.trimEnd(), columns);
  return problem !== undefined || !synced ? paint('yellow', line) : line;
}

function recordLine(record: TopFrame['latest'][number], columns: number, paint: Paint): string {
  const line = clip(`${clockTime(record.startedAt)} ${reconcileLine(record)}`, columns);
  if (record.error !== undefined) return paint('red', line);
  return record.writes.length === 0 ? paint('gray', line) : line;
}
