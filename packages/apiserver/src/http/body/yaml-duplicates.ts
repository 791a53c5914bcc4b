import { Buffer } from 'node:buffer';
import type { Node, Pair, YAMLMap } from 'yaml';
import { duplicateComplaints } from '../../schema/strict-fields.js';
import { goQuote } from '../../status/go-quote.js';
import { atOnce } from '../../steps.js';

/** Begins what Go's decoder says about keys that stand twice. */
export const yamlProblems = 'yaml: unmarshal errors:\n';

/**
 * The errors of a strict decoding of a YAML text: duplicate keys, a line for each, as Go's decoder reports them;
 * undefined if there are none. The text must be valid.
 */
export async function yamlDuplicates(bytes: Uint8Array): Promise<string | undefined> {
  const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('utf8');
  // Most of what is applied is JSON, where it is found out faster that all is well.
  if (isJson(text) && atOnce(duplicateComplaints(text)).length === 0) return undefined;
  const { isAlias, isMap, isScalar, isSeq, LineCounter, parseAllDocuments } = await import('yaml');
  const lines = new LineCounter();
  const options = { version: '1.1', uniqueKeys: false, logLevel: 'silent', lineCounter: lines } as const;
  const parsed = parseAllDocuments(text, options);
  const [first] = Array.isArray(parsed) ? parsed : [];
  const found: string[] = [];
  const resolved = (node: unknown) => (isAlias(node) && first !== undefined ? node.resolve(first) : node);
  // The contents of a value are read before the key is put into its map.
  const look = (node: unknown, seen = new Set<unknown>()): void => {
    if (isSeq(node)) for (const item of node.items) look(item);
    if (!isMap(node)) return;
    for (const { key, value } of (node as YAMLMap<unknown, unknown>).items as Pair<unknown, unknown>[]) {
      const name = isScalar(key) ? key.value : isAlias(key) ? key.source : undefined;
      if (isScalar(key) && key.source === '<<' && key.type === 'PLAIN') {
        // The members of what is merged come into this map.
        const merged = resolved(value);
        for (const map of isSeq(merged) ? merged.items : [merged]) look(resolved(map), seen);
        continue;
      }
      look(value);
      if (seen.has(name)) found.push(`  line ${lineOf(lines, value, key)}: key ${shown(name)} already set in map`);
      seen.add(name);
    }
  };
  look(first?.contents);
  return found.length === 0 ? undefined : yamlProblems + found.join('\n');
}

function isJson(text: string): boolean {
  if (!/^\s*\{/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** The line of the value; of the key, if it has none. */
function lineOf(lines: { linePos(offset: number): { line: number } }, value: unknown, key: unknown): number {
  const start = (value as Node | null)?.range?.[0] ?? (key as Node).range?.[0] ?? 0;
  return lines.linePos(start).line;
}

function shown(name: unknown): string {
  return typeof name === 'string' ? goQuote(name) : String(name);
}
