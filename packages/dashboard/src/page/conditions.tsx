import type { ConditionChange } from 'riata/manager';
import { formatMs, formatTime } from './format.js';
import type { ShownCondition } from './object-data.js';
import { Table } from './parts.js';

const toneOf = (status: string | undefined) => (status === 'True' ? 'good' : status === 'False' ? 'bad' : '');

/** The conditions of an object as they are, and how they changed. */
export function Conditions({
  now,
  conditions,
  changes,
}: {
  readonly now: number;
  readonly conditions: readonly ShownCondition[];
  readonly changes: readonly ConditionChange[];
}) {
  const newestFirst = [...conditions].sort((a, b) =>
    (b.lastTransitionTime ?? '').localeCompare(a.lastTransitionTime ?? ''),
  );
  const first = Math.min(now, ...changes.map(({ at }) => at));
  return (
    <>
      <Table
        caption="Conditions"
        head={['Type', 'Status', 'Since', 'Reason', 'Message', 'Over time']}
        empty="It has none."
      >
        {newestFirst.map((each) => (
          <tr key={each.type}>
            <td>{each.type}</td>
            <td>
              <span class={`badge ${toneOf(each.status)}`}>{each.status}</span>
            </td>
            <td>
              {each.lastTransitionTime
                ? `${formatMs(Math.max(0, now - Date.parse(each.lastTransitionTime)))} ago`
                : '–'}
            </td>
            <td>{each.reason}</td>
            <td class="text">{each.message}</td>
            <td>
              <Strip now={now} first={first} changes={changes.filter(({ type }) => type === each.type)} />
            </td>
          </tr>
        ))}
      </Table>
      {changes.length > 0 && (
        <>
          <h3>Changes of conditions</h3>
          <ol class="changes" aria-label="Changes of conditions">
            {[...changes].reverse().map((each) => (
              <li key={`${each.at} ${each.type} ${each.status} ${each.reason}`}>
                <time>{formatTime(each.at)}</time> {each.type}{' '}
                <span class={`badge ${toneOf(each.status)}`}>{each.status ?? 'removed'}</span> {each.reason}{' '}
                <span class="dim">{each.message}</span>
              </li>
            ))}
          </ol>
        </>
      )}
    </>
  );
}

/** A bar from the first known change until now, in the colours of the statuses. */
function Strip({
  now,
  first,
  changes,
}: {
  readonly now: number;
  readonly first: number;
  readonly changes: readonly ConditionChange[];
}) {
  const whole = Math.max(1, now - first);
  const parts = changes.map((change, at) => {
    const until = changes[at + 1]?.at ?? now;
    return { ...change, lastedMs: Math.max(0, until - change.at) };
  });
  const words = parts.map(({ status = 'removed', lastedMs }) => `${status} for ${formatMs(lastedMs)}`).join(', ');
  const before = Math.max(0, (changes[0]?.at ?? now) - first);
  return (
    <div class="strip" role="img" aria-label={words || 'not known'} title={words}>
      <span style={{ flexGrow: before / whole }} />
      {parts.map(({ at, status, reason, lastedMs }) => (
        <span key={`${at} ${reason}`} class={`known ${toneOf(status)}`} style={{ flexGrow: lastedMs / whole }} />
      ))}
    </div>
  );
}
