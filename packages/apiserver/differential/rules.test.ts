import { definitions, get, merge, namespace, namespaces, post, put } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const text = { type: 'string', maxLength: 100 };
const whole = { type: 'integer' };
const texts = { type: 'array', items: text, maxItems: 20 };
const wholes = { type: 'array', items: whole, maxItems: 20 };

const properties = {
  text,
  other: text,
  number: whole,
  float: { type: 'number' },
  flag: { type: 'boolean' },
  either: { 'x-kubernetes-int-or-string': true, maxLength: 20 },
  nullable: { ...text, nullable: true },
  when: { type: 'string', format: 'date-time' },
  day: { type: 'string', format: 'date' },
  span: { type: 'string', format: 'duration' },
  bytes: { type: 'string', format: 'byte', maxLength: 100 },
  texts,
  wholes,
  set: { ...texts, 'x-kubernetes-list-type': 'set' },
  set2: { ...texts, 'x-kubernetes-list-type': 'set' },
  keyed: {
    type: 'array',
    maxItems: 10,
    'x-kubernetes-list-type': 'map',
    'x-kubernetes-list-map-keys': ['k'],
    items: { type: 'object', required: ['k'], properties: { k: text, v: whole } },
  },
  map: { type: 'object', additionalProperties: whole, maxProperties: 10 },
  nested: { type: 'object', properties: { a: text, namespace: text, 'x-y': text, a__b: text, 'c.d': text } },
  preserved: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
};

const given = {
  text: 'Grüße 😀',
  other: 'abc-def',
  number: 7,
  float: 2.5,
  flag: true,
  either: 5,
  nullable: null,
  when: '2024-02-29T12:34:56.789Z',
  day: '2024-02-29',
  span: '1h30m',
  bytes: 'aGVsbG8=',
  texts: ['b', 'a', 'c', 'a'],
  wholes: [3, 1, 2],
  set: ['x', 'y'],
  set2: ['y', 'x'],
  keyed: [
    { k: 'one', v: 1 },
    { k: 'two', v: 2 },
  ],
  map: { p: 1, q: 2 },
  nested: { a: 'A', namespace: 'ns', 'x-y': 'dash', a__b: 'under', 'c.d': 'dot' },
  preserved: { any: 1 },
};

/** Expressions whose values appear in the messages of rules that all fail. */
const values = `
self.number + 1 | self.number / 2 | self.number % 4 | -self.number | self.number * 3 - 1
self.float * 2.0 | self.number < self.float | 1 < 2u | 3u + 4u | dyn(1) == 1u | 7 / -2 | -7 % 3
int(self.float) | double(self.number) | string(self.float) | int('42') | uint(3) | string(1.0) | string(1e30) | string(true)
bool('true') | bytes('é').size() | string(b'abc') | type(self.number) == int | type(self.either) | type('') | type([]) | type({})
self.text.size() | size(self.text) | self.text.contains('ü') | self.other.startsWith('abc') | self.other.endsWith('x')
self.other.matches('^[a-z]+-[a-z]+$') | self.other.matches('b.*d') | self.text.charAt(2) | self.text.indexOf('ß') | self.other.indexOf('z')
self.other.indexOf('d', 2) | self.other.lastIndexOf('e') | self.text.upperAscii() | 'ABC'.lowerAscii() | '  x '.trim()
self.other.replace('-', '+') | 'aaa'.replace('a', 'b', 2) | 'abc'.replace('', '.') | self.other.split('-') | 'a,b,c'.split(',', 2)
self.text.substring(6) | self.text.substring(0, 3) | self.texts.join(', ') | strings.quote('a"b\\n')
'%s %d %.2f %x %b %o %e'.format(['s', 5, 1.234, 255, 5, 8, 1500.0]) | '%s'.format([[1, 'a', 2.5, true, null]]) | '%X'.format(['hi'])
'%s'.format([{'b': 1, 'a': [2]}]) | '%%'.format([]) | '%s'.format([duration('90s')]) | '%s'.format([self.when]) | '%d'.format([3u])
self.texts.size() | self.texts[0] | self.texts.sort() | self.wholes.sum() | self.wholes.max() | self.wholes.min() | self.wholes.isSorted()
self.texts.indexOf('a') | self.texts.lastIndexOf('a') | self.texts.distinct() | self.texts.reverse() | self.texts.slice(1, 3) | [[1], [2, 3]].flatten()
lists.range(3) | self.keyed.sortBy(e, -e.v).map(e, e.k) | self.texts + ['z'] | 'a' in self.texts | 'p' in self.map | self.map['q'] | self.map.q
self.texts.all(t, t < 'd') | self.texts.exists(t, t == 'c') | self.texts.exists_one(t, t == 'a')
self.texts.filter(t, t > 'a') | self.texts.map(t, t + '!') | self.texts.map(t, t != 'a', t + '?') | self.map.map(k, k).sort()
self.texts.all(i, t, i < 4) | self.wholes.transformList(i, v, v * i) | self.wholes.transformList(i, v, i > 0, v) | self.map.transformMap(k, v, v + 1)
self.map.transformMapEntry(k, v, {k + 'x': v}) | self.map.exists(k, v, v == 2) | self.set == self.set2 | self.set + ['y', 'z']
self.nested.a | self.nested.__namespace__ | self.nested.x__dash__y | self.nested.a__underscores__b | self.nested.c__dot__d | has(self.nested.a) | has(self.missing)
has(self.nullable) | self.flag ? 'yes' : 'no' | self.flag && !self.flag | self.flag || 1 / 0 == 1 | 1 / 0 == 1 || self.flag
self.?missing.hasValue() | self.?text.orValue('none') | self.?missing.orValue('none') | self.texts[?9].hasValue() | self.texts[?0].value()
optional.of(1).value() | optional.none().hasValue() | optional.ofNonZeroValue('').hasValue() | self.?number.optMap(n, n + 1).orValue(0) | self.texts.first().value()
optional.none().or(optional.of(3)).value() | [?self.?text, ?self.?missing].size() | {?'a': self.?missing}.size() | optional.unwrap([optional.of(1), optional.none()])
self.when.getFullYear() | self.when.getMonth() | self.when.getDayOfMonth() | self.when.getDate() | self.when.getDayOfWeek() | self.when.getDayOfYear() | self.when.getHours()
self.when.getHours('+02:00') | self.when.getHours('Europe/Berlin') | self.when.getMinutes() | self.when.getSeconds() | self.when.getMilliseconds() | string(self.day)
self.when > timestamp('2024-01-01T00:00:00Z') | string(self.when + duration('1h')) | string(self.when - timestamp('2024-02-29T12:00:00Z')) | int(self.when)
self.span == duration('90m') | self.span.getHours() | self.span.getMinutes() | self.span.getSeconds() | string(self.span) | duration('1.5s').getMilliseconds() | string(duration('-1h'))
self.bytes == b'hello' | self.bytes.size() | string(self.bytes) | b'a' + b'b' == b'ab' | b'a' < b'b' | b'\\xff'.size()
quantity('500m').isLessThan(quantity('1')) | quantity('1Gi').asInteger() | quantity('1.5').isInteger() | quantity('2').add(quantity('3')) == quantity('5') | isQuantity('x') | sign(quantity('-1'))
quantity('1k').compareTo(quantity('1000')) | quantity('1.5').asApproximateFloat() | quantity('5').sub(2).asInteger() | isQuantity('1Ki')
isIP('1.2.3.4') | isIP('::1') | isIP('1.2.3') | isIP('01.2.3.4') | isIP('::ffff:1.2.3.4') | ip('10.0.0.1').family() | ip('::1').isLoopback() | string(ip('2001:DB8::1')) | ip.isCanonical('2001:DB8::1')
ip('224.0.0.1').isLinkLocalMulticast() | ip('169.254.1.1').isLinkLocalUnicast() | ip('8.8.8.8').isGlobalUnicast() | ip('0.0.0.0').isUnspecified() | ip('1.2.3.4') == ip('1.2.3.4')
cidr('10.0.0.0/8').containsIP('10.1.2.3') | cidr('10.0.0.0/8').containsIP(ip('11.0.0.1')) | cidr('10.0.0.0/8').containsCIDR('10.1.0.0/16') | cidr('10.1.0.0/16').containsCIDR(cidr('10.0.0.0/8'))
cidr('10.1.2.3/8').prefixLength() | string(cidr('10.1.2.3/8').masked()) | string(cidr('10.1.2.3/8').ip()) | isCIDR('10.0.0.0/33') | isCIDR('::/0')
url('https://user@example.com:80/a%20b/c?x=1&x=2&y=z').getHost() | url('https://example.com:80/').getPort() | url('https://[::1]:80/').getHostname() | url('https://e.com/a b').getEscapedPath() | url('/p').getScheme()
url('https://e.com/?x=1&x=2').getQuery() | isURL('https://e.com') | isURL('nope') | isURL('/a') | url('https://e.com/').getEscapedPath()
'abc123def45'.find('[0-9]+') | 'abc123def45'.findAll('[0-9]+') | 'abc123def45'.findAll('[0-9]+', 1) | 'abc'.find('x') | 'aXbX'.findAll('.X')
format.dns1123Label().validate('Bad').hasValue() | format.dns1123Label().validate('good').hasValue() | format.named('uuid').hasValue() | format.named('nope').hasValue() | format.dns1123Label().validate('Bad').value()
semver('1.2.3').isLessThan(semver('1.10.0')) | semver('1.2.3-alpha').compareTo(semver('1.2.3')) | semver('1.2.3').major() | isSemver('1.2') | isSemver('v1.2', true) | semver('v01.2', true).minor()
sets.contains([1, 2, 3], [1]) | sets.equivalent([1, 1], [1]) | sets.intersects([1], [2, 1]) | [1, 2] == [1, 2] | [1, 2].size() == 2
'\\u00fc' | r'\\n' | """a'b""" | 'a' + "b" | 0x1F | 1e3 | .5 | 'x' != 'y' | !(1 > 2) | 5 in [1, 2, 5] | {'k': 1}.k | {1: 'one'}[1] | [1, 2, 3].map(x, x % 2 == 1, x * 10)
self.either == 5 | dyn(self.either) + 1 | self.metadata.name`
  .split(/[|\n]/)
  .map((part) => part.trim())
  .filter((part) => part !== '' && !part.startsWith('self.metadata'));

/** Expressions that fail, or whose result is no bool, at run time. */
const failing = String.raw`
1 / 0 == 1 | self.number % 0 == 1 | self.texts[9] == 'x' | self.map['none'] == 1 | self.map.none == 1 | self.missing == 'x' | self.either.size() == 1 | self.either < 'a'
9223372036854775807 + 1 == 0 | -(-9223372036854775807 - 1) == 1 | int(self.other) == 1 | int(self.float * 1e20) == 1 | uint(0 - self.number) == 1u | double(self.other) == 1.0 | bool(self.other)
self.text.charAt(99) == '' | self.text.substring(99) == '' | self.text.substring(3, 2) == '' | self.texts.slice(1, 9) == [] | [].max() == 1 | self.other.indexOf('a', 99) == 1
optional.none().value() == 1 | quantity('x') == quantity('1') | ip('x') == ip('1.1.1.1') | cidr('1.2.3.4') == cidr('1.0.0.0/8') | self.texts.exists_one(t, 1 / 0 == 1)
self.texts.all(t, 1 / 0 == 1) | self.texts.all(t, t == 'b' && 1 / 0 == 1) | (self.other + '%d').format(['x']) == '' | (self.other + '%q').format([1]) == '' | (self.other + '%s %s').format([1]) == '' | timestamp(self.other) == timestamp(0)
duration(self.other) == duration('1s') | self.other.matches(self.text + '(') | dyn('a') + 1 == 2 | semver('x') == semver('1.0.0') | self.when.getHours('Nowhere/X') == 1
timestamp(self.other + '\u0007é') == timestamp(0) | duration(self.other + '\n"ü') == duration('1s') | timestamp('2024-13-01T00:00:00Z' + self.text.substring(0, 0)) == timestamp(0) | duration(self.text.substring(0, 0) + '5') == duration('1s')
ip(self.other + '\u0007é') == ip('1.1.1.1') | cidr('1.2.3.4/\u0007é' + self.text.substring(0, 0)) == cidr('1.0.0.0/8') | cidr(self.text.substring(0, 0) + '1.2.3.4/33') == cidr('1.0.0.0/8') | url(self.other + '\u0007é') == url('http://a') | int(self.other + '\u200bé\n') == 1`
  .split(/[|\n]/)
  .map((part) => part.trim())
  .filter((part) => part !== '');

function ruled(rules: readonly object[], more: object = {}) {
  const ns = uniqueName('c');
  const group = `${uniqueName('g')}.example.com`;
  const spec = {
    type: 'object',
    properties: { ...properties, missing: text, ...more },
    'x-kubernetes-validations': rules,
  };
  const made = definition(group, { versions: [version('v1', { properties: { spec } })] });
  const all = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const widget = (name: string, own: object = {}) => ({
    apiVersion: `${group}/v1`,
    kind: 'Widget',
    metadata: { name },
    spec: { ...given, ...own },
  });
  return { ns, made, all, widget };
}

for (let from = 0; from < values.length; from += 60) {
  play(pair, `values of expressions from ${from} on`, () => {
    const some = values.slice(from, from + 60);
    const rules = some.map((expression, index) => ({
      rule: `${index} < 0`,
      messageExpression: `'${from + index} is %s'.format([dyn(${expression})])`,
      message: `no message: ${expression}`,
    }));
    const { ns, made, all, widget } = ruled(rules);
    return [post(namespaces, namespace(ns)), ...served(made), post(all, widget('a'))];
  });
}

play(pair, 'expressions that fail', () => {
  const { ns, made, all, widget } = ruled(failing.map((rule) => ({ rule })));
  return [post(namespaces, namespace(ns)), ...served(made), post(all, widget('a'))];
});

play(pair, 'rules that do not compile', () => {
  const attempts: readonly (object | string)[] = [
    'self.nope == 1',
    'self.text == 1',
    'self.text + 1 == 2',
    'nope',
    'nope(1)',
    'self.text.nope()',
    'self.text',
    'self.number',
    'self.texts.all(1, true)',
    'self.texts.all(t, t)',
    'has(self)',
    'has(self.texts[0])',
    'self.number.a == 1',
    'self.texts.a == 1',
    '[1, "a"] == []',
    '{"a": 1, 2: 3} == {}',
    'self.text.matches("(")',
    'duration("x") == duration("1s")',
    'timestamp("x") == timestamp(0)',
    'self.number ? true : false',
    'self.flag && self.number',
    '!self.number',
    '-self.text == ""',
    'self.flag ? 1 : "a" == 1',
    'self.number in self.text',
    'self.text[0] == "a"',
    'self.texts["a"] == "a"',
    'oldSelf.nope == 1',
    'oldSelf.number <= self.number',
    'self.preserved.any == 1',
    'self.nested.namespace == "a"',
    'self.number.exists(x, x > 1)',
    'self.texts.map(t, t) == [1]',
    'size(1) == 1',
    'self.text.size(1) == 1',
    'int(self.texts) == 1',
    'type(self.number) == string',
    '"a" == b"a"',
    '1 == 1u',
    '1 < "a"',
    'self.texts.sum() == "a"',
    'quantity(1) == quantity("1")',
    'optional.of(1) == 1',
    'self.?text == "a"',
    'self.texts.all(i, i, true)',
    "int('x') == 1",
    'int(1e20) == 1',
    'uint(-1) == 1u',
    "double('x') == 1.0",
    "bool('x')",
    '2.0 == 2',
    "'%d'.format(['x']) == ''",
    "'%q'.format([1]) == ''",
    "'%s %s'.format([1]) == ''",
    "'%s'.format([1, 2]) == ''",
    "'%f'.format([1]) == ''",
    "['a', 'b'].join().contains('x')",
    'self.nullable == null',
    "{'a': 1} == {'a': 1.0}",
    "self.texts.existsOne(t, t == 'c')",
    "self.keyed + [{'k': 'one', 'v': 9}] == self.keyed",
    "self.text == 'a' &&",
    'self.kind == "a"',
    { rule: 'true', messageExpression: 'self.nope' },
    { rule: 'true', messageExpression: '1' },
    { rule: 'true', messageExpression: '"a" + 1' },
    { rule: 'self.number > 1', optionalOldSelf: true },
    { rule: 'oldSelf.hasValue()', optionalOldSelf: true },
    { rule: 'oldSelf.hasValue()' },
    { rule: 'self.number > 1', fieldPath: '.text', reason: 'FieldValueForbidden' },
    { rule: 'self.number > 1', fieldPath: '.nope' },
  ];
  return attempts.map((attempt) => {
    const { made } = ruled([typeof attempt === 'string' ? { rule: attempt } : attempt]);
    const fixed = {
      ...made,
      metadata: { name: 'widgets.rules.example.com' },
      spec: { ...made.spec, group: 'rules.example.com' },
    };
    return post(`${definitions}?dryRun=All`, fixed);
  });
});

play(pair, 'rules that defaults break', () => {
  const ruledText = (rule: string, more: object = {}) => ({ ...text, 'x-kubernetes-validations': [{ rule }], ...more });
  const attempts: readonly object[] = [
    { d: ruledText('self.size() > 2', { default: 'abc' }) },
    { d: ruledText('self.size() > 2', { default: 'a' }) },
    { d: ruledText('self == oldSelf', { default: 'a' }) },
    { d: ruledText('int(self) > 2', { default: 'a' }) },
    { d: { type: 'object', default: { inner: 'a' }, properties: { inner: ruledText('self.size() > 2') } } },
    {
      d: {
        type: 'object',
        default: {},
        properties: { inner: text },
        'x-kubernetes-validations': [{ rule: 'has(self.inner)' }],
      },
    },
    { d: { type: 'array', maxItems: 3, default: ['abc', 'a'], items: ruledText('self.size() > 2') } },
  ];
  return attempts.map((more) => {
    const { made } = ruled([{ rule: 'true' }], more);
    const name = 'rules.example.com';
    return post(`${definitions}?dryRun=All`, {
      ...made,
      metadata: { name: `widgets.${name}` },
      spec: { ...made.spec, group: name },
    });
  });
});

play(pair, 'rules that cost too much', () => {
  const endless = { type: 'string' };
  const many = (items: object) => ({ type: 'array', items });
  const attempts: readonly (readonly [object, string])[] = [
    [{ e: many(endless) }, 'self.e.all(x, x.contains("a"))'],
    [{ e: many(endless) }, 'self.e.all(x, self.e.all(y, x == y))'],
    [{ e: many({ type: 'integer' }) }, 'self.e.all(x, x > 1)'],
    [{ e: many({ type: 'integer' }) }, 'self.e.all(x, self.e.exists(y, x == y))'],
    [{ e: endless }, 'self.e.matches("a{1,5}b")'],
    [{ e: endless }, 'self.e.contains(self.text)'],
    [{ e: endless }, 'self.e.split(",").all(x, x.startsWith("a"))'],
    [{ e: many({ type: 'object', additionalProperties: endless }) }, 'self.e.all(x, x.all(k, x[k].size() > 1))'],
    [{ e: { type: 'object', additionalProperties: { type: 'integer' } } }, 'self.e.all(k, self.e[k] > 1)'],
    [{ e: many({ ...text, 'x-kubernetes-validations': [{ rule: 'self.matches("a+")' }] }) }, 'true'],
    [{ e: many({ ...whole, 'x-kubernetes-validations': [{ rule: 'self > 1' }] }) }, 'true'],
    [{ e: many({ ...whole, 'x-kubernetes-validations': [{ rule: 'self > oldSelf' }] }) }, 'true'],
    [{ e: { ...endless, 'x-kubernetes-validations': [{ rule: 'self == oldSelf' }] } }, 'true'],
    [{ e: endless }, 'self.e.replace("a", self.e).size() > 1'],
    [{ e: many(endless) }, 'self.e.join(",").size() > 1'],
    [{ e: many(endless) }, 'self.e.isSorted()'],
    [{ e: many(endless) }, 'self.e.map(x, x + "a").exists(x, x == "b")'],
    [{ e: many(endless) }, 'self.text in self.e'],
    [{ e: endless }, 'self.e.find("a+") == "a"'],
    [{ e: endless }, 'self.e.upperAscii() == "A"'],
    [{ e: many(endless) }, 'self.e == oldSelf.e'],
    [{ e: many(many(many({ type: 'boolean' }))) }, 'self.e.all(x, x.all(y, y.all(z, z)))'],
  ];
  return attempts.map(([more, rule]) => {
    const { made } = ruled([{ rule }], more);
    const fixed = {
      ...made,
      metadata: { name: 'widgets.rules.example.com' },
      spec: { ...made.spec, group: 'rules.example.com' },
    };
    return post(`${definitions}?dryRun=All`, fixed);
  });
});

play(pair, 'rules about changes, and what was wrong before', () => {
  const { ns, made, all, widget } = ruled(
    [
      { rule: 'self.number >= oldSelf.number', message: 'may not shrink' },
      { rule: 'oldSelf.hasValue() || self.number < 100', optionalOldSelf: true, message: 'must begin small' },
      { rule: 'self.text != "forbidden"', reason: 'FieldValueForbidden', fieldPath: '.text' },
      { rule: 'self.text != "required"', reason: 'FieldValueRequired', fieldPath: '.text', message: ' spaced ' },
      { rule: 'self.text != "double"', reason: 'FieldValueDuplicate', fieldPath: ".map['p']" },
      { rule: 'self.text != "bad message"', messageExpression: '"two\\nlines"', message: 'the plain one' },
      { rule: 'self.text != "empty message"', messageExpression: '" "' },
    ],
    {
      fixed: { ...text, 'x-kubernetes-validations': [{ rule: 'self == oldSelf', message: 'is immutable' }] },
      limited: { ...whole, 'x-kubernetes-validations': [{ rule: 'self < 10', message: 'is too large' }] },
      many: {
        type: 'array',
        maxItems: 10,
        'x-kubernetes-list-type': 'map',
        'x-kubernetes-list-map-keys': ['k'],
        items: {
          type: 'object',
          required: ['k'],
          properties: { k: text, v: { ...whole, 'x-kubernetes-validations': [{ rule: 'self >= oldSelf' }] } },
        },
      },
      byName: {
        type: 'object',
        maxProperties: 5,
        additionalProperties: {
          ...whole,
          'x-kubernetes-validations': [{ rule: 'self > 0', message: 'must be positive' }],
        },
      },
    },
  );
  const stricter = JSON.parse(JSON.stringify(made));
  stricter.spec.versions[0].schema.openAPIV3Schema.properties.spec.properties.text['x-kubernetes-validations'] = [
    { rule: 'self.size() > 50', message: 'is too short now' },
  ];
  const a = `${all}/a`;
  return [
    post(namespaces, namespace(ns)),
    ...served(made),
    post(all, widget('large', { number: 200 })),
    post(all, widget('a', { fixed: 'f', limited: 5, many: [{ k: 'x', v: 3 }], byName: { one: 1 } }), { as: 'a' }),
    merge(a, { spec: { number: 6 } }),
    merge(a, { spec: { number: 300 } }),
    merge(a, { spec: { fixed: 'g' } }),
    merge(a, { spec: { fixed: null } }),
    merge(a, { spec: { fixed: 'h' } }),
    merge(a, { spec: { limited: 20 } }),
    merge(a, {
      spec: {
        many: [
          { k: 'y', v: 0 },
          { k: 'x', v: 2 },
        ],
      },
    }),
    merge(a, {
      spec: {
        many: [
          { k: 'y', v: 0 },
          { k: 'x', v: 4 },
        ],
      },
    }),
    merge(a, { spec: { byName: { one: 0, two: -1 } } }),
    ...['forbidden', 'required', 'double', 'bad message', 'empty message'].map((word) =>
      merge(a, { spec: { text: word } }),
    ),
    merge(`${definitions}/${made.metadata.name}`, stricter, { silent: true }),
    merge(a, { metadata: { labels: { l: '1' } } }, { until: ({ warnings }) => warnings.length > 0, silent: true }),
    merge(a, { metadata: { labels: { l: '2' } } }),
    merge(a, { spec: { number: 301 } }),
    merge(a, { spec: { text: 'other' } }),
    get(a),
    put(a, widget('a', { number: 1000 })),
  ];
});
