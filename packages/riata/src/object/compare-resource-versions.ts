const pattern = /^(?:0|[1-9][0-9]*)$/;

/**
 * Which of two resourceVersions of one kind is the newer one (`resourceversion.CompareResourceVersion`): negative if
 * `a` is older, 0 if they are the same, positive if `a` is newer. Undefined if one of them is not a number, as servers
 * other than kube-apiserver may have it. Numbers of any size are compared exactly.
 */
export function compareResourceVersions(a: string, b: string): number | undefined {
  if (a === b) return 0;
  if (!pattern.test(a) || !pattern.test(b)) return undefined;
  if (a.length !== b.length) return a.length - b.length;
  return a < b ? -1 : 1;
}
