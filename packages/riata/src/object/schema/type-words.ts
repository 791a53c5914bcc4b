/** What to say of a value that may be of several types. */
export function differentTypes(types: readonly string[]): string {
  const number = types.includes('number') && types.includes('string');
  return (
    `may be ${types.join(' or ')}, and a structural schema has one type per field; ` +
    (number ? 'only an integer can be mixed with a string' : 'split it into several fields') +
    ", or take anything with 'x-kubernetes-preserve-unknown-fields': true"
  );
}
