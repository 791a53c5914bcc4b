import { goQuote } from '../../status/go-quote.js';
import { badRequest } from '../../status/refusal.js';
import type { IncludeObject } from '../../table/make-table.js';
import { first, type Query } from './query-string.js';

const choices: readonly string[] = ['Metadata', 'Object', 'None'] satisfies IncludeObject[];

/** The part of each object that a Table includes (`TableOptions`). Throws 400. */
export function parseIncludeObject(query: Query): IncludeObject {
  const asked = first(query, 'includeObject') || 'Metadata';
  if (choices.includes(asked)) return asked as IncludeObject;
  const why = `includeObject: Invalid value: ${goQuote(asked)}: must be 'Metadata', 'Object', 'None', or empty`;
  throw badRequest(`Unable to convert to Table as requested: ${why}`);
}
