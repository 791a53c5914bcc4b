import { describe, expect, test } from 'vitest';
import { Refusal } from '../../status/refusal.js';
import { parseDeleteOptions } from './delete-options.js';
import { parseGetOptions, parseListOptions } from './list-options.js';
import { parseQuery } from './query-string.js';
import { parseWriteOptions, type WriteVerb } from './write-options.js';

/** What a reader of options is refused with: the words were taken from kube-apiserver v1.36.3. */
function refusal(read: () => unknown): string {
  try {
    read();
  } catch (error) {
    if (error instanceof Refusal) return `${error.status.code} ${error.message}`;
    throw error;
  }
  return 'none';
}

const list = (query: string) => parseListOptions(parseQuery(query), false);
const watch = (query: string) => parseListOptions(parseQuery(query), true);
const write = (query: string, verb: WriteVerb = 'create') => parseWriteOptions(parseQuery(query), verb, undefined);
const invalid = (kind: string, rest: string) => `422 ${kind}.meta.k8s.io "" is invalid: ${rest}`;

describe('a list', () => {
  test('has no options by default', () => {
    expect(list('foo=bar&limit=-1')).toEqual({
      labels: undefined,
      fields: undefined,
      watch: false,
      allowWatchBookmarks: false,
      resourceVersion: '',
      resourceVersionMatch: '',
      sendInitialEvents: undefined,
      timeoutSeconds: undefined,
      limit: 0,
      continue: '',
    });
  });

  test('takes the first of several values, and every text but false and 0 as true', () => {
    expect(list('limit=1&limit=2&allowWatchBookmarks=').limit).toBe(1);
    expect(list('allowWatchBookmarks=').allowWatchBookmarks).toBe(true);
    expect(list('allowWatchBookmarks=FALSE').allowWatchBookmarks).toBe(false);
    expect(list('labelSelector=a%3Db&fieldSelector=metadata.name%3Dx').labels?.toString()).toBe('a=b');
  });

  const match = 'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden';
  const values = 'resourceVersionMatch: Unsupported value: "Foo": supported values: "Exact", "NotOlderThan", ""';
  const unset = `${match} unless resourceVersion is provided`;
  test.each([
    ['limit=abc', '400 strconv.ParseInt: parsing "abc": invalid syntax'],
    ['limit=', '400 strconv.ParseInt: parsing "": invalid syntax'],
    ['limit=1.5', '400 strconv.ParseInt: parsing "1.5": invalid syntax'],
    ['limit=99999999999999999999', '400 strconv.ParseInt: parsing "99999999999999999999": value out of range'],
    ['timeoutSeconds=abc', '400 strconv.ParseInt: parsing "abc": invalid syntax'],
    ['resourceVersionMatch=Exact', invalid('ListOptions', unset)],
    ['resourceVersionMatch=Foo', invalid('ListOptions', `[${unset}, ${values}]`)],
    ['resourceVersionMatch=Foo&resourceVersion=1', invalid('ListOptions', values)],
    [
      'resourceVersionMatch=Exact&resourceVersion=0',
      invalid(
        'ListOptions',
        'resourceVersionMatch: Forbidden: resourceVersionMatch "exact" is forbidden for resourceVersion "0"',
      ),
    ],
    [
      'resourceVersionMatch=Exact&resourceVersion=1&continue=x',
      invalid('ListOptions', `${match} when continue is provided`),
    ],
    [
      'sendInitialEvents=false',
      invalid('ListOptions', 'sendInitialEvents: Forbidden: sendInitialEvents is forbidden for list'),
    ],
    [
      'resourceVersion=-1',
      '400 invalid resource version: resourceVersion: Invalid value: "-1": strconv.ParseUint: parsing "-1": invalid syntax',
    ],
    ['fieldSelector=foo', "400 invalid selector: 'foo'; can't understand 'foo'"],
    ['fieldSelector=a%3Db,c', "400 invalid selector: 'a=b,c'; can't understand 'c'"],
    ['fieldSelector=a%3Db%5C', '400 invalid field selector: invalid escape sequence: \\'],
    ['fieldSelector=a%3D%5Cx', '400 invalid field selector: invalid escape sequence: \\x'],
    ['fieldSelector=a%3Db%3Dc', '400 invalid field selector: unescaped character in value: 61'],
  ])('with %s is refused', (query, expected) => expect(refusal(() => list(query))).toBe(expected));

  test.each([
    ['==', "found '==', expected: !, identifier, or 'end of string'"],
    ['a in', "unable to parse requirement: found '' expected: '('"],
    ['a,', "found '', expected: identifier after ','"],
    ['a b', "unable to parse requirement: found 'b', expected: in, notin, =, ==, !=, gt, lt"],
    ['a=b c', "found 'c', expected: ',' or 'end of string'"],
    ['!=a', "found '!=', expected: !, identifier, or 'end of string'"],
    ['!,', "unable to parse requirement: found ',', expected: identifier"],
    ['a in (', "unable to parse requirement: found '', expected: ',', ')' or identifier"],
    ['a in (b', "unable to parse requirement: found '', expected: ',' or ')'"],
    ['a in (b,', "unable to parse requirement: found '', expected: ',', or identifier"],
    ['a=(', "unable to parse requirement: found '(', expected: identifier"],
    [
      'a>b',
      `unable to parse requirement: values[0]: Invalid value: "b": for 'Gt', 'Lt' operators, the value must be an integer`,
    ],
  ])('with the label selector %j is refused', (selector, message) => {
    expect(refusal(() => list(`labelSelector=${encodeURIComponent(selector)}`))).toBe(`400 ${message}`);
  });

  test.each(['-', 'a=-', 'a in (b,-)', 'a/b/c', '\u00a0', 'a in (b))', 'a=b=c'])(
    'with the label selector %j is refused in some words',
    (selector) => {
      expect(refusal(() => list(`labelSelector=${encodeURIComponent(selector)}`))).toMatch(/^400 ./);
    },
  );
});

describe('a watch', () => {
  test.each(['', 'resourceVersion=0', 'resourceVersion='])('with "%s" begins with the state', (query) => {
    expect(watch(query)).toMatchObject({ sendInitialEvents: true, resourceVersionMatch: 'NotOlderThan' });
  });

  test('from a revision does not', () => {
    expect(watch('resourceVersion=7')).toMatchObject({ sendInitialEvents: undefined, resourceVersionMatch: '' });
  });

  const requires =
    'resourceVersionMatch: Forbidden: sendInitialEvents requires setting resourceVersionMatch to NotOlderThan';
  const known = (value: string) =>
    `resourceVersionMatch: Unsupported value: "${value}": supported values: "NotOlderThan"`;
  test.each([
    ['sendInitialEvents=true', invalid('ListOptions', requires)],
    [
      'sendInitialEvents=true&resourceVersionMatch=Exact&resourceVersion=1',
      invalid('ListOptions', `[${requires}, ${known('Exact')}]`),
    ],
    [
      'resourceVersionMatch=NotOlderThan',
      invalid(
        'ListOptions',
        'resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden for watch unless sendInitialEvents is provided',
      ),
    ],
    [
      'resourceVersionMatch=Foo&sendInitialEvents=true&continue=x',
      invalid(
        'ListOptions',
        `[${requires}, ${known('Foo')}, resourceVersionMatch: Forbidden: resourceVersionMatch is forbidden when continue is provided]`,
      ),
    ],
    [
      'resourceVersion=abc',
      '500 resourceVersion: Invalid value: "abc": strconv.ParseUint: parsing "abc": invalid syntax',
    ],
  ])('with %s is refused', (query, expected) => expect(refusal(() => watch(query))).toBe(expected));
});

test('a get takes a resourceVersion', () => {
  const query = parseQuery('resourceVersion=5');
  expect(parseGetOptions(query)).toEqual({ resourceVersion: '5', query });
  expect(refusal(() => parseGetOptions(parseQuery('resourceVersion=99999999999999999999')))).toContain('out of range');
});

describe('a write', () => {
  test('warns about unknown fields by default, and is named after the user agent', () => {
    const expected = { dryRun: false, fieldValidation: 'Warn', force: false, given: {} };
    expect(write('')).toEqual({ ...expected, fieldManager: 'unknown' });
    const query = parseQuery('dryRun=All&dryRun=All&fieldValidation=Strict');
    expect(parseWriteOptions(query, 'update', 'kubectl/v1.36.3 (linux)')).toEqual({
      ...expected,
      dryRun: true,
      fieldValidation: 'Strict',
      fieldManager: 'kubectl',
      given: { dryRun: ['All', 'All'], fieldValidation: 'Strict' },
    });
    expect(parseWriteOptions(parseQuery('fieldManager=me'), 'create', 'x/1').fieldManager).toBe('me');
    expect(parseWriteOptions(parseQuery(''), 'create', `${'é'.repeat(100)}\u0000/1`).fieldManager).toBe('é'.repeat(64));
  });

  const dryRun = (value: string) => `dryRun: Unsupported value: ${value}: supported values: "All"`;
  const validation = (value: string) =>
    `fieldValidation: Unsupported value: "${value}": supported values: "", "Ignore", "Strict", "Warn"`;
  const character = (text: string, code: string, at: number) =>
    `fieldManager: Invalid value: "${text}": invalid character ${code} (at position ${at})`;
  test.each<[string, WriteVerb, string]>([
    ['dryRun=Foo', 'create', invalid('CreateOptions', dryRun('["Foo"]'))],
    ['dryRun=', 'update', invalid('UpdateOptions', dryRun('[""]'))],
    ['dryRun=All&dryRun=x', 'patch', invalid('PatchOptions', dryRun('["All","x"]'))],
    [
      `fieldManager=${'x'.repeat(129)}`,
      'create',
      invalid('CreateOptions', 'fieldManager: Too long: may not be more than 128 bytes'),
    ],
    ['fieldManager=a%00b', 'create', invalid('CreateOptions', character('a\\x00b', 'U+0000', 1))],
    ['fieldManager=%0a', 'create', invalid('CreateOptions', character('\\n', 'U+000A', 0))],
    ['fieldManager=%C3%A9%E2%80%8Bb', 'create', invalid('CreateOptions', character('é\\u200bb', 'U+200B', 2))],
    ['fieldValidation=strict', 'create', invalid('CreateOptions', validation('strict'))],
    [
      'dryRun=Foo&fieldValidation=x&fieldManager=%01',
      'create',
      invalid('CreateOptions', `[${character('\\x01', 'U+0001', 0)}, ${dryRun('["Foo"]')}, ${validation('x')}]`),
    ],
    ['force=foo', 'patch', invalid('PatchOptions', 'force: Forbidden: may not be specified for non-apply patch')],
    ['force=true', 'apply', invalid('PatchOptions', 'fieldManager: Required value: is required for apply patch')],
    ['force=true&fieldManager=x', 'apply', 'none'],
    ['force=true', 'create', 'none'],
    ['fieldManager=%ff', 'create', 'none'],
  ])('with %s (%s)', (query, verb, expected) => expect(refusal(() => write(query, verb))).toBe(expected));
});

describe('a deletion', () => {
  const ofQuery = (query: string) => parseDeleteOptions(parseQuery(query), undefined);
  const ofBody = (body: Parameters<typeof parseDeleteOptions>[1]) => parseDeleteOptions(parseQuery('dryRun=x'), body);

  test('reads the query, or the body in place of it', () => {
    expect(ofQuery('gracePeriodSeconds=-1&propagationPolicy=Orphan&dryRun=All&uid=u')).toEqual({
      dryRun: true,
      gracePeriodSeconds: -1,
      propagationPolicy: 'Orphan',
      orphanDependents: undefined,
      preconditions: { uid: 'u' },
      given: {
        ...{ gracePeriodSeconds: -1, propagationPolicy: 'Orphan', preconditions: { uid: 'u' }, dryRun: ['All'] },
      },
    });
    const options = { kind: 'DeleteOptions', apiVersion: 'foo/v9', gracePeriodSeconds: 3, orphanDependents: null };
    expect(ofBody({ ...options, preconditions: { resourceVersion: '7' } })).toMatchObject({
      dryRun: false,
      gracePeriodSeconds: 3,
      orphanDependents: undefined,
      preconditions: { resourceVersion: '7' },
    });
  });

  const policies = (value: string) =>
    `propagationPolicy: Unsupported value: "${value}": supported values: "Foreground", "Background", "Orphan", "nil"`;
  test.each([
    ['propagationPolicy=Foo', invalid('DeleteOptions', policies('Foo'))],
    ['propagationPolicy=', invalid('DeleteOptions', policies(''))],
    [
      'orphanDependents=true&propagationPolicy=Orphan',
      invalid(
        'DeleteOptions',
        'propagationPolicy: Invalid value: "Orphan": orphanDependents and deletionPropagation cannot be both set',
      ),
    ],
    ['gracePeriodSeconds=', '400 strconv.ParseInt: parsing "": invalid syntax'],
  ])('with %s in the query is refused', (query, expected) => expect(refusal(() => ofQuery(query))).toBe(expected));

  const unmarshal = (what: string, where: string, type: string) =>
    `400 json: cannot unmarshal ${what} into Go struct field ${where} of type ${type}`;
  test.each([
    [
      { kind: 'Foo' },
      '400 no kind "Foo" is registered for version "meta.k8s.io/v1" in scheme "pkg/runtime/scheme.go:111"',
    ],
    [{ gracePeriodSeconds: 'x' }, unmarshal('string', 'DeleteOptions.gracePeriodSeconds', 'int64')],
    [{ gracePeriodSeconds: 1.5 }, unmarshal('number 1.5', 'DeleteOptions.gracePeriodSeconds', 'int64')],
    [{ dryRun: 'All' }, unmarshal('string', 'DeleteOptions.dryRun', '[]string')],
    [{ orphanDependents: 'x' }, unmarshal('string', 'DeleteOptions.orphanDependents', 'bool')],
    [{ preconditions: { uid: 5 } }, unmarshal('number', 'Preconditions.preconditions.uid', 'types.UID')],
    [{ dryRun: ['Foo'] }, invalid('DeleteOptions', 'dryRun: Unsupported value: ["Foo"]: supported values: "All"')],
  ])('with the body %j is refused', (body, expected) => expect(refusal(() => ofBody(body))).toBe(expected));
});
