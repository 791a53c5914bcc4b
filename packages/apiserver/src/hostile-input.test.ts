import { Buffer } from 'node:buffer';
import type { Json } from 'riata/object';
import { memoryLogger } from 'riata/runtime';
import { expect, test } from 'vitest';
import { ApiServer } from './api-server.js';
import { encodeObject } from './protobuf/envelope.js';

const configMaps = '/api/v1/namespaces/default/configmaps';
const definitions = '/apis/apiextensions.k8s.io/v1/customresourcedefinitions';
const depth = 10_000;
const nested = (open: string, close: string) => open.repeat(depth) + close.repeat(depth);
const deepList = nested('[', ']');
const deepMap = `${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`;
const deepYaml = `${'[ '.repeat(depth)}${'] '.repeat(depth)}`;
const indented = Array.from({ length: 1_500 }, (_, level) => `${' '.repeat(level)}a:`).join('\n');
const head = '"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"x"}';
const big = 'x'.repeat(10 * 1024 * 1024);
const json = 'application/json';
const protobuf = 'application/vnd.kubernetes.protobuf';
const merge = 'application/merge-patch+json';
const strategic = 'application/strategic-merge-patch+json';
const jsonPatch = 'application/json-patch+json';
const apply = 'application/apply-patch+yaml';

/** A definition whose schema is nested deeper than is read: `not` in `not` in `not`. */
function deepSchema(): Uint8Array {
  let schema: Json = {};
  for (let level = 0; level < 1_050; level++) schema = { not: schema };
  const version = { name: 'v1', schema: { openAPIV3Schema: schema } };
  const named = { apiVersion: 'apiextensions.k8s.io/v1', kind: 'CustomResourceDefinition' };
  return encodeObject({ ...named, spec: { versions: [version] } });
}

interface Case {
  readonly method: string;
  readonly path: string;
  readonly type?: string;
  readonly body?: string | Uint8Array;
}

const at = `${configMaps}/kept`;
const deep: Case[] = [deepList, deepMap].flatMap((text) => [
  { method: 'POST', path: configMaps, type: json, body: text },
  { method: 'POST', path: configMaps, type: json, body: `{${head},"data":${text}}` },
  { method: 'POST', path: configMaps, type: json, body: `{${head},"unknown":${text}}` },
  { method: 'POST', path: `${configMaps}?fieldValidation=Strict`, type: json, body: `{${head},"unknown":${text}}` },
  { method: 'POST', path: definitions, type: json, body: `{"spec":{"versions":${text}}}` },
  { method: 'PUT', path: at, type: json, body: `{${head},"metadata":${text}}` },
  { method: 'PATCH', path: at, type: merge, body: `{"data":${text}}` },
  { method: 'PATCH', path: at, type: strategic, body: `{"data":${text}}` },
  { method: 'PATCH', path: at, type: jsonPatch, body: `[{"op":"add","path":"/data","value":${text}}]` },
  { method: 'PATCH', path: `${at}?fieldManager=m`, type: apply, body: `{${head},"data":${text}}` },
  { method: 'DELETE', path: `${configMaps}/none`, type: json, body: text },
]);
const others: Case[] = [
  { method: 'PATCH', path: `${at}?fieldManager=m`, type: apply, body: deepYaml },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: deepYaml },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: 'a: &a [*a]' },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: `${'? '.repeat(depth)}x` },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: `${'- '.repeat(depth)}x` },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: `"\n${'{a: '.repeat(depth)}` },
  { method: 'POST', path: configMaps, type: 'application/yaml', body: indented },
  { method: 'PATCH', path: at, type: jsonPatch, body: `[{"op":"add","path":"${'/a'.repeat(depth)}","value":1}]` },
  { method: 'POST', path: configMaps, type: json, body: `{${head},"data":{"x":"${big}"}}` },
  { method: 'PATCH', path: at, type: merge, body: `{"data":{"x":"${big}"}}` },
  { method: 'PATCH', path: `${at}?fieldManager=m`, type: apply, body: big },
  { method: 'DELETE', path: at, type: json, body: `{"x":"${big}"}` },
  { method: 'POST', path: configMaps, type: json, body: Buffer.alloc(1024, 0xff) },
  { method: 'POST', path: configMaps, type: protobuf, body: Buffer.alloc(1024, 0xff) },
  { method: 'POST', path: configMaps, type: protobuf, body: Buffer.from(`k8s\0${'\n\x7f'.repeat(depth)}`, 'latin1') },
  { method: 'POST', path: definitions, type: protobuf, body: deepSchema() },
  { method: 'DELETE', path: at, type: protobuf, body: Buffer.from('k8s\0\x12\xff\xff\xff\xff\x0f', 'latin1') },
  { method: 'GET', path: `${configMaps}?labelSelector=${'('.repeat(depth)}` },
  { method: 'GET', path: `${configMaps}?labelSelector=${'a,'.repeat(depth)}!` },
  { method: 'GET', path: `${configMaps}?fieldSelector=${'a=b,'.repeat(depth)}` },
  { method: 'GET', path: `${configMaps}?continue=${'a'.repeat(depth)}` },
  { method: 'GET', path: `/${'a/'.repeat(depth)}` },
  { method: 'GET', path: `/api/v1/namespaces/default/configmaps/${'a'.repeat(depth)}` },
  { method: 'GET', path: '/api/v1/namespaces/default/configmaps/%00' },
  { method: 'GET', path: '/apis/__proto__/v1/constructor' },
  { method: 'GET', path: '/api/v1/namespaces/default/__proto__/x' },
  { method: 'GET', path: '/api/v1/namespaces/default/configmaps/__proto__/toString' },
  { method: 'GET', path: '/api/v1/namespaces/default/pods/x/constructor' },
];

async function sendAll(cases: readonly Case[]): Promise<void> {
  const log = memoryLogger();
  await using server = await ApiServer.start({ log, token: 't' });
  await send(server, { method: 'POST', path: configMaps, body: '{"metadata":{"name":"kept"},"data":{"a":"b"}}' });
  for (const asked of cases) {
    const shown = `${asked.method} ${asked.path.slice(0, 100)} ${asked.type ?? ''} ${String(asked.body).slice(0, 60)}`;
    const { status, text } = await send(server, asked);
    const answer = JSON.parse(text.startsWith('{') ? text : '{}') as { kind?: string; status?: string };
    expect(
      [status < 500, log.records.filter(({ level }) => level === 'error')],
      `${shown}: ${text.slice(0, 300)}`,
    ).toEqual([true, []]);
    if (status >= 300 && text.startsWith('{'))
      expect(answer, shown).toMatchObject({ kind: 'Status', status: 'Failure' });
  }
  // It still does its work.
  expect((await send(server, { method: 'GET', path: configMaps })).status).toBe(200);
}

function send(server: ApiServer, { method, path, type = json, body }: Case) {
  return new Promise<{ readonly status: number; readonly text: string }>((resolve, reject) => {
    const parts: Uint8Array[] = [];
    let status = 0;
    const headers = { authorization: 'Bearer t', ...(body === undefined ? {} : { 'content-type': type }) };
    server.transport.dispatch(
      { method, path, headers, body },
      {
        onHeaders: (code) => {
          status = code;
        },
        onData: (chunk) => parts.push(chunk),
        onEnd: () => resolve({ status, text: Buffer.concat(parts).toString() }),
        onError: reject,
      },
    );
  });
}

test('what is nested 10,000 deep is taken or refused', () => sendAll(deep));

test('what is very long, endless or not even text is taken or refused', () => sendAll(others));

test('names that JavaScript gives a meaning are names like any other', async () => {
  const log = memoryLogger();
  await using server = await ApiServer.start({ log, token: 't' });
  const names = ['__proto__', 'constructor', 'toString', 'hasOwnProperty', 'valueOf'];
  const data = `{${names.map((name) => `"${name}":"${name}"`).join(',')}}`;
  const read = async () => JSON.parse((await send(server, { method: 'GET', path: `${configMaps}/x` })).text).data;
  await send(server, { method: 'POST', path: configMaps, body: `{${head},"data":${data}}` });
  expect(Object.keys(await read()).sort()).toEqual([...names].sort());
  const changes = [
    [merge, '{"data":{"__proto__":null,"constructor":"changed"}}'],
    [strategic, '{"data":{"toString":"changed"}}'],
    [jsonPatch, '[{"op":"add","path":"/data/__proto__","value":"back"},{"op":"remove","path":"/data/valueOf"}]'],
    [apply, `{${head},"data":{"__proto__":"applied","constructor":"applied"}}`],
  ] as const;
  for (const [type, body] of changes) {
    const path = `${configMaps}/x?fieldManager=m&force=true`.replace(
      '&force=true',
      type === apply ? '&force=true' : '',
    );
    const { status, text } = await send(server, { method: 'PATCH', path, type, body });
    expect(status, text).toBe(200);
  }
  const last = await read();
  expect(Object.entries(last).sort()).toEqual([
    ['__proto__', 'applied'],
    ['constructor', 'applied'],
    ['hasOwnProperty', 'hasOwnProperty'],
    ['toString', 'changed'],
  ]);
  expect(({} as Record<string, unknown>).polluted).toBeUndefined();
  expect(log.records.filter(({ level }) => level === 'error')).toEqual([]);
});
