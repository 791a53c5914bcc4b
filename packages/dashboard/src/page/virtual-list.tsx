import type { ComponentChildren } from 'preact';
import { useRef, useState } from 'preact/hooks';

const rowPx = 30;
const around = 10;

/** A list of which only the visible rows exist: 50,000 of them scroll like 50. */
export function VirtualList<T>({
  items,
  label,
  row,
  heightPx = 480,
}: {
  readonly items: readonly T[];
  readonly label: string;
  readonly row: (item: T) => ComponentChildren;
  readonly heightPx?: number;
}) {
  const box = useRef<HTMLElement>(null);
  const [top, setTop] = useState(0);
  const first = Math.max(0, Math.floor(top / rowPx) - around);
  const shown = items.slice(first, first + Math.ceil(heightPx / rowPx) + 2 * around);
  const height = Math.min(heightPx, Math.max(1, items.length) * rowPx);
  return (
    <section
      ref={box}
      class="virtual"
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={`${label}, ${items.length} entries`}
      style={{ height: `${height}px` }}
      onScroll={() => setTop(box.current?.scrollTop ?? 0)}
    >
      <ul class="virtual-space" style={{ height: `${items.length * rowPx}px` }}>
        {shown.map((item, at) => (
          <li key={first + at} class="virtual-row" style={{ top: `${(first + at) * rowPx}px` }}>
            {row(item)}
          </li>
        ))}
      </ul>
    </section>
  );
}
