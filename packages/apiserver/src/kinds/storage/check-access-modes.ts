import type { Json } from 'riata/object';
import { stringsOf } from '../../resource/metadata.js';
import { type FieldError, forbidden, notSupported, required } from '../../status/field-error.js';

const modes = ['ReadOnlyMany', 'ReadWriteMany', 'ReadWriteOnce', 'ReadWriteOncePod'];

/** The problems of access modes; `absent` is reported when there are none. */
export function checkAccessModes(given: Json | undefined, path: string, absent = ''): FieldError[] {
  const list = stringsOf(given);
  const known = list.filter((mode) => modes.includes(mode));
  const isMixed = known.includes('ReadWriteOncePod') && known.some((mode) => mode !== 'ReadWriteOncePod');
  return [
    ...(list.length === 0 ? [required(path, absent)] : []),
    ...list.flatMap((mode) => (modes.includes(mode) ? [] : [notSupported(path, mode, modes)])),
    ...(isMixed ? [forbidden(path, 'may not use ReadWriteOncePod with other access modes')] : []),
  ];
}
