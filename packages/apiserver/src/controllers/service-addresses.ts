import { isIPv6 } from 'node:net';
import { ownIpAddress } from '../resource/built-in/own-objects.js';
import { recordOf, stringsOf } from '../resource/metadata.js';
import type { ObjectStore } from '../resource/object-store.js';
import type { Resource } from '../resource/resource.js';
import type { WriteContext } from '../resource/write-context.js';
import type { StorageEvent, Stored } from '../storage/storage.js';

/** Dependencies of {@link ServiceAddresses}. */
export interface ServiceAddressesParts {
  readonly store: ObjectStore;
  readonly services: Resource;
  readonly addresses: Resource;
  readonly context: () => WriteContext;
}

/** Keeps an IPAddress object for each cluster IP of a Service, as kube-apiserver's allocator does. */
export class ServiceAddresses {
  readonly #at: ServiceAddressesParts;

  constructor(parts: ServiceAddressesParts) {
    this.#at = parts;
  }

  /** Observes every write; may write, too. */
  observe(table: string, { before, after }: StorageEvent): void {
    const { store, services, addresses, context } = this.#at;
    if (table !== services.table) return;
    const [had, has] = [addressesOf(before), addressesOf(after)];
    for (const ip of had) {
      const stored = has.includes(ip) ? undefined : store.findByKey(addresses, ip);
      if (stored !== undefined) store.remove(addresses, stored);
    }
    for (const ip of has) {
      if (had.includes(ip) || store.findByKey(addresses, ip) !== undefined) continue;
      const { namespace = '', name } = after?.object.metadata ?? { name: '' };
      store.place(addresses, '', ownIpAddress(ip, isIPv6(ip), namespace, name), context());
    }
  }
}

function addressesOf(stored: Stored | undefined): readonly string[] {
  const { clusterIPs } = recordOf((stored?.object as { spec?: never } | undefined)?.spec);
  return stringsOf(clusterIPs).filter((ip) => ip !== 'None' && ip !== '');
}
