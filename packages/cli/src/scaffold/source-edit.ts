import { parseSync } from 'rolldown/utils';
import { CommandError } from '../command/command-error.js';

/** A node of a syntax tree, with the place of its text. */
export interface SyntaxNode {
  readonly type: string;
  readonly start: number;
  readonly end: number;
  readonly [field: string]: unknown;
}

/** Parses a TypeScript module. Throws if it does not compile. @param path for messages */
export function parseModule(path: string, text: string): readonly SyntaxNode[] {
  const { program, errors } = parseSync(path, text);
  const [error] = errors;
  if (error !== undefined) throw new CommandError(`${path}: ${error.message}; correct it first, then run riata again`);
  return program.body as unknown as readonly SyntaxNode[];
}

/** An insertion, or a replacement of the text up to `end`. */
export interface TextEdit {
  readonly at: number;
  /** @default at */
  readonly end?: number;
  readonly text: string;
}

/** The text with all edits, each at its place in the original; everything else stays as it is, formatting included. */
export function applyEdits(text: string, edits: readonly TextEdit[]): string {
  // Edits at one place end up in their order.
  const fromTheEnd = edits.toReversed().sort((a, b) => b.at - a.at);
  return fromTheEnd.reduce(
    (edited, { at, end = at, text: part }) => edited.slice(0, at) + part + edited.slice(end),
    text,
  );
}

/** The variable of a module-level `const name = …`, exported or not. */
export interface ModuleConstant {
  /** The whole statement, with `export`. */
  readonly statement: SyntaxNode;
  readonly isExported: boolean;
  /** The value, without `as const` and `satisfies`. */
  readonly value: SyntaxNode;
}

/** The module-level constants, by their names. */
export function moduleConstants(body: readonly SyntaxNode[]): ReadonlyMap<string, ModuleConstant> {
  const found = new Map<string, ModuleConstant>();
  for (const statement of body) {
    const isExported = statement.type === 'ExportNamedDeclaration';
    const declaration = (isExported ? statement.declaration : statement) as SyntaxNode | null;
    if (declaration?.type !== 'VariableDeclaration') continue;
    for (const { id, init } of declaration.declarations as readonly { id: SyntaxNode; init: SyntaxNode | null }[]) {
      if (id.type !== 'Identifier' || init === null) continue;
      found.set(id.name as string, { statement, isExported, value: withoutTypes(init) });
    }
  }
  return found;
}

function withoutTypes(node: SyntaxNode): SyntaxNode {
  const isTyped = /^(?:TSAsExpression|TSSatisfiesExpression|TSNonNullExpression|ParenthesizedExpression)$/.test(
    node.type,
  );
  return isTyped ? withoutTypes(node.expression as SyntaxNode) : node;
}

/** An import declaration. */
export interface ModuleImport {
  readonly node: SyntaxNode;
  readonly source: string;
  /** Names that it declares. */
  readonly names: readonly string[];
  readonly specifiers: readonly SyntaxNode[];
  readonly isTypeOnly: boolean;
}

/** The import declarations of a module, in order. */
export function moduleImports(body: readonly SyntaxNode[]): readonly ModuleImport[] {
  return body
    .filter(({ type }) => type === 'ImportDeclaration')
    .map((node) => {
      const specifiers = node.specifiers as readonly SyntaxNode[];
      return {
        ...{ node, specifiers, isTypeOnly: node.importKind === 'type' },
        source: (node.source as { value: string }).value,
        names: specifiers.map(({ local }) => (local as { name: string }).name),
      };
    });
}

/** The line break of a text. */
export const lineBreakOf = (text: string) => (text.includes('\r\n') ? '\r\n' : '\n');
