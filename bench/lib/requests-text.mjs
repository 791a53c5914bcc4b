import { number } from './series.mjs';

/** What was asked for in one round, the most frequent first: `1,000 × patch configmaps, 1 × get leases`. */
export function requestsText(verbs, most = Number.POSITIVE_INFINITY) {
  const ordered = Object.entries(verbs).sort(([, a], [, b]) => b - a);
  return (
    ordered
      .slice(0, most)
      .map(([what, count]) => `${number(count)} × ${what}`)
      .join(', ') || 'nothing'
  );
}
