/** Says whether a character, by its code point, is one of a set. */
export type CharTest = (code: number) => boolean;

const newline = 0x0a;

export const anyChar: CharTest = () => true;
export const anyButNewline: CharTest = (code) => code !== newline;

/** Word characters for `\w` and `\b`. */
export function isWordChar(code: number): boolean {
  return (code >= 0x30 && code <= 0x39) || (code >= 0x41 && code <= 0x5a) || code === 0x5f || isLower(code);
}

function isLower(code: number): boolean {
  return code >= 0x61 && code <= 0x7a;
}

/** All characters from one to another; with `fold`, in whichever case. */
export function charRange(low: number, high: number, fold: boolean): CharTest {
  if (fold) return byExpression(`[${escaped(low)}-${escaped(high)}]`, true);
  return low === high ? (code) => code === low : (code) => code >= low && code <= high;
}

/** Sets that have a letter, e.g. the digits of `\d`. Undefined for other letters. */
export function perlClass(letter: string, fold: boolean): CharTest | undefined {
  const set = perlSets[letter.toLowerCase()];
  if (set === undefined) return undefined;
  const test = byExpression(`[${set}]`, fold);
  return letter === letter.toLowerCase() ? test : not(test);
}

/** Sets that have a name inside brackets, e.g. `[:alpha:]`. Undefined for other names. */
export function posixClass(name: string, fold: boolean): CharTest | undefined {
  const [, negated, word = ''] = /^\[:(\^?)(\w+):\]$/.exec(name) ?? [];
  const set = Object.hasOwn(posixSets, word) ? posixSets[word] : undefined;
  if (set === undefined) return undefined;
  const test = byExpression(`[${set}]`, fold);
  return negated ? not(test) : test;
}

/** Characters of a Unicode category or script. Undefined for an unknown name. */
export function unicodeClass(name: string, fold: boolean): CharTest | undefined {
  const words = name.toLowerCase().replace(/(^|_)[a-z]/g, (found) => found.toUpperCase());
  if (words === 'Any') return anyChar;
  if (words === 'Ascii') return byExpression('[\\x00-\\x7f]', fold);
  if (words === 'Assigned') return not(byExpression('\\p{Cn}', false));
  for (const property of [`gc=${name}`, `gc=${words}`, `Script=${name}`, `Script=${words}`]) {
    try {
      return byExpression(`\\p{${property}}`, fold);
    } catch {
      // No such property.
    }
  }
  return undefined;
}

export function not(test: CharTest): CharTest {
  return (code) => !test(code);
}

export function oneOf(tests: readonly CharTest[]): CharTest {
  return (code) => tests.some((test) => test(code));
}

/** One character is looked at: there is nothing that could be tried twice. */
function byExpression(source: string, fold: boolean): CharTest {
  const expression = new RegExp(`^${source}$`, fold ? 'iu' : 'u');
  return (code) => expression.test(String.fromCodePoint(code));
}

function escaped(code: number): string {
  return `\\u{${code.toString(16)}}`;
}

const perlSets: Readonly<Record<string, string>> = { d: '0-9', s: '\\t\\n\\f\\r ', w: '0-9A-Za-z_' };

const posixSets: Readonly<Record<string, string>> = {
  alnum: '0-9A-Za-z',
  alpha: 'A-Za-z',
  ascii: '\\x00-\\x7F',
  blank: '\\t ',
  cntrl: '\\x00-\\x1F\\x7F',
  digit: '0-9',
  graph: '!-~',
  lower: 'a-z',
  print: ' -~',
  punct: '!-\\/:-@\\[-`{-~',
  space: '\\t\\n\\v\\f\\r ',
  upper: 'A-Z',
  word: '0-9A-Za-z_',
  xdigit: '0-9A-Fa-f',
};
