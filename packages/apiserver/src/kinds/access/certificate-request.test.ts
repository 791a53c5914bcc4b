import { Buffer } from 'node:buffer';
import { describe, expect, test } from 'vitest';
import { certificateRequestProblem } from './certificate-request.js';

/** Made by openssl, in DER. */
const requests = {
  RSA: [
    'MIICUTCCATkCAQAwDDEKMAgGA1UEAwwBcjCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBALQEN4oNPiDvcCLmx9dkENEcQmXp',
    'O/u5dZqkl+7Ua7WtdfRNgH5ugjKOqVWaR2B2miyN1IZjwD8ol7CWCT46Wyebx1vksN6zlMtRCrINqztaeJu0N+EiZ7xKQMGkFzJW93hx',
    'x8DD37243QQ1W/ZN1lqKWFVTDeoWYZbnstfsTb/xomva1G9MCMFbhrW6/TLVnfb6ANyqHXqUvaVsa1QaVMEO8liiVbmH4QlB9PFUl+/T',
    '6kNE87FPsk4d5XlEjZUKkUznV4gwFhiKCcKZaRQWeeVtg7RMxXFTpzdg/nXBzA+wvRfzU89j2hLpLVvU1mOqAToUyYQKZSWnTCO479ku',
    'MikCAwEAAaAAMA0GCSqGSIb3DQEBCwUAA4IBAQAo9NZD/SPfS23BZlsYeXsKaRGEVBLcgN9JNt8BzruDKa+pxnxlKTS31enN/sgoh70I',
    'O4ddB8/ujR9wl0Sg6cs+MRY80nAhhli8RXYI6VEyizKEi8kOINtRnIAe9TZMalMPUGI8ZtCBltINq9m2DOYQS6gBhJPAnffbQUI+swH1',
    '8GkiO+j8HIUDxoQ1e89mKa64ARC0rHqq+55J7VM5AhrfXe1qm8pfqf2jIdq2aNAW3Iajk3Kgja6m/Mno0LUJ0K30fC7wD1snYDG8iRCJ',
    'BZOB0u7hmDXhL3mAcC2NLoNFTXqU7gvCZhcLdUArhQRZzxCms90dX+ry4pCJDca4BD8H',
  ].join(''),
  'RSA with PSS': [
    'MIIChjCCATkCAQAwDDEKMAgGA1UEAwwBcjCCASIwDQYJKoZIhvcNAQEBBQADggEPADCCAQoCggEBAJHV/kjRmol3niIh9QwFyMTiV1R6',
    'wIBUvmzlQwNKW0YZLCKjzYZQEXlN4U+sX7rVZQVI/qx9i+N5DXbXyFiwtUJloPr3CR6pTWOaMk7AdJu9xFvTB+nUPElRHaSfnSfb9QD8',
    'Uex0o1IwKc9IC8Zb871lkQSwkA96mPZ/MVCYVt0hYwrYp/QyGpHlYy0LxnZ7hwSC+hk5mBIvlqagBrfQfcfXT2FrhVoYvW0KJ0u3/KIf',
    'N3XINj8rd4wWZWvN6Tz7hrBJrCSNPXn5LdO/ggnxX99wmV/Xw7W87euDot0tEEfB1WdOtwcA3KAcdXrTUfXTptCUowwvty8CBTsCBmQS',
    'TLcCAwEAAaAAMEIGCSqGSIb3DQEBCjA1oA8wDQYJYIZIAWUDBAIBBQChHDAaBgkqhkiG9w0BAQgwDQYJYIZIAWUDBAIBBQCiBAICAN4D',
    'ggEBADgnbEoCiNUhEgemPIu4+p+3adGnGXt0/ET2SLjSIE+oyqiUczWs8kTUkIiu8usvqKHBnYXDdFx38CXSFZo0uhu9zgxUhVqrbRrZ',
    '2FoVAF7pOQdiWKvZCEBTesW9ZDpQ+n+/9MxjjDFjnEQZGo71jQMtWaXIkLUA82Z8NKOyySWXFNRlwFzdEFBQS5e26p6y3IwtXjqO1D90',
    'qt7y0N6V5/xNdqeVpqUhxwPtH/ytbYa+A6ZCjLkC9nAwsCKnmEjenKMUritLW4YOGZNDQr2fev8j9pdEv/rT6ljBdgiBKuIZODiDwvR3',
    'lB+F2h8WaNAf5uCDAKxzhtkwjWKo2aGggAg=',
  ].join(''),
  Ed25519:
    'MIGLMD8CAQAwDDEKMAgGA1UEAwwBZTAqMAUGAytlcAMhAD93sPrUsl4jux/GtVnZTj5z4nD7tI47RKBFNHJ0NrSMoAAwBQYDK2VwA0EA5vkkZ9wf7kq4F8mo1H/0rXNCV6/frWlujBu2P7X7u1KyAoPgwuPcyB+bx7CpofBBsNTYfea0MWC3vkd2mdnMCQ==',
};

const enclosed = (der: string) => `-----BEGIN CERTIFICATE REQUEST-----\n${der}\n-----END CERTIFICATE REQUEST-----\n`;

describe.each(Object.entries(requests))('a request that is signed with %s', (_name, der) => {
  test('is fine', () => expect(certificateRequestProblem(enclosed(der))).toBeUndefined());

  test('is invalid when a bit changes, or when it is truncated', () => {
    const bytes = Buffer.from(der, 'base64');
    for (let at = 0; at < 60; at += 1) {
      const changed = Buffer.from(bytes);
      changed[at] = (changed[at] as number) ^ 4;
      expect(certificateRequestProblem(enclosed(changed.toString('base64'))), `byte ${at}`).toMatch(/./);
      expect(certificateRequestProblem(enclosed(bytes.subarray(0, at).toString('base64'))), `cut at ${at}`).toMatch(
        /^asn1: /,
      );
    }
  });
});

test('it stands in its envelope', () => {
  const expected = 'PEM block type must be CERTIFICATE REQUEST';
  const other = enclosed(requests.Ed25519).replaceAll('REQUEST', 'WISH');
  expect(['', 'x', other, enclosed('?')].map(certificateRequestProblem)).toEqual(Array(4).fill(expected));
});
