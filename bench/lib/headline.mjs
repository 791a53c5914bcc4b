import { Series } from './series.mjs';

/**
 * A line of the short table of README.md: medians of ours and of others. What was not measured is left out.
 * @param {string} what
 * @param {Record<string, object>} rows
 * @param {string} field
 * @param {{ ours?: string, others: Record<string, string>, unit?: string, digits?: number }} options `others` says which
 *   rows, and how they are called there
 */
export function headline(what, rows, field, { ours = 'riata', others, unit = '', digits = 0 }) {
  const text = (name) => {
    const { median } = Series.of(rows[name], field);
    return Number.isNaN(median) ? undefined : `${new Series([median]).text(digits)}${unit}`;
  };
  const beside = Object.entries(others).flatMap(([name, label]) => {
    const found = text(name);
    return found === undefined ? [] : `${label} ${found}`;
  });
  const own = text(ours);
  return own === undefined ? [] : [[what, own, beside.join(', ')]];
}
