import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { parse, stringify } from 'yaml';
import { readSimpleYaml } from './read-simple-yaml.js';

/** As a real parser reads it, with numbers as they are written. */
function read(text: string): unknown {
  return parse(text, { schema: 'core', intAsBigInt: false, customTags: (tags) => tags.filter((t) => !isNumber(t)) });
}

function isNumber(tag: unknown): boolean {
  const name = typeof tag === 'string' ? tag : (tag as { tag?: string }).tag;
  return name !== undefined && /(int|float)$/.test(name);
}

const kubectl = `apiVersion: v1
clusters:
- cluster:
    certificate-authority-data: LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0tCk1JSUMvakNDQWVhZ0F3SUJBZ0lCQURBTkJna3E=
    server: https://127.0.0.1:6443
  name: kind-a
contexts:
- context:
    cluster: kind-a
    namespace: "shop"
    user: kubernetes-admin@kind-a
  name: kind-a
current-context: 'kind-a'
kind: Config
preferences: {}
users:
  - name: kubernetes-admin@kind-a
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1
        command: aws
        args:
          - eks
          - get-token
          - "0123"
        env:
        interactiveMode: Never
        provideClusterInfo: false
# that is all
`;

test('a kubeconfig as kubectl writes it', () => {
  const config = readSimpleYaml(kubectl);
  expect(config).toEqual(read(kubectl));
  expect(config).toMatchObject({
    clusters: [{ name: 'kind-a' }],
    preferences: {},
    users: [{ user: { exec: { env: null } } }],
  });
});

describe('left to a real parser', () => {
  test.each([
    '',
    '# nothing',
    '{"a": 1}',
    '- a',
    '---\na: b',
    'a: b\n---\nc: d',
    'a: &x b\nc: *x',
    'a: !!str b',
    'a: |\n  b',
    'a: >-\n  b',
    'a: b\n  c',
    'a: [b, c]',
    'a: {b: c}',
    'a: b # c',
    'a: b c',
    'a: "b\\n"',
    "a: 'it''s'",
    'a: ~',
    'a: True',
    'a: .5',
    'a: -5',
    'a: b: c',
    'a: b:',
    'a: b\na: c',
    'a:\tb',
    '\ta: b',
    'a: ü',
    '"a": b',
    '<<: b',
    'true: b',
    '1: b',
    'a:b',
    'a:\n- b\nc',
    'a:\n  b: c\n d: e',
    'a:\n-\nb: c',
    'a:\n- - b',
    'a:\n- b\n  c: d',
    'extensions:\n- extension: 5',
    'a: \'b"',
    'a\n',
    '? a',
    ' a: b',
    'a: b\r\n\0',
  ])('%j', (text) => {
    expect(readSimpleYaml(text)).toBeUndefined();
  });
});

test('what is read is what a real parser reads, numbers aside', () => {
  const word = fc.oneof(
    fc.constantFrom(
      'true',
      'null',
      '0123',
      '1e5',
      'a:b',
      'x@y',
      'https://a:1/b',
      '{}',
      '[]',
      '',
      '-',
      'no',
      'a b',
      '"q"',
    ),
    fc.string({ maxLength: 6 }),
  );
  const key = fc.stringMatching(/^[A-Za-z][a-z.-]{0,5}$/);
  const { node } = fc.letrec((tie) => ({
    node: fc.oneof({ maxDepth: 4 }, word, fc.constantFrom(true, false, null), tie('list'), tie('mapping')),
    list: fc.array(tie('node'), { maxLength: 3 }),
    mapping: fc.dictionary(key, tie('node'), { maxKeys: 4 }),
  }));
  let simple = 0;
  fc.assert(
    fc.property(fc.dictionary(key, node, { minKeys: 1, maxKeys: 4 }), (value) => {
      const text = stringify(value, { lineWidth: 0 });
      const found = readSimpleYaml(text);
      if (found === undefined) return;
      simple += 1;
      expect(found).toEqual(read(text));
      expect(found).toEqual(value);
    }),
    { numRuns: 400 },
  );
  expect(simple).toBeGreaterThan(10);
});
