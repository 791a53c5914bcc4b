import { apply, configMap, configMaps, get, merge, namespace, namespaces, post, put } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, serverPair, uniqueName } from './pair.js';

const pair = serverPair();
const type = 'application/yaml';
const group = `${uniqueName('y')}.example.com`;

/** What YAML might take for something else than a text. */
const scalars = [
  ...['1:30', '190:20:30', 'yes', 'Yes', 'YES', 'no', 'on', 'off', 'y', 'n', 'Y', 'true', 'True', 'TRUE', 'tRUE'],
  ...['0o17', '017', '08', '0x1F', '-0x1F', '0b11', '1_000', '1_000.5', '+12', '-0', '.5', '5.', '1e3', '1e+3', '1E3'],
  ...[
    '.inf',
    '-.Inf',
    '.nan',
    '12e03',
    '685_230.15',
    '2001-12-14',
    '2001-12-14t21:59:43.10-05:00',
    '2001-12-14 21:59:43',
  ],
  ...['~', 'null', 'Null', 'NULL', 'nUll', '', '=', '<<', '!!str 5', '!!int "5"', '!!float 5', '!!binary aGk=', '!x 5'],
  ...['"a\\x41\\u00e9"', "'it''s'", 'plain # comment', 'a#b', '!!null ""', '!!bool "yes"', '9223372036854775807'],
  ...[
    '9223372036854775808',
    '18446744073709551616',
    '1.0',
    '100000000000000000000000',
    '!!timestamp 2001-12-14',
    '!!set {a}',
  ],
];

play(pair, 'scalars in YAML', () => {
  const ns = uniqueName('y');
  const widgets = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const open = { type: 'object', 'x-kubernetes-preserve-unknown-fields': true };
  const all = configMaps(ns);
  return [
    post(namespaces, namespace(ns)),
    ...served(definition(group, { versions: [version('v1', open)] })),
    ...scalars.map((scalar, i) =>
      post(`${widgets}?dryRun=All`, `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: a${i}}\nx: ${scalar}\n`, {
        type,
      }),
    ),
    ...['yes', '1:30', '2001-12-14', '017', '1e3', '~', '!!binary aGk='].map((scalar) =>
      post(`${all}?dryRun=All`, `metadata: {name: a}\ndata:\n  x: ${scalar}\n`, { type }),
    ),
    ...['yes', '1', '1.5', '~', '2001-12-14', '017', '0x1F', '1e3', '.5', 'true', '? [a]', '? {a: b}'].map((key) =>
      post(`${widgets}?dryRun=All`, `apiVersion: ${group}/v1\nkind: Widget\nmetadata: {name: a}\nx:\n  ${key}: v\n`, {
        type,
      }),
    ),
  ];
});

play(pair, 'documents in YAML', () => {
  const ns = uniqueName('y');
  const all = configMaps(ns);
  const dry = `${all}?dryRun=All`;
  const make = (text: string, query = '') => post(`${dry}${query}`, text, { type });
  return [
    post(namespaces, namespace(ns)),
    make('metadata:\n  name: a\n---\nmetadata:\n  name: b\n'),
    make('---\nmetadata:\n  name: a\n'),
    make('---\n---\nmetadata:\n  name: a\n'),
    make('# only a comment\n'),
    make(''),
    make('%YAML 1.1\n---\nmetadata: {name: a}\n'),
    make('%YAML 1.2\n---\nmetadata: {name: a}\n'),
    make('metadata: {name: a}\n...\nrubbish: [\n'),
    make('metadata: {name: a}\n---\nrubbish: [\n'),
    make('base: &b {name: a}\nmetadata:\n  <<: *b\n'),
    make('metadata:\n  <<: {name: a, labels: {x: y}}\n  labels: {z: w}\n'),
    make('metadata:\n  <<: [{name: a}, {name: b, labels: {x: y}}]\n'),
    make('metadata:\n  <<: x\n  name: a\n'),
    make('metadata: &m {name: a}\ndata: {x: "1"}\nother: *m\n'),
    make('metadata: *nope\n'),
    make('metadata: {name: a}\ndata:\n  a: "1"\n  a: "2"\n'),
    make('metadata: {name: a}\ndata:\n  a: "1"\n  a: "2"\n', '&fieldValidation=Strict'),
    make('metadata: {name: a}\nmetadata: {name: b}\n'),
    make('metadata: {name: a}\ndata: {x: y, nope: z}\nnope: 1\n', '&fieldValidation=Strict'),
    make('metadata: {name: a}\ndata:\n  x: |\n    one\n    two\n  y: >-\n    one\n    two\n  z: |+\n    one\n\n'),
    make('metadata: {name: a}\ndata:\n\tx: y\n'),
    make('metadata: {name: a\n'),
    make('- metadata: {name: a}\n'),
    make('just text\n'),
    make('5\n'),
    make('{"metadata": {"name": "a"}, "data": {"x": "y",}}'),
    make('{metadata: {name: a}}'),
    make('\ufeffmetadata: {name: a}\n'),
    make('metadata: {name: a}\r\ndata: {x: y}\r\n'),
    make('metadata: {name: a}\ndata: {x: "\\ud800"}\n'),
    make('metadata: {name: a}\ndata: {x: "\u0007"}\n'),
    make('a: &a [x]\nb: &b [*a, *a]\nmetadata: {name: a}\n'),
    post(all, configMap('there')),
    put(`${all}/there`, 'metadata:\n  name: there\ndata:\n  x: 017\n', { type }),
    put(`${all}/there`, 'metadata:\n  name: there\ndata:\n  x: "017"\n', { type }),
    apply(`${all}/there?fieldManager=m`, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  x: yes\n'),
    apply(`${all}/there?fieldManager=m`, 'apiVersion: v1\nkind: ConfigMap\ndata:\n  x: "yes"\n  x: "no"\n'),
    apply(
      `${all}/there?fieldManager=m&force=true`,
      'apiVersion: v1\nkind: ConfigMap\ndata: {x: "1:30"}\n---\nkind: X\n',
    ),
    apply(`${all}/there?fieldManager=m`, 'apiVersion: v1\nkind: ConfigMap\ndata: [\n'),
    merge(`${all}/there`, 'data:\n  x: y\n'),
    get(`${all}/there`),
  ];
});
