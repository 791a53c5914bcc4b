// @ts-check
/**
 * The numbers that Protobuf has for the fields of the built-in types. Go's struct tags say which JSON field has which
 * number; the `generated.proto` files say what is behind each number, and both must agree.
 */
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { goModule } from './source.mjs';

/**
 * @typedef {import('./built-in-schemas.mjs').GoTypes} GoTypes
 * @typedef {{ name: string, number: number, type: string, repeated: boolean }} ProtoField
 */

/**
 * One line for each struct: the numbers of its fields in the order of built-in-types.ts, `2.1` for field 1 of the
 * embedded message 2, `-` for what Protobuf leaves out. Structs whose fields are simply counted have none.
 *
 * @param {Set<string>} names
 * @param {GoTypes} go
 * @param {(name: string) => { pkg: string, short: string }} split
 */
export function emitFieldNumbers(names, go, split) {
  const messages = protoMessages();
  /** @type {Map<string, string[]>} */
  const packages = new Map();
  for (const name of [...names].sort()) {
    const fields = go.types[name]?.fields;
    if (fields === undefined) continue;
    for (const field of fields) if (field.number) check(name, field, messages);
    const numbers = fields.map(({ number }) => number || '-');
    const counted = numbers.filter((number) => number !== '-');
    const plain = fields.every(({ number, via }) => number || via === 'TypeMeta.');
    if (plain && counted.every((number, index) => number === String(index + 1))) continue;
    const { pkg, short } = split(name);
    const lines = packages.get(pkg) ?? [];
    packages.set(pkg, lines);
    lines.push(`${short} ${numbers.join(' ')}`);
  }
  checkLists(messages);
  const blocks = [...packages]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([pkg, lines]) => `  ${/\W/.test(pkg) ? `'${pkg}'` : pkg}: \`\n${lines.join('\n')}\n\`,`);
  return [
    '/** Go package → the Protobuf numbers of its types: see ../../protobuf/message-plan.ts for the language. */',
    'export const fieldNumberTexts: Readonly<Record<string, string>> = {',
    ...blocks,
    '};',
    '',
  ].join('\n');
}

/**
 * Follows a field's numbers through the messages, and compares what is there with its Go type.
 *
 * @param {string} owner
 * @param {import('./built-in-schemas.mjs').GoField} field
 * @param {Map<string, ProtoField[]>} messages
 */
function check(owner, field, messages) {
  const path = (field.number ?? '').split('.').map(Number);
  let message = owner;
  for (const [index, number] of path.entries()) {
    const found = messages.get(message)?.find((f) => f.number === number);
    if (found === undefined) throw new Error(`${message} has no field ${number}: ${owner}.${field.name}`);
    if (index < path.length - 1) message = found.type;
    else if (!fits(field.type, found)) {
      throw new Error(`${owner}.${field.name} is ${field.type} in Go and ${found.type} in Protobuf`);
    }
  }
}

/** @param {string} goType @param {ProtoField} field */
function fits(goType, { type, repeated }) {
  const bare = goType.replace(/^\*/, '');
  const scalars = { string: 'string', bool: 'bool', int32: 'int32', int64: 'int64', float64: 'double' };
  if (bare === '[]uint8') return type === 'bytes';
  if (bare.startsWith('map[')) return type.startsWith('map<string');
  if (bare.startsWith('[]')) return repeated;
  const scalar = /** @type {Record<string, string>} */ (scalars)[bare];
  // A named type is a message of that name, or another name of a text or a map.
  if (scalar !== undefined) return type === scalar;
  return type === bare || ['string', 'int32', 'int64'].includes(type) || type.startsWith('map<string') || repeated;
}

/** Lists have no types of their own here: all of them have to be alike. @param {Map<string, ProtoField[]>} messages */
function checkLists(messages) {
  for (const [name, fields] of messages) {
    if (!/\/v[^.]*\.\w+List$/.test(name) || /meta\/v1beta1/.test(name)) continue;
    const [metadata, items] = fields;
    if (metadata?.name !== 'metadata' || metadata.number !== 1) continue;
    if (items?.name !== 'items' || items.number !== 2) throw new Error(`${name} is no list like the others`);
  }
}

/** Every message by its name with Go's import path. */
function protoMessages() {
  const modules = ['api', 'apimachinery', 'apiextensions-apiserver', 'kube-aggregator'].map((m) => `k8s.io/${m}`);
  const list = ['list', '-m', '-f', '{{.Dir}}', ...modules];
  const dirs = execFileSync('go', list, { cwd: goModule, encoding: 'utf8' }).trim().split('\n');
  /** @type {Map<string, ProtoField[]>} */
  const messages = new Map();
  for (const dir of dirs) {
    for (const path of readdirSync(dir, { recursive: true, encoding: 'utf8' })) {
      if (path.endsWith('generated.proto')) readProto(readFileSync(join(dir, path), 'utf8'), messages);
    }
  }
  return messages;
}

/** @param {string} text @param {Map<string, ProtoField[]>} messages */
function readProto(text, messages) {
  const home = importPath(/^package (.*);/m.exec(text)?.[1] ?? '');
  for (const [, message = '', body = ''] of text.matchAll(/^message (\w+) \{\n([\s\S]*?)^\}/gm)) {
    const lines = body.matchAll(/^\s+(?:(optional|repeated) (\S+)|(map<[^>]*>)) (\w+) = (\d+);/gm);
    const fields = [...lines].map(([, label, type = '', map, name = '', number]) => ({
      ...{ name, number: Number(number), repeated: label === 'repeated' },
      type: map ?? typeName(type, home),
    }));
    messages.set(`${home}.${message}`, fields);
  }
}

/** `.k8s.io.api.core.v1.Pod` or, in the same package, `Pod` → `k8s.io/api/core/v1.Pod`. @param {string} type @param {string} home */
function typeName(type, home) {
  if (/^[a-z]/.test(type)) return type;
  if (!type.startsWith('.')) return `${home}.${type}`;
  const dot = type.lastIndexOf('.');
  return `${importPath(type.slice(1, dot))}${type.slice(dot)}`;
}

/** @param {string} name */
function importPath(name) {
  return name
    .replaceAll('.', '/')
    .replaceAll('_', '-')
    .replace(/^k8s\/io/, 'k8s.io');
}
