/** Several measurements of one thing. */
export class Series {
  constructor(values) {
    this.values = [...values].sort((a, b) => a - b);
  }

  /** One field of each report. */
  static of(reports, field) {
    return new Series(reports.map((report) => report[field]));
  }

  /** One field of each report beside that of another's in the same round. */
  static ratio(reports, others, field) {
    return new Series(reports.map((report, round) => report[field] / others[round][field]));
  }

  get median() {
    const { values } = this;
    const middle = values.length >> 1;
    return values.length % 2 === 1 ? values[middle] : (values[middle - 1] + values[middle]) / 2;
  }

  /** `median (least–most)` */
  text(digits = 0) {
    const [least, most] = [this.values[0], this.values.at(-1)];
    if (least === undefined || Number.isNaN(this.median)) return '–';
    return `${number(this.median, digits)} (${number(least, digits)}–${number(most, digits)})`;
  }
}

export function number(value, digits = 0) {
  return value.toLocaleString('en-US', { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** Lines of a Markdown table. */
export function table(head, rows) {
  const line = (cells) => `| ${cells.join(' | ')} |`;
  return [line(head), `|${head.map((_, i) => (i === 0 ? '---' : '--:')).join('|')}|`, ...rows.map(line)].join('\n');
}

/** A goal of what is measured, and what came out. */
export function goal(what, got, limit, unit = '', digits = 0) {
  const written = `${number(got, digits)}${unit}`;
  return { what, got: written, limit: `${limit}${unit}`, met: got <= limit };
}
