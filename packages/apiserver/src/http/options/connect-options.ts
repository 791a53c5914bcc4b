import type { JsonObject } from 'riata/object';
import type { Subresource } from '../../resource/resource.js';
import type { Query } from './query-string.js';
import { truth } from './query-values.js';

type Read = (query: Query, name: string) => JsonObject[string] | undefined;

const flag: Read = (query, name) => truth(query, name) || undefined;
const text: Read = (query, name) => query.get(name)?.[0] || undefined;
const texts: Read = (query, name) => query.get(name);
const numbers: Read = (query, name) => query.get(name)?.map(Number);

const streams = { stdin: flag, stdout: flag, stderr: flag, tty: flag, container: text };

/** The option kinds of connections, and the parameters that they are read from. */
const kinds: Readonly<Record<string, Readonly<Record<string, Read>>>> = {
  PodExecOptions: { ...streams, command: texts },
  PodAttachOptions: streams,
  PodPortForwardOptions: { ports: numbers },
  PodProxyOptions: {},
  ServiceProxyOptions: {},
  NodeProxyOptions: {},
};

/** Whether a subresource connects its caller to something else, by whatever method it is asked. */
export function isConnection({ kind }: Subresource): boolean {
  return Object.hasOwn(kinds, kind);
}

/** The options of a connection, as an object of the subresource's option kind. */
export function parseConnectOptions({ kind, group, version }: Subresource, query: Query): JsonObject {
  const fields = Object.entries(kinds[kind] ?? {}).flatMap(([name, read]) => {
    const value = read(query, name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return { kind, apiVersion: group === '' ? version : `${group}/${version}`, ...Object.fromEntries(fields) };
}
