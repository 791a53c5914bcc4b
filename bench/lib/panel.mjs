import { Series } from './series.mjs';

/**
 * One measure of several subjects, as a chart shows it: medians, and from the least to the most.
 * @param {string} title what is measured, and its unit
 * @param {Record<string, object>} rows
 * @param {string} field
 * @param {{ digits?: number, better?: 'less' | 'more', limit?: number, names?: Record<string, string>, ours?: (name: string) => boolean }} [options]
 *   `limit` is the goal; `names` says which rows are shown, and how they are called there; `ours` which stand out
 */
export function panel(title, rows, field, { digits = 0, better = 'less', limit, names, ours = isOurs } = {}) {
  const shown = names ? Object.keys(names).filter((name) => rows[name] !== undefined) : Object.keys(rows);
  const bars = shown.flatMap((name) => {
    const { isEmpty, median, least, most } = Series.of(rows[name], field);
    return isEmpty
      ? []
      : [{ name: names?.[name] ?? name, isOurs: ours(name) || ours(names?.[name] ?? name), median, least, most }];
  });
  return { title, digits, better, limit, bars };
}

const isOurs = (name) => /^(riata|embedded|in-process)/.test(name);

/** Bars of lengths from 0 are read wrong where the longest is hundreds of times the shortest: dots on a log scale instead. */
export function needsLogScale({ bars }) {
  const shown = bars.map(({ median }) => median);
  const least = Math.min(...bars.map((bar) => bar.least));
  return shown.length > 1 && least > 0 && Math.max(...shown) / Math.min(...shown) > 30;
}
