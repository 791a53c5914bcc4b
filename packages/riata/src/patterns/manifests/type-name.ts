/** Words that cannot name an interface or a constant in a module, or that the text of each kind uses itself. */
const reserved: ReadonlySet<string> = new Set([
  ...[
    'arguments',
    'await',
    'break',
    'case',
    'catch',
    'class',
    'const',
    'continue',
    'debugger',
    'default',
    'delete',
    'do',
  ],
  ...['else', 'enum', 'eval', 'export', 'extends', 'false', 'finally', 'for', 'function', 'if', 'implements', 'import'],
  ...['in', 'instanceof', 'interface', 'let', 'new', 'null', 'package', 'private', 'protected', 'public', 'return'],
  ...['static', 'super', 'switch', 'this', 'throw', 'true', 'try', 'typeof', 'var', 'void', 'while', 'with', 'yield'],
  ...[
    'abstract',
    'accessor',
    'as',
    'asserts',
    'async',
    'constructor',
    'declare',
    'from',
    'get',
    'global',
    'infer',
    'is',
  ],
  ...[
    'keyof',
    'module',
    'namespace',
    'of',
    'out',
    'override',
    'readonly',
    'require',
    'satisfies',
    'set',
    'type',
    'unique',
  ],
  ...['using', 'any', 'bigint', 'boolean', 'never', 'number', 'object', 'string', 'symbol', 'undefined', 'unknown'],
  ...['ClusterMeta', 'Kind', 'ListMap', 'NamespacedMeta', 'WriteMeta', 'makeKind'],
]);

/**
 * A TypeScript identifier for the words given, whatever stands in them. Kinds may be called `My-Kind` or `string`, and
 * definitions from files anything at all: other characters are left out, and what comes after them begins with a capital.
 */
export function typeName(...words: readonly string[]): string {
  const [first = '', ...rest] = words.join('\0').split(/[^A-Za-z0-9_$]+/);
  const joined = [first, ...rest.map((word) => word.charAt(0).toUpperCase() + word.slice(1))].join('');
  const name = /^[A-Za-z_$]/.test(joined) ? joined : `_${joined}`;
  return reserved.has(name) ? `${name}Kind` : name;
}
