import { expect, test } from 'vitest';
import { controllerHref, objectHref, parseRoute, titleOf } from './route.js';

test('addresses lead back to what they were made of', () => {
  const ref = { apiVersion: 'apps/v1', kind: 'Deployment', namespace: 'a&b', name: 'c d', cluster: 'north' };
  expect(parseRoute(objectHref(ref))).toEqual({ page: 'object', ref });
  expect(parseRoute(controllerHref('a/b'))).toEqual({ page: 'controller', name: 'a/b' });
  expect(parseRoute('#/search?q=x&kind=Pod&apiVersion=v1')).toEqual({
    page: 'search',
    q: 'x',
    kind: 'Pod',
    apiVersion: 'v1',
  });
});

test('each page has a title', () => {
  const titles = ['#/', '#/controller/site', '#/search?q=web', '#/object?apiVersion=v1&kind=Pod&namespace=a&name=b'];
  expect(titles.map((hash) => titleOf(parseRoute(hash)))).toEqual([
    ...['Overview · Riata', 'site · Riata', '“web” · Riata', 'Pod a/b · Riata'],
  ]);
});

test('a malformed address is taken as it is', () => {
  expect(parseRoute('#/controller/100%')).toEqual({ page: 'controller', name: '100%' });
});

test('anything unknown is the overview', () => {
  for (const hash of ['', '#/', '#/nothing', '#/object?name=a', '#/controller/']) {
    expect(parseRoute(hash)).toEqual({ page: 'overview' });
  }
});
