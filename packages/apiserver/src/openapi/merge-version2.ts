import { equal, isJsonObject, type Json, type JsonObject } from 'riata/object';
import { recordOf } from '../resource/metadata.js';

const gvkKey = 'x-kubernetes-group-version-kind';

/** The OpenAPI 2 document of another server, and where its own paths are. */
export interface OtherDocument {
  /** E.g. `/apis/example.com/v1/`. */
  readonly prefix: string;
  readonly document: JsonObject;
}

/**
 * One document of OpenAPI 2 with the paths that other servers have below their prefixes, and their definitions
 * (`MergeSpecsIgnorePathConflictRenamingDefinitionsAndParameters`). A definition that differs from one of the same
 * name by more than its descriptions is renamed to `NAME_v2`, and so on.
 */
export function mergeVersion2(own: JsonObject, others: readonly OtherDocument[]): JsonObject {
  return others.reduce(merged, own);
}

function merged(into: JsonObject, { prefix, document }: OtherDocument): JsonObject {
  const known = recordOf(into.paths);
  const paths = Object.entries(recordOf(document.paths)).filter(
    ([path]) => path.startsWith(prefix) && known[path] === undefined,
  );
  if (paths.length === 0) return into;
  const kept = Object.fromEntries(paths);
  const source = { paths: kept, definitions: remaining(kept, document), parameters: recordOf(document.parameters) };
  const renamed = withRenames(source, {
    definitions: renames(recordOf(into.definitions), source.definitions),
    parameters: renames(recordOf(into.parameters), source.parameters),
  });
  const definitions = { ...recordOf(into.definitions) };
  for (const [name, definition] of Object.entries(renamed.definitions)) {
    definitions[name] = definitions[name] === undefined ? definition : withGvks(definitions[name], definition);
  }
  const parameters = { ...renamed.parameters, ...recordOf(into.parameters) };
  return {
    ...into,
    paths: { ...known, ...renamed.paths },
    definitions,
    ...(Object.keys(parameters).length === 0 ? {} : { parameters }),
  };
}

interface Source {
  readonly paths: JsonObject;
  readonly definitions: JsonObject;
  readonly parameters: JsonObject;
}

/** The definitions of a document without those that only other paths use; what no path uses stays, as upstream. */
function remaining(paths: JsonObject, document: JsonObject): JsonObject {
  const definitions = recordOf(document.definitions);
  const [now, before] = [usedBy(paths, definitions), usedBy(recordOf(document.paths), definitions)];
  return Object.fromEntries(Object.entries(definitions).filter(([name]) => now.has(name) || !before.has(name)));
}

/** The names of the definitions that paths refer to, also by way of others. */
function usedBy(paths: JsonObject, definitions: JsonObject): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Json | undefined): void => {
    if (Array.isArray(value)) value.forEach(visit);
    if (!isJsonObject(value)) return;
    const { sort, name = '' } = reference(value.$ref) ?? {};
    if (sort === 'definitions' && !found.has(name)) {
      found.add(name);
      visit(definitions[name]);
    }
    for (const inner of Object.values(value)) visit(inner);
  };
  visit(paths);
  return found;
}

function reference(
  ref: Json | undefined,
): { readonly sort: 'definitions' | 'parameters'; readonly name: string } | undefined {
  const [, sort, name = ''] = (typeof ref === 'string' && /^#\/(definitions|parameters)\/(.*)$/.exec(ref)) || [];
  return sort === undefined ? undefined : { sort: sort as 'definitions' | 'parameters', name };
}

/** New names for what is in conflict with what is known by the same name. */
function renames(known: JsonObject, others: JsonObject): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const taken = new Set([...Object.keys(known), ...Object.keys(others)]);
  for (const [name, value] of Object.entries(others)) {
    if (known[name] === undefined || isSame(known[name], value)) continue;
    let number = 2;
    const next = () => `${name}_v${number}`;
    while (taken.has(next()) && !(known[next()] !== undefined && isSame(known[next()], value))) number += 1;
    taken.add(next());
    found.set(name, next());
  }
  return found;
}

function isSame(one: Json | undefined, other: Json | undefined): boolean {
  const bare = (value: Json | undefined) => {
    const { [gvkKey]: _, ...rest } = recordOf(value);
    return withoutWords(rest);
  };
  return equal(bare(one), bare(other));
}

/** This server's own definitions have no descriptions. */
function withoutWords(value: Json): Json {
  if (Array.isArray(value)) return value.map(withoutWords);
  if (!isJsonObject(value)) return value;
  const kept = Object.entries(value).filter(([name, inner]) => !(name === 'description' && typeof inner === 'string'));
  return Object.fromEntries(kept.map(([name, inner]) => [name, withoutWords(inner ?? null)]));
}

function withRenames(source: Source, by: Record<'definitions' | 'parameters', ReadonlyMap<string, string>>): Source {
  const visit = (value: Json): Json => {
    if (Array.isArray(value)) return value.map(visit);
    if (!isJsonObject(value)) return value;
    const made = Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, visit(inner ?? null)]));
    const { sort, name = '' } = reference(value.$ref) ?? {};
    const other = sort && by[sort].get(name);
    return other === undefined ? made : { ...made, $ref: `#/${sort}/${other}` };
  };
  const renamed = (of: JsonObject, names: ReadonlyMap<string, string>) =>
    Object.fromEntries(Object.entries(of).map(([name, value]) => [names.get(name) ?? name, visit(value ?? null)]));
  return {
    paths: visit(source.paths) as JsonObject,
    definitions: renamed(source.definitions, by.definitions),
    parameters: renamed(source.parameters, by.parameters),
  };
}

/** A definition, known for the kinds of another one, too. */
function withGvks(known: Json | undefined, other: Json | undefined): JsonObject {
  const [definition, more] = [recordOf(known), recordOf(other)[gvkKey]];
  if (!Array.isArray(more)) return definition;
  const own = Array.isArray(definition[gvkKey]) ? definition[gvkKey] : [];
  const added = more.filter((one) => !own.some((kind) => equal(kind, one)));
  return added.length === 0 ? definition : { ...definition, [gvkKey]: [...own, ...added] };
}
