import { describe, expect, test } from 'vitest';
import {
  dns1035LabelProblems,
  dns1123LabelProblems,
  dns1123SubdomainProblems,
  isDns1035Label,
  isDns1123Label,
  isDns1123Subdomain,
  isLabelValue,
  isQualifiedName,
  labelValueProblems,
  qualifiedNameProblems,
} from './names.js';

const rules = {
  'DNS-1123 label': {
    is: isDns1123Label,
    problems: dns1123LabelProblems,
    good: ['a', '0', 'a-b', '1-2', 'a'.repeat(63)],
    bad: ['', '-a', 'a-', 'A', 'a.b', 'a_b', 'é', 'a\n', 'a'.repeat(64)],
  },
  'DNS-1123 subdomain': {
    is: isDns1123Subdomain,
    problems: dns1123SubdomainProblems,
    good: ['a', 'a.b', '1.2', 'a-b.c-d', `${'a.'.repeat(126)}b`],
    bad: ['', '.', 'a.', '.a', 'a..b', 'a.-b', 'A.b', `${'a.'.repeat(126)}bc`],
  },
  'DNS-1035 label': {
    is: isDns1035Label,
    problems: dns1035LabelProblems,
    good: ['a', 'a1', 'a-1'],
    bad: ['', '1a', '-a', 'a-', 'A', 'a.b', 'a'.repeat(64)],
  },
  'qualified name': {
    is: isQualifiedName,
    problems: qualifiedNameProblems,
    good: ['a', 'A_b.c-D', '1', 'x.y/z', `${'a.'.repeat(126)}b/${'c'.repeat(63)}`, 'constructor', 'toString'],
    bad: ['', '/', 'a/', '/a', 'a/b/c', '_a', 'a_', 'X/y', '__proto__', 'a b', 'a'.repeat(64), `${'a'.repeat(254)}/b`],
  },
  'label value': {
    is: isLabelValue,
    problems: labelValueProblems,
    good: ['', 'a', 'A_b.c-D', '1', 'a'.repeat(63)],
    bad: ['-', '_a', 'a_', 'a/b', 'a b', ' ', 'é', 'a'.repeat(64)],
  },
};

describe.each(Object.entries(rules))('%s', (_, { is, problems, good, bad }) => {
  test.each(good)('takes %j', (value) => {
    expect(is(value)).toBe(true);
    expect(problems(value)).toEqual([]);
  });
  test.each(bad)('refuses %j', (value) => {
    expect(is(value)).toBe(false);
    expect(problems(value)).not.toEqual([]);
  });
});

test('problems say what is wrong', () => {
  expect(dns1123LabelProblems('a.b')).toEqual(['must have no dots']);
  expect(dns1123LabelProblems('a'.repeat(70))).toEqual(['must have at most 63 characters, has 70']);
  expect(qualifiedNameProblems('/')).toEqual(['prefix must not be empty', 'name must not be empty']);
  expect(qualifiedNameProblems('Bad/_')).toHaveLength(2);
});
