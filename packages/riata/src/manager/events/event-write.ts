import type { WriteObject } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';

/** An Event that is to be written. */
export interface EventWrite {
  readonly kind: KindRef<KubeObject, 'Namespaced'>;
  readonly key: { readonly namespace: string; readonly name: string };
  /** The whole of it, to be created. */
  readonly object: WriteObject;
  /** Set if the server should have it already: what has changed. If it has it no more, it is created anew. */
  readonly change?: object;
}
