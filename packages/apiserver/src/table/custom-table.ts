import type { Json, JsonObject } from 'riata/object';
import type { CrdColumn } from '../schema/crd/crd-object.js';
import { goText } from './go-text.js';
import { evaluateJsonPath, JsonPathError, parseJsonPath, type Step } from './json-path.js';
import { type Ages, ageColumn, type Column, nameColumn, printer, type TablePrinter } from './table-printer.js';

interface PathColumn extends Column {
  readonly type: string;
  readonly path: readonly Step[];
}

/** How a custom kind is shown: by the columns of its definition, or with its age. */
export function customTable(columns: readonly CrdColumn[]): TablePrinter {
  if (columns.length === 0) {
    const cells = ({ metadata }: { metadata: { name: string; creationTimestamp?: string } }, ages: Ages) => [
      metadata.name,
      ages.since(metadata.creationTimestamp),
    ];
    return printer([nameColumn, { ...ageColumn, type: 'date' }], cells);
  }
  const made = readColumns(columns);
  return printer<JsonObject>([nameColumn, ...made.map(({ path: _, ...column }) => column)], (object, ages) => [
    nameOf(object),
    ...made.map((column) => cellOf(column, object, ages)),
  ]);
}

/** Those up to the first whose path cannot be read. */
function readColumns(columns: readonly CrdColumn[]): readonly PathColumn[] {
  const made: PathColumn[] = [];
  for (const { name = '', type = '', format, description, priority, jsonPath = '' } of columns) {
    try {
      const path = parseJsonPath(jsonPath);
      made.push({ name, type, format, priority, path, description: description || pathDescription(jsonPath) });
    } catch (error) {
      if (error instanceof JsonPathError) return made;
      throw error;
    }
  }
  return made;
}

function pathDescription(jsonPath: string): string {
  return `Custom resource definition column (in JSONPath format): ${jsonPath}`;
}

function nameOf({ metadata }: JsonObject): string {
  return String((metadata as JsonObject).name ?? '');
}

/** The first value that the path finds, if it is what the column is for. */
function cellOf({ path, type }: PathColumn, object: JsonObject, ages: Ages): Json {
  const value = firstOf(path, object);
  if (value === undefined) return null;
  if (type === 'string') return goText(value);
  if (value === null) return null;
  switch (type) {
    case 'integer':
      return typeof value === 'number' ? Math.trunc(value) : isLong(value) ? value : null;
    case 'number':
      return typeof value === 'number' || isLong(value) ? Number(value) : null;
    case 'boolean':
      return typeof value === 'boolean' ? value : null;
    case 'date':
      return typeof value === 'string' ? ageOf(value, ages) : null;
    default:
      return null;
  }
}

/** Whole numbers that would lose digits otherwise are no numbers of JavaScript. */
function isLong(value: unknown): boolean {
  return typeof value === 'bigint';
}

function firstOf(path: readonly Step[], object: JsonObject): Json | undefined {
  try {
    return evaluateJsonPath(path, object)[0];
  } catch (error) {
    if (error instanceof JsonPathError) return undefined;
    throw error;
  }
}

const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)$/;

function ageOf(value: string, ages: Ages): string {
  if (value === '' || value === 'null') return ages.since(undefined);
  return rfc3339.test(value) ? ages.since(value) : '<invalid>';
}
