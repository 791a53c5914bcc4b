import { type FieldSelector, parseFieldSelector, parseSelector, type Selector } from 'riata/object';
import { type FieldError, forbidden, notSupported } from '../../status/field-error.js';
import { goQuote } from '../../status/go-quote.js';
import { badRequest, Refusal } from '../../status/refusal.js';
import { labelSelectorError } from './label-selector-error.js';
import { first, type Query } from './query-string.js';
import { refuseOptions, truth, wholeNumber } from './query-values.js';

/** The options of a GET of one object (`metav1.GetOptions`). */
export interface GetOptions {
  /** `''` if not given. */
  readonly resourceVersion: string;
}

/** The same with all else that was asked, for subresources that have options of their own. */
export interface ReadOptions extends GetOptions {
  readonly query: Query;
}

/** The options of a list, a watch or a deletion of a collection (`metav1.ListOptions`). */
export interface ListOptions extends GetOptions {
  readonly labels: Selector | undefined;
  readonly fields: FieldSelector | undefined;
  readonly watch: boolean;
  readonly allowWatchBookmarks: boolean;
  /** `''` if not given. */
  readonly resourceVersionMatch: '' | 'Exact' | 'NotOlderThan';
  /** For a watch without resourceVersion, or with 0, it is on, together with `NotOlderThan`. */
  readonly sendInitialEvents: boolean | undefined;
  readonly timeoutSeconds: number | undefined;
  /** 0: no limit. */
  readonly limit: number;
  /** `''` if not given. */
  readonly continue: string;
}

/** Reads the options of a GET. Throws as kube-apiserver does for a resourceVersion that is no number: a 500. */
export function parseGetOptions(query: Query): ReadOptions {
  const resourceVersion = first(query, 'resourceVersion') ?? '';
  const problem = revisionProblem(resourceVersion);
  if (problem !== undefined) throw new Refusal(500, '', problem);
  return { resourceVersion, query };
}

/**
 * Reads and checks the options of a list or, with `watch`, of a watch. Throws 400 for what cannot be read and 422 for
 * combinations that mean nothing.
 */
export function parseListOptions(query: Query, watch: boolean): ListOptions {
  const timeoutSeconds = wholeNumber(query, 'timeoutSeconds');
  const limit = wholeNumber(query, 'limit') ?? 0;
  const options = withDefaults({
    labels: readLabels(first(query, 'labelSelector')),
    fields: readFields(first(query, 'fieldSelector')),
    watch,
    allowWatchBookmarks: truth(query, 'allowWatchBookmarks') ?? false,
    resourceVersion: first(query, 'resourceVersion') ?? '',
    resourceVersionMatch: (first(query, 'resourceVersionMatch') ?? '') as ListOptions['resourceVersionMatch'],
    sendInitialEvents: truth(query, 'sendInitialEvents'),
    timeoutSeconds,
    limit: Math.max(limit, 0),
    continue: first(query, 'continue') ?? '',
  });
  refuseOptions('ListOptions', watch ? watchProblems(options) : listProblems(options));
  const problem = options.continue === '' ? revisionProblem(options.resourceVersion) : undefined;
  if (problem !== undefined && watch) throw new Refusal(500, '', problem);
  if (problem !== undefined) throw badRequest(`invalid resource version: ${problem}`);
  return options;
}

/** The problems of a resourceVersion that is not a number. */
function revisionProblem(text: string): string | undefined {
  if (text === '' || (/^[0-9]+$/.test(text) && text.length <= 20 && BigInt(text) < 2n ** 64n)) return undefined;
  const why = /^[0-9]+$/.test(text) ? 'value out of range' : 'invalid syntax';
  return `resourceVersion: Invalid value: ${goQuote(text)}: strconv.ParseUint: parsing ${goQuote(text)}: ${why}`;
}

/** A watch from the start gets the state first. */
function withDefaults(options: ListOptions): ListOptions {
  const { watch, sendInitialEvents, resourceVersionMatch, resourceVersion } = options;
  if (!watch || sendInitialEvents !== undefined || resourceVersionMatch !== '') return options;
  if (resourceVersion !== '' && resourceVersion !== '0') return options;
  return { ...options, sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' };
}

const field = 'resourceVersionMatch';

function listProblems(options: ListOptions): readonly FieldError[] {
  const match: string = options.resourceVersionMatch;
  const problems: FieldError[] = [];
  if (match !== '') {
    if (options.resourceVersion === '') {
      problems.push(forbidden(field, `${field} is forbidden unless resourceVersion is provided`));
    }
    if (options.continue !== '') problems.push(forbidden(field, `${field} is forbidden when continue is provided`));
    const known = ['Exact', 'NotOlderThan', ''];
    if (!known.includes(match)) problems.push(notSupported(field, match, known));
    if (match === 'Exact' && options.resourceVersion === '0') {
      problems.push(forbidden(field, `${field} "exact" is forbidden for resourceVersion "0"`));
    }
  }
  if (options.sendInitialEvents !== undefined) {
    problems.push(forbidden('sendInitialEvents', 'sendInitialEvents is forbidden for list'));
  }
  return problems;
}

function watchProblems(options: ListOptions): readonly FieldError[] {
  const match: string = options.resourceVersionMatch;
  const problems: FieldError[] = [];
  if (options.sendInitialEvents !== undefined && match !== 'NotOlderThan') {
    problems.push(forbidden(field, `sendInitialEvents requires setting ${field} to NotOlderThan`));
  }
  if (match === '') return problems;
  if (options.sendInitialEvents === undefined) {
    problems.push(forbidden(field, `${field} is forbidden for watch unless sendInitialEvents is provided`));
  }
  if (match !== 'NotOlderThan') problems.push(notSupported(field, match, ['NotOlderThan']));
  if (options.continue !== '') problems.push(forbidden(field, `${field} is forbidden when continue is provided`));
  return problems;
}

function readLabels(text: string | undefined): Selector | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return parseSelector(text);
  } catch {
    throw badRequest(labelSelectorError(text));
  }
}

function readFields(text: string | undefined): FieldSelector | undefined {
  if (text === undefined || text === '') return undefined;
  try {
    return parseFieldSelector(text);
  } catch {
    throw badRequest(fieldSelectorError(text));
  }
}

/** The error of kube-apiserver for a malformed field selector. */
function fieldSelectorError(text: string): string {
  // Commas part terms, unless a backslash stands before them.
  for (const term of text.match(/(?:\\[\s\S]|[^,\\]|\\$)+/g) ?? []) {
    const operator = /!=|==|=/.exec(term);
    if (operator === null) return `invalid selector: '${text}'; can't understand '${term}'`;
    const value = term.slice(operator.index + operator[0].length);
    const [, sequence, odd] = /^(?:\\[\\,=]|[^\\,=])*(?:(\\[\s\S]?)|([,=]))/.exec(value) ?? [];
    if (sequence !== undefined) return `invalid field selector: invalid escape sequence: ${sequence}`;
    if (odd !== undefined) return `invalid field selector: unescaped character in value: ${odd.charCodeAt(0)}`;
  }
  return `invalid selector: '${text}'`;
}
