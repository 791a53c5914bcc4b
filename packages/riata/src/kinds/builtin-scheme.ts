import type { KindRef } from '../object/kind.js';
import { Scheme } from '../object/scheme.js';
import * as all from './generated/all.js';

/** A new scheme with every built-in kind in every version (`clientgoscheme`), to be extended with your own. */
export function builtinScheme(): Scheme {
  return new Scheme(...Object.values<KindRef>(all));
}
