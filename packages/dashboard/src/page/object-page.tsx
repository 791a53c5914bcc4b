import { useEffect, useState } from 'preact/hooks';
import { Conditions } from './conditions.js';
import { formatKey, formatMs, formatTime } from './format.js';
import { act, fetchObject, type ObjectAnswer, ownedFields } from './object-data.js';
import { OwnerGraph } from './owner-graph.js';
import { isKind, Outcome, reasonsOf, Table } from './parts.js';
import { type ObjectRef, objectHref } from './route.js';
import type { Store } from './store.js';
import { WriteDiff } from './write-diff.js';
import { Written, writtenRef } from './written.js';

/** How often the page asks whether the cache has another version. */
const askMs = 2_000;

/** One object: its time line with diffs, conditions, graph, field owners and events. */
export function ObjectPage({ store, of: ref }: { readonly store: Store; readonly of: ObjectRef }) {
  const [answer, setAnswer] = useState<ObjectAnswer>();
  const [problem, setProblem] = useState<string>();
  const [turn, setTurn] = useState(0);
  const href = objectHref(ref);
  const state = store.state.value;
  const controllers = state?.controllers.filter(({ kind }) => isKind(kind, ref)).map(({ id }) => id) ?? [];
  const kinds = [...(state?.caches ?? []), ...(state?.controllers ?? [])].flatMap(({ kind }) => kind ?? []);
  const records = store.records.value
    .filter(
      ({ key, controller }) =>
        controllers.includes(controller) &&
        key.name === ref.name &&
        (key.namespace ?? '') === (ref.namespace ?? '') &&
        key.cluster === ref.cluster,
    )
    .reverse();
  const newest = records[0]?.reconcileID;
  // Another reconcile may have written, or anyone else: what is shown of the object is fetched again.
  useEffect(() => {
    let isCurrent = true;
    let seen: string | undefined;
    let timer: ReturnType<typeof setTimeout>;
    const fetchAgain = async () => {
      try {
        const next = document.hidden && seen !== undefined ? undefined : await fetchObject(ref, seen);
        if (!isCurrent) return;
        if (next !== undefined) {
          seen = next.object?.metadata.resourceVersion;
          setAnswer(next);
          setProblem(undefined);
        }
      } catch (error) {
        if (isCurrent) setProblem(error instanceof Error ? error.message : String(error));
      }
      if (isCurrent) timer = setTimeout(fetchAgain, askMs);
    };
    void fetchAgain();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, [href, newest, turn]);
  const run = (action: 'pause' | 'resume' | 'reconcile') =>
    act(action, ref).then(
      () => setTurn(turn + 1),
      (error: unknown) => setProblem(error instanceof Error ? error.message : String(error)),
    );
  const object = answer?.object;
  const isPaused = object?.metadata.annotations?.['riata.dev/pause'] !== undefined;
  const allowed = answer?.actions?.allowed === true;
  // Of a kind that is not shown, or to a viewer who may not look, there is nothing but the reason.
  const isKnown = answer !== undefined || problem === undefined;
  const isThere = isKnown && answer?.object !== null;
  return (
    <>
      <h1>
        <span class="dim">{ref.kind}</span> {formatKey(ref)}
      </h1>
      {problem !== undefined && (
        <p role="alert" class="notice bad">
          {problem}
        </p>
      )}
      {answer?.object === null && <p class="notice">The object does not exist (any more).</p>}
      {object && controllers.length > 0 && (
        <p class="actions">
          <button type="button" disabled={!allowed} onClick={() => run('reconcile')}>
            Reconcile now
          </button>{' '}
          {isPaused ? (
            <button type="button" disabled={!allowed} onClick={() => run('resume')}>
              Resume
            </button>
          ) : (
            <button type="button" disabled={!allowed} onClick={() => run('pause')}>
              Pause
            </button>
          )}{' '}
          {!allowed && answer?.actions && <span class="dim">{answer.actions.reason}</span>}
          {isPaused && <span class="badge warn">paused</span>}
        </p>
      )}
      {isKnown && <h2>Time line</h2>}
      {isKnown && controllers.length === 0 && (
        <p class="empty">No controller reconciles this kind; its writes are below.</p>
      )}
      <ol class="timeline">
        {records.slice(0, 50).map((record) => (
          <li key={record.reconcileID}>
            <p>
              <time>{formatTime(record.startedAt)}</time> <Outcome of={record.outcome} /> {reasonsOf(record.reasons)} →
              waited {formatMs(record.queuedMs)} → ran {formatMs(record.durationMs)}
              {record.attempt > 1 && `, attempt ${record.attempt}`}
              {record.requeueAfterMs !== undefined && ` → again in ${formatMs(record.requeueAfterMs)}`}
            </p>
            {record.error !== undefined && (
              <p class="error">
                {record.error} <code>{record.errorAt}</code>
              </p>
            )}
            {record.writes.length > 0 && (
              <ul>
                {record.writes.map((write) => (
                  <li key={`${write.object} ${write.resourceVersion}`}>
                    <Written of={write} target={writtenRef(write.object, kinds, ref.cluster)} />
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
      {isKnown && <h2>Writes of this operator</h2>}
      {isKnown && (answer?.writes.length ?? 0) === 0 && <p class="empty">None among the writes that are kept.</p>}
      {[...(answer?.writes ?? [])].reverse().map((write) => (
        <WriteDiff key={`${write.at} ${write.resourceVersion}`} of={write} />
      ))}
      {isThere && (
        <>
          <h2>Conditions</h2>
          <Conditions
            now={store.now.value}
            conditions={object?.status?.conditions ?? []}
            changes={answer?.conditionChanges ?? []}
          />
          <h2>Owners and owned objects</h2>
          {answer && <OwnerGraph answer={answer} of={ref} />}
          <h2>Who owns which field</h2>
          <Table caption="Field managers" head={['Manager', 'Operation', 'Fields']} empty="No managed fields.">
            {(object?.metadata.managedFields ?? []).map((each) => (
              <tr key={`${each.manager} ${each.operation} ${each.subresource}`}>
                <td>
                  {each.manager}
                  {each.subresource && ` (${each.subresource})`}
                </td>
                <td>{each.operation}</td>
                <td class="text">
                  <code>{ownedFields(each.fieldsV1).join(', ')}</code>
                </td>
              </tr>
            ))}
          </Table>
          <h2>Events</h2>
          {answer?.eventsProblem && <p class="notice">{answer.eventsProblem}</p>}
          <Table caption="Events" head={['When', 'Type', 'Reason', 'Message', 'By', 'Count']} empty="No events.">
            {(answer?.events ?? []).map((each) => (
              <tr key={`${each.reason} ${each.at} ${each.message}`}>
                <td>{each.at ? `${formatMs(Math.max(0, store.now.value - Date.parse(each.at)))} ago` : '–'}</td>
                <td>{each.type}</td>
                <td>{each.reason}</td>
                <td class="text">{each.message}</td>
                <td>{each.by}</td>
                <td>{each.count}</td>
              </tr>
            ))}
          </Table>
          <details>
            <summary>The object as JSON</summary>
            {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard */}
            <pre tabIndex={0}>
              {object &&
                JSON.stringify({ ...object, metadata: { ...object.metadata, managedFields: undefined } }, undefined, 2)}
            </pre>
          </details>
        </>
      )}
    </>
  );
}
