import type { KindRef } from '../../object/kind.js';
import type { Operation } from './operation.js';

/** The names of a kind, a subresource and a field manager, joined. */
interface Prefix {
  readonly subresource: string | undefined;
  readonly fieldManager: string | undefined;
  readonly text: string;
}

const maxPrefixes = 16;

/** Names the object, subresource and field manager of an apply. Joins the parts that many objects share only once. */
export class ApplyIds {
  readonly #prefixes = new WeakMap<KindRef, Prefix[]>();

  of({ kind, namespace, name, subresource, params: { fieldManager } }: Operation): string {
    let known = this.#prefixes.get(kind);
    if (known === undefined) {
      known = [];
      this.#prefixes.set(kind, known);
    }
    let prefix = known.find((one) => one.subresource === subresource && one.fieldManager === fieldManager);
    if (prefix === undefined) {
      // No name holds a zero character.
      const text = `${kind.apiVersion}\0${kind.kind}\0${subresource ?? ''}\0${fieldManager}\0`;
      prefix = { subresource, fieldManager, text };
      if (known.length < maxPrefixes) known.push(prefix);
    }
    return `${prefix.text}${namespace ?? ''}\0${name}`;
  }
}
