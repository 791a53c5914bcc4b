import { useEffect, useRef } from 'preact/hooks';
import uPlot from 'uplot';
import type { Point } from './store.js';

/** A line of a {@link Chart}. */
export interface Series {
  readonly name: string;
  /** `''` where the title says it. */
  readonly label: string;
  /** A custom property of the style sheet. */
  readonly color: string;
  /** Not drawn while all of it is 0, where its line would cover another one. */
  readonly isRare?: boolean;
}

/** A small chart of the last two minutes, with its newest figures as text. */
export function Chart({
  title,
  points,
  series,
  unit,
}: {
  readonly title: string;
  readonly points: readonly Point[];
  readonly series: readonly Series[];
  readonly unit: string;
}) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | undefined>(undefined);
  const data: uPlot.AlignedData = [
    points.map(({ at }) => at / 1_000),
    ...series.map(({ name, isRare }) => {
      const isHidden = isRare === true && points.every(({ values }) => !values[name]);
      return points.map(({ values }) => (isHidden ? null : (values[name] ?? null)));
    }),
  ];
  useEffect(() => {
    const place = box.current as HTMLDivElement;
    const made = new uPlot(
      {
        ...{
          width: place.clientWidth || 200,
          height: 56,
          cursor: { show: false },
          legend: { show: false },
          padding: [4, 0, 3, 0],
        },
        scales: { y: { range: (_, __, max) => [0, Math.max(1, (max || 0) * 1.1)] } },
        axes: [{ show: false }, { show: false }],
        series: [
          {},
          ...series.map(({ color }) => ({
            // With each drawing: the system may change from light to dark.
            stroke: () => getComputedStyle(document.documentElement).getPropertyValue(color),
            width: 1.5,
            // A line needs two of them.
            points: { show: (plot: uPlot, at: number) => isSingle(plot.data[at]) },
            spanGaps: true,
          })),
        ],
      },
      data,
      place,
    );
    plot.current = made;
    const sized = new ResizeObserver(() => made.setSize({ width: place.clientWidth || 200, height: 56 }));
    sized.observe(place);
    return () => {
      sized.disconnect();
      made.destroy();
    };
  }, []);
  useEffect(() => plot.current?.setData(data));
  const figures = series.map(({ name, label }) => {
    const last = points.findLast(({ values }) => values[name] !== undefined)?.values[name];
    return `${label === '' ? '' : `${label} `}${last === undefined ? '–' : last.toFixed(last < 10 && last > 0 ? 1 : 0)}`;
  });
  return (
    <figure class="chart">
      <figcaption>
        {title}{' '}
        <span class="figures">
          {figures.join(' · ')} {unit}
        </span>
      </figcaption>
      <div ref={box} role="img" aria-label={`${title}: ${figures.join(', ')} ${unit}`} />
    </figure>
  );
}

function isSingle(values: ArrayLike<number | null | undefined> = []): boolean {
  return Array.from(values).filter((value) => value !== null && value !== undefined).length === 1;
}
