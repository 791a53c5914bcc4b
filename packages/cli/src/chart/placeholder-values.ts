import { placeholderMark, tokenFor } from './placeholder.js';
import type { ValueNode } from './values-schema.js';

/** Before the name of a list or map that is spread into another one. */
export const spreadPrefix = '...';

/**
 * Placeholders for all values of a chart. Strings are strings, so that they pass through any code; the others are objects
 * that can be passed on, named in a template literal, or spread. Everything else that code may try with them is an error
 * that names the value.
 */
export function placeholderValues(node: ValueNode): unknown {
  const name = nameOf(node);
  if (node.type === 'string') return tokenFor(name);
  const base = placeholderMark(name);
  return new Proxy(base, {
    get: (target, key) => {
      if (key in target) return Reflect.get(target, key);
      if (key === Symbol.toPrimitive) return (hint: string) => primitive(node, hint);
      if (key === Symbol.iterator && node.type === 'array')
        return () => [tokenFor(`${spreadPrefix}${name}`)][Symbol.iterator]();
      if (key === 'toJSON') return () => tokenFor(name);
      if (typeof key === 'symbol' || key === 'then') return undefined;
      const child = Object.hasOwn(node.properties, key) ? node.properties[key] : undefined;
      if (child !== undefined) return placeholderValues(child);
      if (key === tokenFor(`${spreadPrefix}${name}`)) return key;
      throw new TypeError(refusal(node, key));
    },
    set: (_, key) => {
      throw new TypeError(`chart: ${name}.${String(key)} is a placeholder and cannot be assigned`);
    },
    has: (target, key) => key in target || Object.hasOwn(node.properties, key),
    ownKeys: () => ownKeys(node),
    getOwnPropertyDescriptor: (_, key) => {
      if (typeof key === 'symbol') return undefined;
      const child = node.properties[key];
      const value = child === undefined ? tokenFor(`${spreadPrefix}${name}`) : placeholderValues(child);
      return { configurable: true, enumerable: true, value, writable: false };
    },
  });
}

/** What errors and tokens call a value. */
export function nameOf({ path }: ValueNode): string {
  return ['values', ...path].join('.');
}

function primitive(node: ValueNode, hint: string): string {
  const name = nameOf(node);
  const isScalar = node.type === 'integer' || node.type === 'number' || node.type === 'boolean' || node.type === 'any';
  if (hint === 'string' && isScalar) return tokenFor(name);
  if (hint === 'string') throw new TypeError(`chart: ${name} is ${articled(node.type)} and cannot be part of a string`);
  throw new TypeError(
    `chart: ${name} is only known when the chart is installed; it cannot be computed with or compared; make the result a value of its own`,
  );
}

function ownKeys(node: ValueNode): string[] {
  if (node.type === 'object') return Object.keys(node.properties);
  if (node.type === 'map') return [tokenFor(`${spreadPrefix}${nameOf(node)}`)];
  throw new TypeError(`chart: ${nameOf(node)} is ${articled(node.type)} and cannot be spread into an object`);
}

function refusal(node: ValueNode, key: string): string {
  const name = nameOf(node);
  if (node.type === 'object') {
    return `chart: ${name}.${key} is not in the schema of values; known are ${Object.keys(node.properties).join(', ')}`;
  }
  return `chart: ${name} is only known when the chart is installed; ${key} of it cannot be read: pass it on as a whole`;
}

function articled(type: string): string {
  return `${/^[aeio]/.test(type) ? 'an' : 'a'} ${type}`;
}
