import type { WriteObject } from '../../client/interfaces.js';
import type { KindRef } from '../../object/kind.js';
import type { KubeObject } from '../../object/meta.js';

/** An Event to write. */
export interface EventWrite {
  readonly kind: KindRef<KubeObject, 'Namespaced'>;
  readonly key: { readonly namespace: string; readonly name: string };
  /** The whole of it, to be created. */
  readonly object: WriteObject;
  /** Set if the server should have the Event already: the changes. If it was deleted meanwhile, it is created again. */
  readonly change?: object;
}
