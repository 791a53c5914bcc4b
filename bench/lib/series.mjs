/** Several measurements of one thing. */
export class Series {
  /** @param {readonly (number | null | undefined)[]} samples in the order of the rounds; what is no number was not measured */
  constructor(samples) {
    this.samples = samples.filter((sample) => Number.isFinite(sample));
    this.#ordered = [...this.samples].sort((a, b) => a - b);
  }

  #ordered;

  /** One field of a row: `{ cpuMs: [12, 13] }`. */
  static of(row, field) {
    return new Series(row?.[field] ?? []);
  }

  /** One field of a row beside that of another, each within its round. */
  static ratio(row, other, field) {
    const others = other?.[field] ?? [];
    return new Series((row?.[field] ?? []).map((sample, round) => sample / others[round]));
  }

  /** The one of several whose median is the largest. */
  static worst(all) {
    return all.reduce((worst, series) => (series.median > worst.median ? series : worst));
  }

  get isEmpty() {
    return this.samples.length === 0;
  }

  get least() {
    return this.#ordered[0] ?? Number.NaN;
  }

  get most() {
    return this.#ordered.at(-1) ?? Number.NaN;
  }

  get median() {
    const middle = this.#ordered.length >> 1;
    if (this.#ordered.length % 2 === 1) return this.#ordered[middle];
    return this.isEmpty ? Number.NaN : (this.#ordered[middle - 1] + this.#ordered[middle]) / 2;
  }

  get mean() {
    return this.samples.reduce((sum, sample) => sum + sample, 0) / this.samples.length;
  }

  /** Half of the width of the 95 % confidence interval of the mean, by Student's t; infinite for fewer than two samples. */
  get halfWidth() {
    const count = this.samples.length;
    if (count < 2) return Number.POSITIVE_INFINITY;
    const variance = this.samples.reduce((sum, sample) => sum + (sample - this.mean) ** 2, 0) / (count - 1);
    return t95(count - 1) * Math.sqrt(variance / count);
  }

  /** `mean ± half the width of its 95 % confidence interval`. */
  meanText(digits = 0) {
    return this.isEmpty ? '–' : `${number(this.mean, digits)} ± ${number(this.halfWidth, digits)}`;
  }

  map(change) {
    return new Series(this.samples.map(change));
  }

  /** `median (least–most)`, the median alone where nothing else would be read, `–` where nothing was measured. */
  text(digits = 0) {
    if (this.isEmpty) return '–';
    const [median, least, most] = [this.median, this.least, this.most].map((value) => number(value, digits));
    return least === median && most === median ? median : `${median} (${least}–${most})`;
  }
}

/** Student's t for 95 %, two-sided, by degrees of freedom; beyond the table, that of the next smaller number in it. */
function t95(freedom) {
  const table = [
    12.71, 4.303, 3.182, 2.776, 2.571, 2.447, 2.365, 2.306, 2.262, 2.228, 2.201, 2.179, 2.16, 2.145, 2.131,
  ];
  if (freedom <= table.length) return table[freedom - 1];
  return freedom < 20 ? 2.131 : freedom < 30 ? 2.086 : freedom < 60 ? 2.042 : 2;
}

export function number(value, digits = 0) {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** What each subject reported, round by round, as rows of samples: `{ riata: [{ ms: 1 }] }` becomes `{ riata: { ms: [1] } }`. */
export function rowsOf(found) {
  return Object.fromEntries(Object.entries(found).map(([name, reports]) => [name, rowOf(reports)]));
}

/** The numbers of several reports, by field; six digits of each. */
export function rowOf(reports) {
  const fields = new Set(reports.flatMap((report) => Object.keys(report)));
  const row = {};
  for (const field of fields) {
    const samples = reports.map((report) => report[field]);
    if (samples.some((sample) => typeof sample === 'number'))
      row[field] = samples.map((sample) => (Number.isFinite(sample) ? Number(sample.toPrecision(6)) : null));
  }
  return row;
}

/** Lines of a Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---' : '--:')).join('|')}|`, ...rows.map(line)].join('\n');
}

/**
 * A goal, and what came out; its median decides.
 * @param {{ what: string, got: Series, most?: number, least?: number, unit?: string, digits?: number }} options
 */
export function goal({ what, got, most, least, unit = '', digits = 0 }) {
  const limit = most === undefined ? `at least ${shortest(least)}${unit}` : `at most ${shortest(most)}${unit}`;
  const met = most === undefined ? got.median >= least : got.median <= most;
  return { what, limit, got: got.isEmpty ? '–' : `${got.text(digits)}${unit}`, met };
}

const shortest = (value) => value.toLocaleString('en-US', { maximumFractionDigits: 3 });

/**
 * A goal for the mean of paired differences, with its 95 % confidence interval; the text says if the interval holds
 * the limit: then more rounds, or a quieter machine, would decide.
 * @param {{ what: string, got: Series, most: number, unit?: string, digits?: number }} options
 */
export function meanGoal({ what, got, most, unit = '', digits = 0 }) {
  const isDecided = Math.abs(got.mean - most) > got.halfWidth;
  const text = `${got.meanText(digits)}${unit}${isDecided ? '' : ', interval holds the limit'}`;
  return { what, limit: `at most ${shortest(most)}${unit}`, got: text, met: got.mean <= most };
}
