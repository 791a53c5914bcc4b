import { CommandError } from '../command/command-error.js';
import {
  applyEdits,
  lineBreakOf,
  type ModuleImport,
  moduleConstants,
  moduleImports,
  parseModule,
  type SyntaxNode,
  type TextEdit,
} from './source-edit.js';

/** A definition that a module exports: a controller, a webhook. */
export interface NewDefinition {
  readonly name: string;
  /** As the main module imports it: `./sites.js`. */
  readonly from: string;
}

/**
 * The text of a main module with more definitions: imported, and at the end of its `definitions`. The rest of the text
 * stays as it is. Throws, with the lines to add by hand, if the module has another shape.
 */
export function addDefinitions(path: string, text: string, added: readonly NewDefinition[]): string {
  return added.reduce((edited, each) => addDefinition(path, edited, each), text);
}

function addDefinition(path: string, text: string, added: NewDefinition): string {
  const body = parseModule(path, text);
  const constants = moduleConstants(body);
  const imports = moduleImports(body);
  if (constants.has(added.name) || imports.some(({ names }) => names.includes(added.name))) {
    throw new CommandError(`${path}: "${added.name}" exists already; rename it, or choose another kind`);
  }
  const array = constants.get('definitions');
  const problem =
    array === undefined
      ? 'it has no constant named definitions'
      : array.isExported
        ? array.value.type === 'ArrayExpression'
          ? undefined
          : 'definitions is not an array literal'
        : 'definitions is not exported';
  if (array === undefined || problem !== undefined) throw new CommandError(byHand(path, problem ?? '', added));
  return applyEdits(text, [importOf(text, imports, body, added), ...appendTo(text, array.value, added.name)]);
}

/** What to tell a user whose module has another shape. */
function byHand(path: string, problem: string, { name, from }: NewDefinition): string {
  return `${path}: cannot add ${name}: ${problem}. Run riata with --no-wire to write the files alone, then add these lines:
  import { ${name} } from '${from}';
  export const definitions = [/* … */ ${name}];`;
}

/** The import declaration, in its sorted place among those of the project's own modules. */
function importOf(
  text: string,
  imports: readonly ModuleImport[],
  body: readonly SyntaxNode[],
  { name, from }: NewDefinition,
): TextEdit {
  const [first] = imports;
  const quote = first === undefined ? "'" : text.charAt((first.node.source as SyntaxNode).start);
  const end = first === undefined || text.charAt(first.node.end - 1) === ';' ? ';' : '';
  const line = `import { ${name} } from ${quote}${from}${quote}${end}`;
  const lineBreak = lineBreakOf(text);
  const own = imports.filter(({ source }) => source.startsWith('.'));
  const next = own.find(({ source }) => sortKey(source) > sortKey(from));
  if (next !== undefined) return { at: next.node.start, text: line + lineBreak };
  const last = imports.at(-1);
  if (last !== undefined) return { at: last.node.end, text: lineBreak + line };
  return { at: body[0]?.start ?? 0, text: line + lineBreak + lineBreak };
}

/** Formatters sort modules by their names without extension: `site` before `site-rules`. */
const sortKey = (source: string) => source.replace(/\.[cm]?[jt]s$/, '');

function appendTo(text: string, array: SyntaxNode, name: string): TextEdit[] {
  const elements = (array.elements as readonly (SyntaxNode | null)[]).filter((each) => each !== null);
  const last = elements.at(-1);
  if (last === undefined) return [{ at: array.start + 1, text: name }];
  const comma = trailingComma(text, last.end, array.end - 1);
  const lineStart = text.lastIndexOf('\n', last.start) + 1;
  const indent = /^[ \t]*/.exec(text.slice(lineStart))?.[0] ?? '';
  const isOnePerLine = lineStart > array.start && text.slice(last.end, array.end).includes('\n');
  if (!isOnePerLine) return [{ at: comma === undefined ? last.end : comma, text: `, ${name}` }];
  // A comment after the last element stays with it.
  const lineEnd = lineEndAfter(text, comma === undefined ? last.end : comma + 1);
  const added: TextEdit = {
    at: lineEnd,
    text: `${lineBreakOf(text)}${indent}${name}${comma === undefined ? '' : ','}`,
  };
  return comma === undefined ? [{ at: last.end, text: ',' }, added] : [added];
}

/** The place of the comma after the last element, comments skipped. */
function trailingComma(text: string, from: number, to: number): number | undefined {
  const rest = text.slice(from, to).replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, (comment) => ' '.repeat(comment.length));
  const at = rest.indexOf(',');
  return at < 0 ? undefined : from + at;
}

function lineEndAfter(text: string, from: number): number {
  const at = text.indexOf('\n', from);
  return text.charAt(at - 1) === '\r' ? at - 1 : at;
}
