import type { JsonObject } from 'riata/object';
import { numberOf, recordOf, recordsOf, textOf } from '../../resource/metadata.js';
import { append } from '../../status/append.js';
import { type FieldError, forbidden, invalid, required } from '../../status/field-error.js';
import { checkNonReserved } from './checks/path-checks.js';
import { checkDownwardFile, checkKeyToPath } from './volume-files.js';

/** The problems of the sources of a projected volume; no two of them may have the same file. */
export function checkProjected(projected: JsonObject, path: string): FieldError[] {
  const paths = new Set<string>();
  const taken = (file: string, shown: string): FieldError[] => {
    if (file === '') return [];
    if (paths.has(file)) return [invalid(path, shown, 'conflicting duplicate paths')];
    paths.add(file);
    return [];
  };
  return recordsOf(projected.sources).flatMap((source, index) => {
    const at = `${path}.sources[${index}]`;
    const errors: FieldError[] = [];
    for (const kind of ['secret', 'configMap'] as const) {
      if (source[kind] === undefined) continue;
      const { name, items } = recordOf(source[kind]);
      if (textOf(name) === '') errors.push(required(`${at}.${kind}.name`));
      for (const [i, item] of recordsOf(items).entries()) {
        errors.push(...checkKeyToPath(item, `${at}.${kind}.items[${i}]`), ...taken(textOf(item.path), textOf(name)));
      }
    }
    for (const file of recordsOf(recordOf(source.downwardAPI).items)) {
      errors.push(...checkDownwardFile(file, `${at}.downwardAPI`), ...taken(textOf(file.path), textOf(file.path)));
    }
    if (source.serviceAccountToken !== undefined) {
      append(errors, checkToken(recordOf(source.serviceAccountToken), `${at}.serviceAccountToken`, path));
    }
    if (Object.keys(source).length > 1)
      errors.push(forbidden(at, 'may not specify more than 1 volume type per source'));
    return errors;
  });
}

function checkToken(token: JsonObject, at: string, path: string): FieldError[] {
  const seconds = numberOf(token.expirationSeconds);
  const file = textOf(token.path);
  const errors = file === '' ? [required(`${path}.path`)] : checkNonReserved(file, `${path}.path`);
  if (seconds < 600) {
    errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration less than 10 minutes'));
  }
  if (seconds > 2 ** 32) {
    errors.push(invalid(`${at}.expirationSeconds`, seconds, 'may not specify a duration larger than 2^32 seconds'));
  }
  return errors;
}
