import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { PathError, parseRequestInfo } from './request-info.js';

/** `verb group/version namespace resource name subresource` of a request, `-` for what is empty. */
function read(method: string, path: string): string {
  const info = parseRequestInfo(method, path);
  if (!info.isResource) return `${info.verb} ${info.path}`;
  const { verb, group, version, namespace, resource, name, subresource } = info;
  return [verb, `${group}/${version}`, namespace, resource, name, subresource].map((part) => part || '-').join(' ');
}

describe('a request for a resource', () => {
  test.each([
    ['GET', '/api/v1/namespaces', 'list /v1 - namespaces - -'],
    ['GET', '/api/v1/namespaces/shop', 'get /v1 shop namespaces shop -'],
    ['PUT', '/api/v1/namespaces/shop/finalize', 'update /v1 shop namespaces shop finalize'],
    ['GET', '/api/v1/namespaces/shop/status', 'get /v1 shop namespaces shop status'],
    ['GET', '/api/v1/pods', 'list /v1 - pods - -'],
    ['HEAD', '/api/v1/nodes/n', 'get /v1 - nodes n -'],
    ['GET', '/api/v1/namespaces/shop/pods', 'list /v1 shop pods - -'],
    ['GET', '/api/v1/namespaces/shop/pods/', 'list /v1 shop pods - -'],
    ['GET', '/api/v1/namespaces/shop/pods/p', 'get /v1 shop pods p -'],
    ['POST', '/api/v1/namespaces/shop/pods/p/binding', 'create /v1 shop pods p binding'],
    ['POST', '/apis/apps/v1/namespaces/shop/deployments', 'create apps/v1 shop deployments - -'],
    ['PATCH', '/apis/apps/v1/namespaces/shop/deployments/d/scale', 'patch apps/v1 shop deployments d scale'],
    ['DELETE', '/apis/apps/v1/namespaces/shop/deployments', 'deletecollection apps/v1 shop deployments - -'],
    ['DELETE', '/apis/apps/v1/namespaces/shop/deployments/d', 'delete apps/v1 shop deployments d -'],
    ['GET', '/api/v1/pods?watch=true', 'watch /v1 - pods - -'],
    ['GET', '/api/v1/pods?watch', 'watch /v1 - pods - -'],
    ['GET', '/api/v1/pods?watch=anything', 'watch /v1 - pods - -'],
    ['GET', '/api/v1/pods?watch=False', 'list /v1 - pods - -'],
    ['GET', '/api/v1/pods?watch=0', 'list /v1 - pods - -'],
    ['GET', '/api/v1/namespaces/shop/pods/p?watch=true', 'get /v1 shop pods p -'],
    ['GET', '/api/v1/watch/pods', 'watch /v1 - pods - -'],
    ['GET', '/api/v1/watch/namespaces/shop/pods/p', 'watch /v1 shop pods p -'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3Dp', 'list /v1 - pods p -'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name%3D..', 'list /v1 - pods - -'],
    ['GET', '/api/v1/pods?fieldSelector=metadata.name!%3Dp', 'list /v1 - pods - -'],
    ['GET', '/api/v1/pods?fieldSelector=odd', 'list /v1 - pods - -'],
    ['OPTIONS', '/api/v1/pods', '- /v1 - pods - -'],
    ['GET', '/api/v1//pods', 'get /v1 - - pods -'],
    ['GET', '/api/v1/namespaces/a%20b/pods/c%25d', 'get /v1 a b pods c%d -'],
    ['GET', '/api/v1/namespaces/shop/pods/a%2Fb', 'get /v1 shop pods a b'],
    ['GET', '/api/v1/namespaces/shop/pods/%ff', 'get /v1 shop pods \ufffd -'],
  ])('%s %s', (method, path, expected) => expect(read(method, path)).toBe(expected));
});

describe('a request for something else', () => {
  test.each([
    ['GET', '/', 'get /'],
    ['GET', '/api', 'get /api'],
    ['GET', '/api/v1', 'get /api/v1'],
    ['GET', '/apis/apps/v1', 'get /apis/apps/v1'],
    ['POST', '/healthz?verbose', 'post /healthz'],
    ['GET', '/%61pi', 'get /api'],
  ])('%s %s', (method, path, expected) => expect(read(method, path)).toBe(expected));
});

test.each([
  ['/api/v1/pods/%zz', 400, '400 Bad Request'],
  ['no-slash', 400, '400 Bad Request'],
  ['/api/v1/watch', 500, 'Internal Server Error: "/api/v1/watch": failed to create RequestInfo'],
])('%s cannot be read', (path, code, message) => {
  const error = (() => {
    try {
      return parseRequestInfo('GET', path);
    } catch (thrown) {
      return thrown;
    }
  })();
  expect(error).toBeInstanceOf(PathError);
  expect(error).toMatchObject({ code, message: expect.stringContaining(message) });
});

test('whatever comes is read or refused', () => {
  const piece = fc.oneof(
    fc.constantFrom('/', 'api', 'apis', 'v1', 'watch', 'namespaces', '?', '%', '%2f', '&', '=', 'fieldSelector'),
    fc.string(),
  );
  const path = fc.array(piece, { maxLength: 12 }).map((parts) => parts.join(''));
  fc.assert(
    fc.property(fc.string(), path, (method, rest) => {
      try {
        expect(parseRequestInfo(method, `/${rest}`).path.startsWith('/')).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(PathError);
      }
    }),
    { numRuns: 500 },
  );
});
