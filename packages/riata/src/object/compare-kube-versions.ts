import { compareStrings } from './compare-strings.js';

const pattern = /^v(\d+)(?:(alpha|beta)(\d+))?$/;
const stages = { alpha: 0, beta: 1, stable: 2 } as const;
const maxInt64 = 2n ** 63n - 1n;

interface KubeVersion {
  readonly stage: number;
  readonly major: bigint;
  readonly minor: bigint;
}

function parseKubeVersion(text: string): KubeVersion | undefined {
  const match = pattern.exec(text);
  if (!match) return undefined;
  const stage = stages[(match[2] as 'alpha' | 'beta' | undefined) ?? 'stable'];
  const major = BigInt(match[1] as string);
  const minor = BigInt(match[3] ?? '0');
  return major > maxInt64 || minor > maxInt64 ? undefined : { stage, major, minor };
}

/**
 * Orders API versions by preference (`version.CompareKubeAwareVersionStrings`): positive when `a` goes before `b`.
 * Stable versions win over beta, beta over alpha, then the higher number wins: `v10`, `v2`, `v1`, `v2beta1`, `v1beta2`,
 * `v1alpha1`; other forms come last, in alphabetical order. To sort the most preferred first: `versions.sort((a, b) =>
 * compareKubeVersions(b, a))`.
 */
export function compareKubeVersions(a: string, b: string): number {
  if (a === b) return 0;
  const x = parseKubeVersion(a);
  const y = parseKubeVersion(b);
  if (x && y) return x.stage - y.stage || sign(x.major - y.major) || sign(x.minor - y.minor);
  if (x || y) return x ? 1 : -1;
  return Math.sign(compareStrings(b, a));
}

function sign(n: bigint): number {
  return n > 0n ? 1 : n < 0n ? -1 : 0;
}
