// @ts-check
/**
 * Reports words that don't belong in messages and exported names. Messages are the strings with a space in them: errors,
 * log lines and option texts. `npm run check` fails on any.
 */
import { readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('..', import.meta.url));

/** What not to write, and what to write instead. */
const phrases = /** @type {const} */ ([
  [/\b(?:tell|tells|told|telling)\b/i, 'report, log, emit or notify'],
  [/\b(?:want|wants|wanted)\b/i, 'must be, requires or expects; desired'],
  [/\b(?:somebody|nobody|whoever|everybody)\b/i, 'name the actor'],
  [/\b(?:is|are|was|were) none\b|\bthere is none\b/, 'invalid, malformed or missing'],
  [/\bis there twice\b/i, 'duplicate'],
  [/\b(?:mended|spoilt|spoils)\b/i, 'corrected, restored'],
  [/\bat hand\b/i, 'cached, loaded'],
  [/\bput in line\b/i, 'enqueue'],
  [/\blooks? again\b|\bcomes? again\b/i, 'retry, requeue'],
  [/\bunder way\b/i, 'in flight'],
  [/\bbeside the namespaces\b/i, 'cluster-scoped'],
  [/\bby chance\b/i, 'randomly'],
  [/\bwould change nothing\b/i, 'unchanged, no-op'],
  [/\b(?:see|sees) to\b|\blooks? after\b/i, 'handle, process'],
]);

const nameWords = new Set([
  ...['tell', 'tells', 'told', 'wants', 'wanted', 'somebody', 'nobody', 'whoever', 'mended', 'begun', 'alike', 'doubt'],
  ...['doubts', 'hand'],
]);

/** @param {string} text the source @returns {Generator<{ at: number, text: string }>} strings and templates, comments left out */
function* stringsOf(text) {
  const regex = /(?<=[=(,:[!&|?{};]\s*)\/(?![/*])(?:\\.|\[(?:\\.|[^\]\\\n])*\]|[^/\\\n[])+\//;
  const token = /\/\/[^\n]*|\/\*[\s\S]*?\*\/|'(?:\\.|[^'\\\n])*'|"(?:\\.|[^"\\\n])*"|`(?:\\[\s\S]|[^`\\])*`/;
  for (const match of text.matchAll(new RegExp(`${regex.source}|${token.source}`, 'g'))) {
    if (!match[0].startsWith('/')) yield { at: match.index, text: match[0].replace(/\$\{[^}]*\}/g, '…') };
  }
}

/** @param {string} file @param {string} text @returns {string[]} */
export function wordProblems(file, text) {
  /** @param {number} at */
  const place = (at) => `${file}:${text.slice(0, at).split('\n').length}`;
  const problems = [];
  for (const string of stringsOf(text)) {
    if (!string.text.includes(' ')) continue;
    for (const [pattern, instead] of phrases) {
      const found = pattern.exec(string.text);
      if (found) problems.push(`${place(string.at)} "${found[0]}" in a message; write: ${instead}`);
    }
  }
  for (const match of text.matchAll(
    /^export (?:declare |abstract |async )*(?:class|function\*?|const|interface|type) (\w+)/gm,
  )) {
    const words = (match[1] ?? '').split(/(?<=[a-z0-9])(?=[A-Z])/).map((word) => word.toLowerCase());
    const bad = words.find((word) => nameWords.has(word));
    if (bad) problems.push(`${place(match.index)} exported name ${match[1]} has the word "${bad}"`);
  }
  return problems;
}

function sources() {
  return readdirSync(join(root, 'packages')).flatMap((name) => {
    const src = join(root, 'packages', name, 'src');
    return readdirSync(src, { recursive: true, encoding: 'utf8' })
      .filter((path) => path.endsWith('.ts') && !/\.(test|test-d|fixture)\.ts$|generated/.test(path))
      .map((path) => join(src, path));
  });
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const problems = sources().flatMap((path) => wordProblems(relative(root, path), readFileSync(path, 'utf8')));
  for (const problem of problems) console.error(problem);
  if (problems.length > 0) process.exit(1);
  console.log('words: none of those to avoid');
}
