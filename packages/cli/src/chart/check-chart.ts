import type { WriteObject } from 'riata/client';
import type { Json, JsonObject } from 'riata/object';
import { diffObjects, formatDiff } from 'riata/patterns';
import type { ChartConfig, ChartContext } from './chart.js';
import { comparable, evaluateObjects } from './evaluate-objects.js';
import { nameOf } from './placeholder-values.js';
import { defaultValues, leavesOf, type ValueNode } from './values-schema.js';

/**
 * Compares what Helm would make of the templates with what `objects` gives for the same values: the defaults, each boolean
 * the other way, each choice. Throws if they differ: the function decides by a value, which a template can't.
 */
export async function checkChart(
  chart: ChartConfig,
  root: ValueNode,
  objects: readonly WriteObject[],
  context: Pick<ChartContext, 'operator'>,
): Promise<void> {
  const release = { name: 'sample', namespace: 'sample-namespace' };
  const defaults = defaultValues(root);
  for (const { values, leaf } of [{ values: defaults, leaf: undefined }, ...samples(root, defaults)]) {
    const expected = await chart.objects(values, { ...context, release });
    const made = evaluateObjects(root, objects, values, release);
    const difference = firstDifference(expected.filter(isReleased), made);
    if (difference === undefined) continue;
    const cause =
      leaf === undefined ? 'with the default values' : `if ${nameOf(leaf.node)} is ${JSON.stringify(leaf.value)}`;
    throw new TypeError(
      `chart: ${cause}, objects gives something else than the templates: ${difference}; templates cannot decide by a value: use onlyIf(value, objects), or make what depends on it a value of its own`,
    );
  }
}

/** Helm creates the namespace of a release itself. */
export function isReleased({ kind }: WriteObject): boolean {
  return kind !== 'Namespace';
}

function samples(root: ValueNode, defaults: JsonObject) {
  return leavesOf(root).flatMap((node) => {
    const current = valueAt(defaults, node.path);
    const choices: readonly Json[] = node.type === 'boolean' ? [true, false] : node.choices;
    return choices
      .filter((choice) => choice !== current)
      .map((value) => ({ values: withValue(defaults, node.path, value), leaf: { node, value } }));
  });
}

function valueAt(values: JsonObject, path: readonly string[]): unknown {
  return path.reduce<unknown>((value, name) => (value as JsonObject | undefined)?.[name], values);
}

function withValue(values: JsonObject, [name = '', ...rest]: readonly string[], value: Json): JsonObject {
  const inner = (values[name] ?? {}) as JsonObject;
  return { ...values, [name]: rest.length === 0 ? value : withValue(inner, rest, value) };
}

function firstDifference(expected: readonly WriteObject[], made: readonly Json[]): string | undefined {
  const [left, right] = [byName(expected), byName(made as readonly unknown[] as readonly WriteObject[])];
  for (const [name, object] of left) {
    const other = right.get(name);
    if (other === undefined) return `${name} is only in objects`;
    const [line] = formatDiff(diffObjects(other, object));
    if (line !== undefined) return `${name}: ${line}`;
  }
  const extra = [...right.keys()].find((name) => !left.has(name));
  return extra === undefined ? undefined : `${extra} is only in the templates`;
}

function byName(objects: readonly WriteObject[]): Map<string, object> {
  return new Map(
    objects.map((object) => {
      const { kind, metadata } = object;
      const plain = comparable(JSON.parse(JSON.stringify(object))) as object;
      return [`${kind} ${metadata.namespace ?? ''}/${metadata.name}`, plain];
    }),
  );
}
