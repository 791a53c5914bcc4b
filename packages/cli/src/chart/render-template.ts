import { isBroken, placeholderName } from './placeholder.js';
import { plainYaml } from './plain-yaml.js';
import { stringExpression, type TemplateValue, templateValue } from './template-expression.js';
import type { ValueNode } from './values-schema.js';

/** Writes an object with placeholders as a template of Helm. */
export function renderTemplate(root: ValueNode, object: object): string {
  return `${mapLines(root, object, 0).join('\n')}\n`;
}

type Lines = readonly string[];

const indent = (depth: number) => ' '.repeat(depth);

function mapLines(root: ValueNode, map: object, depth: number): Lines {
  const entries = Object.entries(map).filter(([, value]) => value !== undefined);
  return entries.flatMap(([key, value], index) => {
    const later = entries.slice(index + 1).map(([name]) => name);
    return entryLines(
      root,
      key,
      value,
      depth,
      later.filter((name) => placeholderName(name) === undefined),
    );
  });
}

/** @param later keys that come after a spread map, and win over it */
function entryLines(root: ValueNode, key: string, value: unknown, depth: number, later: Lines): Lines {
  const spread = templateValue(root, key);
  if (spread?.isSpread) return spreadLines(spread, depth, later);
  const name = stringExpression(root, key);
  const label = `${indent(depth)}${name === undefined ? literal(key) : `{{ ${name} }}`}:`;
  const found = templateValue(root, value);
  if (found !== undefined) return valueLines(found, label, depth);
  if (typeof value === 'object' && value !== null) {
    const lines = childLines(root, value, depth);
    return lines === undefined ? [`${label} ${emptyOf(value)}`] : guarded(root, value, [label, ...lines], depth);
  }
  return [`${label} ${scalar(root, value)}`];
}

/** Undefined if there are none. */
function childLines(root: ValueNode, value: object, depth: number): Lines | undefined {
  if (Array.isArray(value)) return value.length === 0 ? undefined : listLines(root, value, depth);
  const lines = mapLines(root, value, depth + 2);
  return lines.length === 0 ? undefined : lines;
}

function emptyOf(value: object): string {
  return Array.isArray(value) ? '[]' : '{}';
}

/** A list or map whose parts may all be absent is absent then. */
function guarded(root: ValueNode, value: object, lines: Lines, depth: number): Lines {
  const tests = Object.entries(value)
    .filter(([, item]) => item !== undefined)
    .map(([key, item]) => presence(templateValue(root, key)) ?? presence(templateValue(root, item)));
  if (tests.some((test) => test === undefined)) return lines;
  const test = tests.length === 1 ? tests[0] : `or ${tests.map((each) => `(${each})`).join(' ')}`;
  return [`${indent(depth)}{{- if ${test} }}`, ...lines, `${indent(depth)}{{- end }}`];
}

/** When a value is written at all; undefined: always. */
function presence(value: TemplateValue | undefined): string | undefined {
  if (value === undefined) return undefined;
  if (isCollection(value)) return value.expression;
  return value.node.isOptional ? `not (kindIs "invalid" ${value.expression})` : undefined;
}

function isCollection({ node: { type }, isSpread }: TemplateValue): boolean {
  return isSpread || type === 'array' || type === 'map' || type === 'object';
}

function valueLines(value: TemplateValue, label: string, depth: number): Lines {
  const [pad, { expression }] = [indent(depth), value];
  if (isCollection(value)) {
    return [
      `${pad}{{- with ${expression} }}`,
      label,
      `${indent(depth + 2)}{{- toYaml . | nindent ${depth + 2} }}`,
      `${pad}{{- end }}`,
    ];
  }
  const line = `${label} {{ ${printed(value)} }}`;
  return value.node.isOptional ? [`${pad}{{- if ${presence(value)} }}`, line, `${pad}{{- end }}`] : [line];
}

function printed({ expression, node }: TemplateValue): string {
  return node.type === 'string' ? `${expression} | quote` : `toJson ${expression}`;
}

function spreadLines({ expression }: TemplateValue, depth: number, later: Lines): Lines {
  const pad = indent(depth);
  const keys = later.map((key) => JSON.stringify(key)).join(' ');
  const rest = later.length === 0 ? expression : `omit (default dict ${expression}) ${keys}`;
  return [
    `${pad}{{- with ${later.length === 0 ? rest : `(${rest})`} }}`,
    `${pad}{{- toYaml . | nindent ${depth} }}`,
    `${pad}{{- end }}`,
  ];
}

function listLines(root: ValueNode, list: readonly unknown[], depth: number): Lines {
  const pad = indent(depth);
  return list.flatMap((item): Lines => {
    const found = templateValue(root, item);
    if (found?.isSpread) return spreadLines(found, depth, []);
    if (found !== undefined) {
      const line = `${pad}- {{ ${printed(found)} }}`;
      const test = presence(found);
      return test === undefined ? [line] : [`${pad}{{- if ${test} }}`, line, `${pad}{{- end }}`];
    }
    if (typeof item !== 'object' || item === null) return [`${pad}- ${scalar(root, item)}`];
    const lines = childLines(root, item, depth);
    if (lines === undefined) return [`${pad}- ${emptyOf(item)}`];
    const [first = '', ...rest] = lines;
    // A template that may be left out cannot follow the dash.
    const isPlain = !Array.isArray(item) && !first.trimStart().startsWith('{{');
    return isPlain ? [`${pad}- ${first.trimStart()}`, ...rest] : [`${pad}-`, ...deeper(lines, Array.isArray(item))];
  });
}

/** A list in a list has to be indented. */
function deeper(lines: Lines, isList: boolean): Lines {
  return isList ? lines.map((line) => `  ${line}`) : lines;
}

function scalar(root: ValueNode, value: unknown): string {
  if (typeof value !== 'string') return literal(value);
  const expression = stringExpression(root, value);
  return expression === undefined ? literal(value) : `{{ ${expression} }}`;
}

/** YAML on one line, whose braces Helm leaves alone. */
function literal(value: unknown): string {
  if (typeof value === 'string' && isBroken(value)) {
    throw new TypeError(`chart: a placeholder was changed by code: ${JSON.stringify(value)}`);
  }
  return plainYaml(value).replaceAll('{{', '{{ "{{" }}');
}
