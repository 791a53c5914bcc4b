import { Buffer } from 'node:buffer';
import type { JsonObject } from 'riata/object';
import { type FieldError, forbidden, notSupported, required, tooLong } from '../../status/field-error.js';
import { goQuote, isPrintable } from '../../status/go-quote.js';
import { first, type Query } from './query-string.js';
import { dryRunProblems, refuseOptions, truth } from './query-values.js';

/** Options of a create, update or patch (`metav1.CreateOptions` and the like). */
export interface WriteOptions {
  /** Everything is done but stored. */
  readonly dryRun: boolean;
  /** Who writes: as given, else the first word of the user agent. Never empty. */
  readonly fieldManager: string;
  /** What becomes of unknown and duplicate fields. */
  readonly fieldValidation: 'Strict' | 'Warn' | 'Ignore';
  /** Apply only: takes conflicting fields over. */
  readonly force: boolean;
  /** As admission control is shown them: what was given, and no more. */
  readonly given: JsonObject;
}

/** Which write it is: `apply` is the patch that has rules of its own. */
export type WriteVerb = 'create' | 'update' | 'patch' | 'apply';

const kinds: Readonly<Record<WriteVerb, string>> = {
  create: 'CreateOptions',
  update: 'UpdateOptions',
  patch: 'PatchOptions',
  apply: 'PatchOptions',
};
const validations = ['', 'Ignore', 'Strict', 'Warn'];
const maxManagerBytes = 128;

/** Reads and checks the options of a write. Throws 422. */
export function parseWriteOptions(query: Query, verb: WriteVerb, userAgent: string | undefined): WriteOptions {
  const manager = first(query, 'fieldManager') ?? '';
  const dryRun = query.get('dryRun') ?? [];
  const validation = first(query, 'fieldValidation') ?? '';
  const force = truth(query, 'force');
  const problems: FieldError[] = [];
  if (verb === 'apply' && manager === '') problems.push(required('fieldManager', 'is required for apply patch'));
  if (verb === 'patch' && force !== undefined) {
    problems.push(forbidden('force', 'may not be specified for non-apply patch'));
  }
  problems.push(...managerProblems(manager), ...dryRunProblems(dryRun));
  if (!validations.includes(validation)) problems.push(notSupported('fieldValidation', validation, validations));
  refuseOptions(kinds[verb], problems);
  return {
    dryRun: dryRun.length > 0,
    fieldManager: manager === '' ? managerFrom(userAgent) : manager,
    fieldValidation: validation === '' ? 'Warn' : (validation as WriteOptions['fieldValidation']),
    force: force ?? false,
    given: {
      ...(dryRun.length === 0 ? {} : { dryRun }),
      ...(manager === '' ? {} : { fieldManager: manager }),
      ...(validation === '' ? {} : { fieldValidation: validation }),
    },
  };
}

function managerProblems(manager: string): readonly FieldError[] {
  const problems: FieldError[] = [];
  if (Buffer.byteLength(manager) > maxManagerBytes) problems.push(tooLong('fieldManager', maxManagerBytes));
  let at = 0;
  for (const character of manager) {
    if (!isPrintable(character)) {
      const code = `U+${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
      const body = `Invalid value: ${goQuote(manager)}: invalid character ${code} (at position ${at})`;
      problems.push({ type: 'FieldValueInvalid', field: 'fieldManager', body });
    }
    at += Buffer.byteLength(character);
  }
  return problems;
}

/** The default field manager: the user agent up to its slash. */
function managerFrom(userAgent = ''): string {
  const [name = ''] = userAgent.split('/', 1);
  let bytes = 0;
  let manager = '';
  for (const character of name) {
    bytes += Buffer.byteLength(character);
    if (bytes > maxManagerBytes) break;
    if (isPrintable(character)) manager += character;
  }
  return manager === '' ? 'unknown' : manager;
}
