import { describe, expect, test } from 'vitest';
import { Refusal } from '../../status/refusal.js';
import { parseRequestInfo } from '../request-info.js';
import type { ServerRequest } from '../server-request.js';
import { mediaTypeOf } from './media-type.js';
import {
  checkRouteAccepts,
  discoveryTransforms,
  listProduces,
  type Negotiated,
  negotiate,
  negotiateStream,
  objectProduces,
  objectTransforms,
  type Transforms,
  tryNegotiate,
} from './negotiate.js';

function asking(accept: string | undefined, path = '/api/v1/pods', more: Record<string, string> = {}) {
  const { signal } = new AbortController();
  const request: ServerRequest = { method: 'GET', path, headers: { accept, ...more }, body: new Uint8Array(), signal };
  return { request, info: parseRequestInfo('GET', path) };
}

function short({ mediaType, pretty, as }: Negotiated): string {
  const conversion = as === undefined ? '' : ` ${as.kind}.${as.version}.${as.group}`;
  return `${mediaType.slice('application/'.length)}${pretty ? ' pretty' : ''}${conversion}`;
}

function outcome(accept: string | undefined, transforms: Transforms = objectTransforms, path?: string): string {
  const { request, info } = asking(accept, path);
  try {
    return short(negotiate(request, info, transforms));
  } catch (error) {
    if (error instanceof Refusal) return `${error.status.code} ${error.message}`;
    throw error;
  }
}

const refused =
  '406 only the following media types are accepted: ' +
  'application/json, application/yaml, application/vnd.kubernetes.protobuf';
const partial = 'application/json;as=PartialObjectMetadata;v=v1;g=meta.k8s.io';
const table = 'application/json;as=Table;v=v1;g=meta.k8s.io';

describe('the form of an answer', () => {
  test.each([
    [undefined, 'json'],
    ['*/*', 'json'],
    ['application/*', 'json'],
    ['application/json', 'json'],
    ['application/yaml', 'yaml'],
    ['text/html, */*;q=0.1', 'json'],
    ['application/json;q=0.1, application/yaml', 'yaml'],
    ['application/json;q=0', 'json'],
    ['application/json; q=foo', 'json'],
    ['application/json;charset=utf-8', 'json'],
    ['application/json;stream=watch', 'json'],
    ['application/json;pretty=1', 'json pretty'],
    ['application/vnd.kubernetes.protobuf,application/json', 'vnd.kubernetes.protobuf'],
    ['application/json,application/vnd.kubernetes.protobuf', 'json'],
    ['application/json;q=0.5,application/vnd.kubernetes.protobuf', 'vnd.kubernetes.protobuf'],
    [partial, 'json PartialObjectMetadata.v1.meta.k8s.io'],
    [
      'application/yaml;as=PartialObjectMetadataList;v=v1beta1;g=meta.k8s.io',
      'yaml PartialObjectMetadataList.v1beta1.meta.k8s.io',
    ],
    [`${table},application/json`, 'json Table.v1.meta.k8s.io'],
    ['application/vnd.kubernetes.protobuf;as=Table;v=v1;g=meta.k8s.io,application/json', 'json'],
    ['application/vnd.kubernetes.protobuf;stream=watch', 'vnd.kubernetes.protobuf'],
    ['text/html', refused],
    ['application/json;as=Foo;v=v1;g=meta.k8s.io', refused],
    ['application/json;stream=foo', refused],
    ['application/yaml;stream=watch', refused],
    ['APPLICATION/JSON', refused],
    [';', refused],
    [',,/,', refused],
  ])('for %s is %s', (accept, expected) => expect(outcome(accept)).toBe(expected));

  test.each([
    ['application/vnd.kubernetes.protobuf', undefined],
    ['application/vnd.kubernetes.protobuf,application/json', 'json'],
    [
      'application/vnd.kubernetes.protobuf;as=PartialObjectMetadata;v=v1;g=meta.k8s.io',
      'vnd.kubernetes.protobuf PartialObjectMetadata.v1.meta.k8s.io',
    ],
  ])('of what has no messages, for %s, is %s', (accept, expected) => {
    const { request, info } = asking(accept);
    const found = tryNegotiate(request, info, objectTransforms, true);
    expect(found && short(found)).toBe(expected);
  });

  test('of discovery may be aggregated, in version 2', () => {
    const aggregated = (v: string) => `application/json;g=apidiscovery.k8s.io;v=${v};as=APIGroupDiscoveryList`;
    const all = `${aggregated('v2')},${aggregated('v2beta1')},application/json`;
    expect(outcome(all, discoveryTransforms)).toBe('json APIGroupDiscoveryList.v2.apidiscovery.k8s.io');
    expect(outcome(aggregated('v2beta1'), discoveryTransforms)).toMatch(/^406/);
  });

  test('is for people when asked for, or when the client is one of theirs', () => {
    expect(outcome('*/*', objectTransforms, '/api/v1/pods?pretty=true')).toBe('json pretty');
    expect(outcome('*/*', objectTransforms, '/api/v1/pods?pretty=foo')).toBe('json');
    const curl = (path: string) => {
      const { request, info } = asking('*/*', path, { 'user-agent': 'curl/8' });
      return short(negotiate(request, info, objectTransforms));
    };
    expect(curl('/api/v1/pods')).toBe('json pretty');
    expect(curl('/api/v1/pods?pretty=0')).toBe('json');
  });

  test('of a watch is never YAML', () => {
    const { request, info } = asking('application/yaml');
    expect(() => negotiateStream(request, info, objectTransforms)).toThrow('application/json;stream=watch');
    const json = asking(partial);
    expect(short(negotiateStream(json.request, json.info, objectTransforms))).toContain('PartialObjectMetadata');
  });
});

test('built-in endpoints ask for one of their types by name', () => {
  const check = (accept: string | undefined, produces = objectProduces) =>
    checkRouteAccepts(asking(accept).request, produces);
  for (const accept of [undefined, '*/*', 'a/b, application/yaml;q=0', table])
    expect(() => check(accept)).not.toThrow();
  const available = '406: Not Acceptable\n\nAvailable representations: application/json, application/yaml, ';
  for (const accept of ['application/*', 'text/html', 'APPLICATION/JSON']) {
    expect(() => check(accept)).toThrow(available);
  }
  expect(() => check('text/html', listProduces)).toThrow('application/json;stream=watch');
});

test.each([
  ['application/json', 'application/json'],
  [' application/JSON ; charset=latin1', 'application/json'],
  ['application/json;', 'application/json'],
  ['json', undefined],
  [';;', undefined],
  ['a/b/c', undefined],
  ['a b/c', undefined],
])('the media type of "%s" is %s', (header, expected) => expect(mediaTypeOf(header)).toBe(expected));
