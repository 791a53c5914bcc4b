/**
 * External addresses, each given to one owner at a time: IPv4 ones of 198.18.0.0/15 and IPv6 ones of 2001:db8::/32,
 * which are reserved for tests and documentation. Addresses in the status of objects count as given, whichever client
 * wrote them.
 */
export class AddressPool {
  readonly #ownerOf = new Map<string, string>();
  readonly #given = new Map<string, string>();

  /** The address of an owner: the one it has, else the lowest that is free. */
  take(owner: string, { isIpv6, taken }: { readonly isIpv6: boolean; readonly taken: ReadonlySet<string> }): string {
    const own = this.#given.get(owner);
    if (own !== undefined && own.includes(':') === isIpv6) return own;
    this.release(owner);
    let number = 1;
    const isFree = (address: string) => !taken.has(address) && !this.#ownerOf.has(address);
    while (!isFree(addressOf(number, isIpv6))) number += 1;
    const address = addressOf(number, isIpv6);
    this.#given.set(owner, address);
    this.#ownerOf.set(address, owner);
    return address;
  }

  release(owner: string): void {
    const address = this.#given.get(owner);
    if (address === undefined) return;
    this.#given.delete(owner);
    this.#ownerOf.delete(address);
  }
}

function addressOf(number: number, isIpv6: boolean): string {
  if (isIpv6) return `2001:db8::${number.toString(16)}`;
  return `198.${18 + (number >> 16)}.${(number >> 8) & 0xff}.${number & 0xff}`;
}
