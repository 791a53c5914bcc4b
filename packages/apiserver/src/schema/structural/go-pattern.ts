const known = new Map<string, RegExp | undefined>();

const posix: Readonly<Record<string, string>> = {
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

/** A pattern in Go's syntax (RE2) as a regular expression of JavaScript; undefined when it is not one. */
export function goPattern(pattern: string): RegExp | undefined {
  if (!known.has(pattern)) {
    if (known.size > 1000) known.clear();
    known.set(pattern, compile(pattern));
  }
  return known.get(pattern);
}

function compile(pattern: string): RegExp | undefined {
  let flags = 'u';
  let source = pattern.replace(/^\(\?([ims]+)\)/, (_whole, given: string) => {
    flags += given;
    return '';
  });
  source = source
    .replace(/\(\?P</g, '(?<')
    .replace(/\[:(\^?)(\w+):\]/g, (whole, not: string, name: string) => (not ? whole : (posix[name] ?? whole)))
    .replace(/\\(A|z|Q|E|pN|pL|-|_|["'@#%&,:;<=>~`! ])/g, (whole, letter: string) => {
      if (letter === 'A') return '(?<![\\s\\S])';
      if (letter === 'z') return '(?![\\s\\S])';
      if (letter === 'pN' || letter === 'pL') return `\\p{${letter[1]}}`;
      if (letter === '-') return whole;
      // The `u` flag takes no needless escapes.
      return letter === 'Q' || letter === 'E' ? whole : letter;
    });
  for (const attempt of [flags, flags.replace('u', '')]) {
    try {
      return new RegExp(source, attempt);
    } catch {
      // The `u` flag refuses what Go and lenient JavaScript both take, e.g. `[\w-.]`.
    }
  }
  return undefined;
}
