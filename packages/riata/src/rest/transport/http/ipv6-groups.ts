/** The eight 16-bit groups of an IPv6 address without brackets. Throws on anything else. */
export function ipv6Groups(address: string): number[] {
  // URL rewrites every spelling (a dotted tail, capitals, zeros) to groups of hex and at most one "::".
  const [head = '', tail = ''] = new URL(`http://[${address}]`).hostname.slice(1, -1).split('::');
  const groups = (text: string) => (text === '' ? [] : text.split(':').map((group) => Number.parseInt(group, 16)));
  const before = groups(head);
  const after = groups(tail);
  return [...before, ...new Array<number>(8 - before.length - after.length).fill(0), ...after];
}
