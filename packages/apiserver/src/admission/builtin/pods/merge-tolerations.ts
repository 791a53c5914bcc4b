import { equal, type JsonObject } from 'riata/object';
import { isGiven, numberOf, textOf } from '../../../resource/metadata.js';

/** Two lists of tolerations as one. Of two tolerations of which one covers the other, only that one is kept. */
export function mergeTolerations(first: readonly JsonObject[], second: readonly JsonObject[]): JsonObject[] {
  const all = [...first, ...second];
  const merged: JsonObject[] = [];
  all.forEach((one, index) => {
    const isCovered =
      merged.some((other) => covers(other, one)) ||
      all.slice(index + 1).some((other) => !equal(one, other) && covers(other, one));
    if (!isCovered) merged.push(one);
  });
  return merged;
}

/** Whether each toleration is covered by one of a list. An empty list covers all. */
export function areCovered(tolerations: readonly JsonObject[], list: readonly JsonObject[]): boolean {
  if (list.length === 0) return true;
  return tolerations.every((one) => list.some((other) => covers(other, one)));
}

/** Whether `wide` tolerates everything that `narrow` does. */
function covers(wide: JsonObject, narrow: JsonObject): boolean {
  if (equal(wide, narrow)) return true;
  const [key, effect, operator] = [textOf(wide.key), textOf(wide.effect), textOf(wide.operator)];
  if (textOf(narrow.key) !== key && (key !== '' || operator !== 'Exists')) return false;
  if (textOf(narrow.effect) !== effect && effect !== '') return false;
  if (effect === 'NoExecute' && isGiven(wide.tolerationSeconds)) {
    const [most, asked] = [numberOf(wide.tolerationSeconds), narrow.tolerationSeconds];
    if (!isGiven(asked) || numberOf(asked) > most) return false;
  }
  if (operator === 'Exists') return true;
  const isEqual = operator === 'Equal' || operator === '';
  return isEqual && textOf(narrow.operator) === 'Equal' && textOf(narrow.value) === textOf(wide.value);
}
