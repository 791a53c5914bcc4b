import { goPattern, patternProblem } from '../../schema/pattern/go-pattern.js';
import { CelError } from '../language/cel-error.js';
import { intType, listOf, stringType } from '../language/cel-type.js';
import { type Functions, member } from '../language/overload.js';
import { list } from '../language/value.js';

const text = stringType;

/** Functions on regular expressions. */
export const patterns: Functions = {
  find: [
    member('string_find_string', [text, text], text, (s: string, pattern: string) => findAll(s, pattern, 1)[0] ?? ''),
  ],
  findAll: [
    member('string_find_all_string', [text, text], listOf(text), (s: string, pattern: string) =>
      list(findAll(s, pattern, -1)),
    ),
    member(
      'string_find_all_string_int',
      [text, text, intType],
      listOf(text),
      (s: string, pattern: string, most: bigint) => list(findAll(s, pattern, Number(most))),
    ),
  ],
};

function findAll(s: string, pattern: string, most: number): readonly string[] {
  const compiled = goPattern(pattern);
  if (compiled === undefined) throw new CelError(`Illegal regex: error parsing regexp: ${patternProblem(pattern)}`);
  return compiled.find(s, most);
}
