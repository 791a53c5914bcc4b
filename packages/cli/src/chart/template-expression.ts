import { placeholderName, splitTokens } from './placeholder.js';
import { spreadPrefix } from './placeholder-values.js';
import { nodeAt, type ValueNode } from './values-schema.js';

/** A value of a chart, or of the release, in a template. */
export interface TemplateValue {
  /** `values.image.tag` */
  readonly name: string;
  readonly node: Pick<ValueNode, 'type' | 'isOptional'>;
  /** `.Values.image.tag` */
  readonly expression: string;
  /** It stands for the parts of a list or map. */
  readonly isSpread: boolean;
}

const builtin: Readonly<Record<string, string>> = {
  'release.name': '.Release.Name',
  'release.namespace': '.Release.Namespace',
};

/** What a placeholder stands for; undefined for anything else. */
export function templateValue(root: ValueNode, value: unknown): TemplateValue | undefined {
  const given = placeholderName(value);
  if (given === undefined) return undefined;
  const isSpread = given.startsWith(spreadPrefix);
  const name = isSpread ? given.slice(spreadPrefix.length) : given;
  const known = builtin[name];
  if (known !== undefined) return { name, expression: known, isSpread, node: { type: 'string', isOptional: false } };
  const path = name.split('.').slice(1);
  const node = nodeAt(root, path);
  if (node === undefined)
    throw new TypeError(`chart: a placeholder was changed: ${name} is not in the schema of values`);
  return { name, node, isSpread, expression: expressionOf(root, path) };
}

/** The path in a template; parentheses keep a missing group from being an error. */
function expressionOf(root: ValueNode, path: readonly string[]): string {
  return path.reduce((expression, part, index) => {
    const isInOptional = nodeAt(root, path.slice(0, index))?.isOptional === true;
    if (!/^[A-Za-z_]\w*$/.test(part)) return `(index ${expression} ${JSON.stringify(part)})`;
    return isInOptional ? `(${expression}).${part}` : `${expression}.${part}`;
  }, '.Values');
}

/** A string with values in it, as an expression that gives a quoted string; undefined if it has none. */
export function stringExpression(root: ValueNode, text: string): string | undefined {
  const parts = splitTokens(text);
  if (!parts.some(({ name }) => name !== undefined)) return undefined;
  const values = parts.flatMap(({ name }) =>
    name === undefined ? [] : [templateValue(root, `\u{E000}${name}\u{E001}`)],
  );
  const format = parts.map(({ text: literal }) => literal?.replaceAll('%', '%%') ?? '%v').join('');
  const optional = values.find((value) => value?.node.isOptional);
  if (optional !== undefined) {
    throw new TypeError(`chart: ${optional.name} may be absent; give it a default in the schema to use it in a string`);
  }
  const parameters = values.map((value) => printed(value as TemplateValue)).join(' ');
  return `printf ${JSON.stringify(format)} ${parameters} | quote`;
}

/** Numbers of YAML are floats in Helm, which would print a million as 1e+06. */
function printed({ expression, node }: TemplateValue): string {
  return node.type === 'integer' || node.type === 'number' ? `(toJson ${expression})` : expression;
}
