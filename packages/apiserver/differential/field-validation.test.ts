import { apply, configMap, configMaps, jsonPatch, merge, namespace, namespaces, post, put, strategic } from './asks.js';
import { definition, served, version } from './custom-kinds.js';
import { play, type Step, serverPair, uniqueName } from './pair.js';

const pair = serverPair();

const modes = ['Strict', 'Warn', 'Ignore', '', 'Nope'];
const query = (mode: string) => (mode === '' ? '' : `?fieldValidation=${mode}`);
/** Apply patches name their manager, too. */
const applied = (mode: string) => `?fieldManager=m&force=true${mode === '' ? '' : `&fieldValidation=${mode}`}`;

/** A Deployment as JSON, with duplicate and unknown members. */
function deployment(name: string, spec = '', container = '', top = ''): string {
  const template = `"metadata":{"labels":{"a":"b"}},"spec":{"containers":[{"name":"c","image":"i"${container}}]}`;
  const body = `"selector":{"matchLabels":{"a":"b"}},"template":{${template}}${spec}`;
  return `{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"${name}"},"spec":{${body}}${top}}`;
}

play(pair, 'unknown and duplicate fields of built-in kinds', () => {
  const ns = uniqueName('f');
  const all = `/apis/apps/v1/namespaces/${ns}/deployments`;
  const maps = configMaps(ns);
  const odd = (name: string) =>
    deployment(
      name,
      ',"replicas":1,"replicas":2,"nope":{"deep":1}',
      ',"imag":"x","name":"d"',
      ',"extra":[],"extra":[]',
    );
  return [
    post(namespaces, namespace(ns)),
    post(all, deployment('d'), { silent: true }),
    post(maps, configMap('c'), { silent: true }),
    ...modes.flatMap((mode, index): Step[] => [
      post(all + query(mode), odd(`made${index}`)),
      put(`${all}/d${query(mode)}`, odd('d')),
      post(
        maps + query(mode),
        `{"metadata":{"name":"m${index}","nope":1,"labels":{"a":"1","a":"2"}},"data":{"k":"1","k":"2"}}`,
      ),
      post(maps + query(mode), `metadata:\n  name: y${index}\n  nope: 1\ndata:\n  k: "1"\nother: 2\n`, {
        type: 'application/yaml',
      }),
      post(maps + query(mode), `metadata:\n  name: z${index}\ndata:\n  k: "1"\n  k: "2"\n`, {
        type: 'application/yaml',
      }),
      post(maps + query(mode), `{"METADATA":{"name":"u${index}"},"metadata":{"Name":"x","name":"u${index}"}}`),
      jsonPatch(
        `${maps}/c${query(mode)}`,
        `[{"op":"add","path":"/nope","value":1,"vaule":2},{"op":"test","op":"add","path":"/data","value":{}}]`,
      ),
      jsonPatch(`${maps}/c${query(mode)}`, `[{"op":"add","path":"/data/k","value":"${index}"}]`),
      merge(
        `${maps}/c${query(mode)}`,
        `{"data":{"k":"1","k":"2"},"nope":{"a":1},"metadata":{"labels":{"l":"1"},"what":5}}`,
      ),
      strategic(`${maps}/c${query(mode)}`, `{"data":{"k":"1","k":"2"},"nope":1,"metadata":{"lables":{}}}`),
      strategic(
        `${all}/d${query(mode)}`,
        `{"spec":{"template":{"spec":{"containers":[{"name":"c","imag":"x","image":"j","image":"k"}]}}}}`,
      ),
      apply(
        `${maps}/a${index}${applied(mode)}`,
        `apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: a${index}\ndata:\n  k: "1"\n  k: "2"\n`,
      ),
      apply(
        `${maps}/b${index}${applied(mode)}`,
        `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"b${index}"},"nope":1}`,
      ),
      merge(`${all}/d/status${query(mode)}`, `{"status":{"replicas":1,"replicas":2,"nope":1}}`),
      put(
        `${all}/d/scale${query(mode)}`,
        `{"metadata":{"name":"d","namespace":"${ns}"},"spec":{"replicas":1,"replicas":3},"nope":2}`,
      ),
    ]),
  ];
});

play(pair, 'unknown and duplicate fields of custom kinds', () => {
  const group = `${uniqueName('f')}.example.com`;
  const ns = uniqueName('f');
  const all = `/apis/${group}/v1/namespaces/${ns}/widgets`;
  const schema = {
    properties: {
      spec: {
        type: 'object',
        properties: {
          size: { type: 'integer' },
          list: { type: 'array', items: { type: 'object', properties: { name: { type: 'string' } } } },
          open: { type: 'object', 'x-kubernetes-preserve-unknown-fields': true },
          map: { type: 'object', additionalProperties: { type: 'object', properties: { a: { type: 'string' } } } },
          template: {
            type: 'object',
            'x-kubernetes-embedded-resource': true,
            properties: { spec: { type: 'object', properties: { x: { type: 'string' } } } },
          },
        },
      },
      status: { type: 'object', properties: { ready: { type: 'boolean' } } },
    },
  };
  const widget = (name: string, rest = '', meta = '') =>
    `{"apiVersion":"${group}/v1","kind":"Widget","metadata":{"name":"${name}"${meta}}${rest}}`;
  const template = `"template":{"apiVersion":"v1","kind":"X","metadata":{"name":"n","odd":1},"spec":{"y":1}}`;
  const odd = (name: string) =>
    widget(
      name,
      `,"spec":{"size":1,"size":2,"nope":1,"list":[{"name":"a","x":1},{"name":"b","name":"c"}],"open":{"a":1,"a":2,"b":3},` +
        `"map":{"k":{"a":"1","z":1}},${template}},"extra":1`,
      ',"nope":1,"labels":{"a":"1","a":"2"}',
    );
  const more = { subresources: { status: {} } };
  return [
    post(namespaces, namespace(ns)),
    ...served(definition(group, { versions: [version('v1', schema, more)] })),
    post(all, widget('w', ',"spec":{"size":1}')),
    ...modes.flatMap((mode, index): Step[] => [
      post(all + query(mode), odd(`made${index}`)),
      post(
        all + query(mode),
        `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: y${index}\nspec:\n  size: 1\n  size: 2\n  nope: 3\n`,
        { type: 'application/yaml' },
      ),
      merge(`${all}/w${query(mode)}`, `{"spec":{"size":3,"size":4,"nope":1,"list":[{"x":1}]},"extra":1}`),
      jsonPatch(`${all}/w${query(mode)}`, `[{"op":"add","path":"/spec/nope","value":1,"extra":1}]`),
      apply(
        `${all}/b${index}${applied(mode)}`,
        `apiVersion: ${group}/v1\nkind: Widget\nmetadata:\n  name: b${index}\nspec:\n  size: 1\n  size: 2\n`,
      ),
      apply(`${all}/c${index}${applied(mode)}`, widget(`c${index}`, ',"spec":{"size":1,"nope":2}')),
      merge(`${all}/w/status${query(mode)}`, `{"status":{"ready":true,"ready":false,"nope":1},"spec":{"nope":1}}`),
    ]),
  ];
});
