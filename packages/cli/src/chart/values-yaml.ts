import { objectsToYaml } from 'riata/patterns';
import { plainYaml } from './plain-yaml.js';
import type { ValueNode } from './values-schema.js';

/** `values.yaml`: all values with their defaults, described by comments; those without a default are commented out. */
export async function valuesYaml(root: ValueNode): Promise<string> {
  const lines = await linesOf(root, 0);
  return `${lines.join('\n')}\n`;
}

async function linesOf(node: ValueNode, depth: number): Promise<string[]> {
  const pad = ' '.repeat(depth);
  const groups = await Promise.all(
    Object.entries(node.properties).map(async ([name, child]) => {
      const comments = (child.description ?? '')
        .split('\n')
        .filter((line) => line.trim() !== '')
        .map((line) => `${pad}# ${line.trim()}`);
      const isGroup = child.type === 'object' && child.default === undefined && !child.isOptional;
      const choices = child.choices.map((choice) => plainYaml(choice)).join(', ');
      const isListed = child.choices.length > 0;
      const lines = isGroup
        ? [`${pad}${plainYaml(name)}:`, ...(await linesOf(child, depth + 2))]
        : await entryLines(name, child, pad);
      return [...comments, ...(isListed ? [`${pad}# One of ${choices}`] : []), ...lines];
    }),
  );
  // At the top, a blank line between values.
  return groups.flatMap((lines, index) => (depth === 0 && index > 0 ? ['', ...lines] : lines));
}

async function entryLines(
  name: string,
  { default: value, isOptional, type }: ValueNode,
  pad: string,
): Promise<string[]> {
  if (value === undefined) {
    const shown = { string: '""', integer: '0', number: '0', boolean: 'false', array: '[]' }[type as string] ?? '{}';
    return [`${pad}# ${plainYaml(name)}: ${shown}${isOptional ? '' : ' # required'}`];
  }
  const text = await objectsToYaml([{ [name]: value }]);
  return text
    .trimEnd()
    .split('\n')
    .map((line) => `${pad}${line}`);
}
