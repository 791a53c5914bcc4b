import type { Document, Scalar } from 'yaml';
import { ConfigError } from './config-error.js';
import { readSimpleYaml } from './read-simple-yaml.js';

/**
 * The meaning of the parser's codes. Its own messages quote the text, which may be a token: they are never passed on.
 */
const problems: Readonly<Record<string, string>> = {
  BAD_INDENT: 'bad indentation',
  TAB_AS_INDENT: 'a tab is used as indentation',
  DUPLICATE_KEY: 'duplicate key',
  MISSING_CHAR: 'a character such as a quote, comma, bracket or colon is missing',
  MULTILINE_IMPLICIT_KEY: 'a key must be on one line (is a quote or a colon missing?)',
  BLOCK_AS_IMPLICIT_KEY: 'a nested mapping must not start on the line of its key (is there a colon too many?)',
  BAD_ALIAS: 'an alias (*name) has no anchor (&name) before it',
  BAD_DQ_ESCAPE: 'a double-quoted text has an unknown backslash sequence',
  BAD_SCALAR_START: 'a text must not start with this character; quote it',
  MULTIPLE_DOCS: 'there is more than one document; keep one',
  UNEXPECTED_TOKEN: 'unexpected token',
};

/**
 * Reads kubeconfig text, YAML or JSON. The `yaml` package takes longer to load than everything else in a
 * client, so it is loaded only for text that is neither JSON nor as simple as most kubeconfigs. Plain numbers come back
 * as they were written (a password `0123` keeps its zero), except inside `extensions`.
 */
export async function readKubeconfigText(input: string | Uint8Array, source: string): Promise<unknown> {
  const text = (typeof input === 'string' ? input : Buffer.from(input).toString('utf8')).replace(/^\uFEFF/, '');
  if (text.trimStart().startsWith('{')) {
    try {
      return JSON.parse(text) as unknown;
    } catch {
      // It may still be YAML's flow style; if not, the YAML parser knows the line.
    }
  }
  const simple = readSimpleYaml(text);
  if (simple !== undefined) return simple;
  const yaml = await import('yaml');
  const document = yaml.parseDocument(text, { prettyErrors: false, merge: true, lineCounter: new yaml.LineCounter() });
  const [error] = document.errors;
  if (error !== undefined) {
    const line = text.slice(0, error.pos[0]).split('\n').length;
    throw new ConfigError(`line ${line}: not valid YAML: ${problems[error.code] ?? 'a syntax error'}`, { source });
  }
  keepNumbersAsWritten(document, yaml);
  try {
    return document.toJS() as unknown;
  } catch {
    throw new ConfigError('not valid YAML: aliases are unknown or nested too deeply', { source });
  }
}

function keepNumbersAsWritten(document: Document.Parsed, yaml: typeof import('yaml')): void {
  yaml.visit(document, {
    Pair: (_, pair) => (yaml.isScalar(pair.key) && pair.key.value === 'extensions' ? yaml.visit.SKIP : undefined),
    Scalar: (_, node: Scalar) => {
      if ((typeof node.value === 'number' || typeof node.value === 'bigint') && node.source !== undefined) {
        node.value = node.source;
      }
    },
  });
}
