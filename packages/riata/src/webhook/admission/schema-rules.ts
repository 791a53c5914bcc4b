import type { KindRef } from '../../object/kind.js';
import type { AdmissionHandler } from './admission-entry.js';
import type { AdmissionCallRules } from './admission-options.js';

/** Handlers that run the schema of a kind. */
export function schemaHandlers(
  shown: string,
  kind: KindRef,
  _mutating: AdmissionCallRules,
  _validating: AdmissionCallRules,
): readonly AdmissionHandler[] {
  throw new TypeError(`${shown}: the schema of ${kind.kind} cannot be run yet`);
}
