/**
 * Orders strings as Go does, by their UTF-8 bytes. JavaScript's `<` compares UTF-16 units, which puts characters past
 * U+FFFF before U+E000–U+FFFF.
 */
export function compareStrings(a: string, b: string): number {
  const shared = Math.min(a.length, b.length);
  for (let i = 0; i < shared; i++) {
    const x = a.charCodeAt(i);
    const y = b.charCodeAt(i);
    if (x === y) continue;
    const xPair = x >= 0xd800 && x <= 0xdfff;
    const yPair = y >= 0xd800 && y <= 0xdfff;
    if (xPair !== yPair && (xPair ? y : x) > 0xdfff) return xPair ? 1 : -1;
    return x - y;
  }
  return a.length - b.length;
}
