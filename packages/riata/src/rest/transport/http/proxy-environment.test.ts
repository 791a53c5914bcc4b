import { describe, expect, test } from 'vitest';
import { proxyFromEnvironment } from './proxy-environment.js';

const proxy = 'http://proxy:3128';
const environment = { HTTPS_PROXY: proxy, HTTP_PROXY: 'http://plain:80' };

describe('proxyFromEnvironment', () => {
  test('goes by the scheme of the server, and takes lower-case names and values without a scheme', () => {
    expect(proxyFromEnvironment('https://cluster:6443', environment)).toBe(proxy);
    expect(proxyFromEnvironment('http://cluster:8080', environment)).toBe('http://plain:80');
    expect(proxyFromEnvironment('https://cluster', { https_proxy: 'proxy:3128' })).toBe('http://proxy:3128');
    expect(proxyFromEnvironment('https://cluster', {})).toBeUndefined();
    expect(proxyFromEnvironment('https://cluster', { HTTPS_PROXY: '', http_proxy: proxy })).toBeUndefined();
  });

  test.each(['localhost', '127.0.0.1', '127.9.9.9', '[::1]'])('never for loopback: %s', (host) => {
    expect(proxyFromEnvironment(`https://${host}:6443`, environment)).toBeUndefined();
  });

  test.each([
    ['*', 'any.example', true],
    ['example.com', 'example.com', true],
    ['example.com', 'api.example.com', true],
    ['example.com', 'notexample.com', false],
    ['.example.com', 'api.example.com', true],
    ['.example.com', 'example.com', false],
    ['*.example.com', 'api.example.com', true],
    ['a, b.c ,EXAMPLE.com', 'example.com', true],
    ['example.com:6443', 'example.com', true],
    ['example.com:443', 'example.com', false],
    ['10.0.0.1', '10.0.0.1', true],
    ['10.0.0.0/8', '10.200.3.4', true],
    ['10.0.0.0/8', '11.0.0.1', false],
    ['fd00::/8', '[fd12::1]', true],
    ['fd00::/8', '[fe80::1]', false],
    ['[fd12::1]:6443', '[fd12::1]', true],
    ['10.0.0.0/8', 'cluster.example', false],
    ['10.0.0.0/', '11.0.0.1', false],
    ['10.0.0.0/-1', '11.0.0.1', false],
    ['10.0.0.1/33', '10.0.0.1', false],
    ['10.0.0.1/32', '10.0.0.1', true],
    ['0.0.0.0/0', '10.0.0.1', true],
    ['FD12:0::1', '[fd12::1]', true],
    ['fd12::2', '[fd12::1]', false],
    ['', 'example.com', false],
  ])('NO_PROXY=%s, host %s: direct %s', (list, host, direct) => {
    const found = proxyFromEnvironment(`https://${host}:6443`, { ...environment, NO_PROXY: list });
    expect(found === undefined).toBe(direct);
  });
});
