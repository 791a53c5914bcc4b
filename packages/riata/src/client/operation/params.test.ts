import { describe, expect, test } from 'vitest';
import { parseFieldSelector } from '../../object/selector/field-selector.js';
import { nothing, parseSelector } from '../../object/selector/label-selector.js';
import { deleteBody, getParams, listParams, watchParams, writeParams } from './params.js';

describe('selectors', () => {
  test.each([
    ['a text goes as it is', 'app=web,!x', 'app=web,!x'],
    ['a parsed one prints itself', parseSelector('b in (y,x),a=1'), 'a=1,b in (x,y)'],
    ['an object as workloads carry it', { matchLabels: { app: 'web' } }, 'app=web'],
    [
      'an object with expressions',
      { matchExpressions: [{ key: 'tier', operator: 'In', values: ['b', 'a'] }] },
      'tier in (a,b)',
    ],
    ['an empty object is everything', {}, undefined],
    ['an empty text is everything', '', undefined],
    ['nothing at all', undefined, undefined],
    ['one without a prototype', Object.assign(Object.create(null), { matchLabels: { a: 'b' } }), 'a=b'],
  ])('%s', (_, labelSelector, expected) => {
    expect(listParams({ labelSelector }).labelSelector).toBe(expected);
    expect(watchParams({ labelSelector }).labelSelector).toBe(expected);
  });

  test('the selector of nothing is not the selector of everything', () => {
    expect(listParams({ labelSelector: nothing() }).labelSelector).toMatch(/^!(\S+),\1$/);
  });

  test('a plain map of labels, whatever they are called', () => {
    expect(listParams({ labelSelector: { app: 'web', tier: '' } }).labelSelector).toBe('app=web,tier=');
    expect(listParams({ labelSelector: { matchLabels: 'x' } as never }).labelSelector).toBe('matchLabels=x');
    expect(listParams({ labelSelector: {} }).labelSelector).toBeUndefined();
  });

  test('what is neither a map of labels nor a selector object is refused, as it would select everything', () => {
    for (const labelSelector of [{ app: 1 }, { app: 'web', matchLabels: { a: 'b' } }, { app: undefined }]) {
      expect(() => listParams({ labelSelector: labelSelector as never })).toThrow(
        'labelSelector: expected a map of labels, or matchLabels and matchExpressions, got "app"',
      );
    }
  });

  test('null and lists are no selectors', () => {
    expect(() => listParams({ labelSelector: null as never })).toThrow(
      'labelSelector: expected a text, a map of labels',
    );
    expect(() => listParams({ labelSelector: ['app=web'] as never })).toThrow('got an array');
    expect(() => listParams({ fieldSelector: null as never })).toThrow(
      'fieldSelector: expected a text, a map of fields',
    );
    expect(() => listParams({ fieldSelector: ['a.b=c'] as never })).toThrow('got an array');
  });

  test('fields: a text, a map, or parsed', () => {
    expect(listParams({ fieldSelector: 'a.b=c' })).toEqual({ fieldSelector: 'a.b=c' });
    expect(listParams({ fieldSelector: { 'a.b': 'x,y' } })).toEqual({ fieldSelector: 'a.b=x\\,y' });
    expect(listParams({ fieldSelector: parseFieldSelector('a!=b') })).toEqual({ fieldSelector: 'a!=b' });
    expect(listParams({ fieldSelector: {} })).toEqual({});
  });
});

test('get', () => {
  expect(getParams({})).toEqual({});
  expect(getParams({ resourceVersion: '' })).toEqual({ resourceVersion: '' });
});

test('list', () => {
  expect(listParams({})).toEqual({});
  expect(
    listParams({ limit: 5, continue: 't', resourceVersion: '0', resourceVersionMatch: 'Exact', namespace: 'x' }),
  ).toEqual({ limit: '5', continue: 't', resourceVersion: '0', resourceVersionMatch: 'Exact' });
});

describe('watch', () => {
  test('bookmarks by default', () => {
    expect(watchParams({})).toEqual({ allowWatchBookmarks: 'true' });
    expect(watchParams({ allowWatchBookmarks: false, timeoutSeconds: 30, resourceVersion: '5' })).toEqual({
      allowWatchBookmarks: 'false',
      timeoutSeconds: '30',
      resourceVersion: '5',
    });
  });

  test('initial events come with the match that servers want beside them', () => {
    expect(watchParams({ sendInitialEvents: true })).toMatchObject({
      sendInitialEvents: 'true',
      resourceVersionMatch: 'NotOlderThan',
    });
    expect(watchParams({ sendInitialEvents: false }).resourceVersionMatch).toBe('NotOlderThan');
  });
});

test('write', () => {
  expect(writeParams({ dryRun: false, fieldManager: '' })).toEqual({});
  expect(writeParams({ dryRun: true, fieldManager: 'me', fieldValidation: 'Warn', force: false })).toEqual({
    dryRun: 'All',
    fieldManager: 'me',
    fieldValidation: 'Warn',
    force: 'false',
  });
});

describe('delete', () => {
  test('nothing to say is no body', () => {
    expect(deleteBody({})).toBeUndefined();
    expect(deleteBody({ dryRun: false })).toBeUndefined();
  });

  test('no grace is something to say', () => {
    expect(deleteBody({ gracePeriodSeconds: 0 })).toEqual({
      apiVersion: 'v1',
      kind: 'DeleteOptions',
      gracePeriodSeconds: 0,
    });
  });
});
