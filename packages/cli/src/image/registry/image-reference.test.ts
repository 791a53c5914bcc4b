import { describe, expect, test } from 'vitest';
import { formatImageReference, parseImageReference, registryUrl } from './image-reference.js';

const digest = `sha256:${'a'.repeat(64)}`;

describe('parseImageReference', () => {
  test.each([
    ['registry.example.com/team/site:1.2', { registry: 'registry.example.com', repository: 'team/site', tag: '1.2' }],
    ['localhost:5000/site', { registry: 'localhost:5000', repository: 'site' }],
    ['localhost/site', { registry: 'localhost', repository: 'site' }],
    ['[::1]:5000/site:x', { registry: '[::1]:5000', repository: 'site', tag: 'x' }],
    ['node:22-slim', { registry: 'docker.io', repository: 'library/node', tag: '22-slim' }],
    ['team/site', { registry: 'docker.io', repository: 'team/site' }],
    ['index.docker.io/team/site', { registry: 'docker.io', repository: 'team/site' }],
    [
      `registry.example.com/a/b/c:t@${digest}`,
      { registry: 'registry.example.com', repository: 'a/b/c', tag: 't', digest },
    ],
  ])('%s', (name, expected) => {
    expect(parseImageReference(name)).toEqual(expected);
    expect(parseImageReference(formatImageReference(parseImageReference(name)))).toEqual(expected);
  });

  test.each([
    ['registry.example.com/Site', 'the repository must be lower-case'],
    ['registry.example.com/site:', 'tag "" is invalid'],
    ['registry.example.com/site:-x', 'tag "-x" is invalid'],
    ['registry.example.com/site@sha256:abc', 'the digest must be sha256:'],
    ['registry..com/site', 'registry "registry..com" is invalid'],
    ['', 'the repository must be'],
    ['https://registry.example.com/site', 'registry "https:" is invalid'],
    ['registry.example.com/../site', 'the repository must be'],
  ])('refuses %j', (name, problem) => {
    expect(() => parseImageReference(name)).toThrow(`image "${name}": ${problem}`);
  });

  test('plain HTTP is for this machine alone', () => {
    expect(registryUrl('127.0.0.1:5000')).toBe('http://127.0.0.1:5000');
    expect(registryUrl('[::1]:5000')).toBe('http://[::1]:5000');
    expect(registryUrl('registry.example.com')).toBe('https://registry.example.com');
    expect(registryUrl('127.0.0.1.example.com')).toBe('https://127.0.0.1.example.com');
    expect(registryUrl('docker.io')).toBe('https://registry-1.docker.io');
  });
});
