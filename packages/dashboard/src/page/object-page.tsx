import { useEffect, useState } from 'preact/hooks';
import type { LoggedWrite } from 'riata/manager';
import { formatKey, formatMs, formatTime, formatValue } from './format.js';
import { act, fetchObject, type ObjectAnswer, ownedFields } from './object-data.js';
import { Outcome, reasonsOf, Table } from './parts.js';
import { type ObjectRef, objectHref } from './route.js';
import type { Store } from './store.js';

/** One object: its time line with diffs, conditions, graph, field owners and events. */
export function ObjectPage({ store, of: ref }: { readonly store: Store; readonly of: ObjectRef }) {
  const [answer, setAnswer] = useState<ObjectAnswer>();
  const [problem, setProblem] = useState<string>();
  const [turn, setTurn] = useState(0);
  const href = objectHref(ref);
  const controllers =
    store.state.value?.controllers.filter(({ kind }) => kind?.kind === ref.kind).map(({ id }) => id) ?? [];
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
  // Another reconcile may have written: what is shown of the object is fetched again.
  useEffect(() => {
    let isCurrent = true;
    fetchObject(ref).then(
      (next) => {
        if (!isCurrent) return;
        setAnswer(next);
        setProblem(undefined);
      },
      (error: unknown) => isCurrent && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      isCurrent = false;
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
      <h2>Time line</h2>
      {controllers.length === 0 && <p class="empty">No controller reconciles this kind; its writes are below.</p>}
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
                    wrote: {write.verb} {write.object}
                  </li>
                ))}
              </ul>
            )}
          </li>
        ))}
      </ol>
      <h2>Writes of this operator</h2>
      {(answer?.writes.length ?? 0) === 0 && <p class="empty">None among the newest 256 writes.</p>}
      {[...(answer?.writes ?? [])].reverse().map((write) => (
        <Write key={`${write.at} ${write.resourceVersion}`} of={write} />
      ))}
      <h2>Conditions</h2>
      <Table caption="Conditions" head={['Type', 'Status', 'Since', 'Reason', 'Message']} empty="It has none.">
        {[...(object?.status?.conditions ?? [])]
          .sort((a, b) => (b.lastTransitionTime ?? '').localeCompare(a.lastTransitionTime ?? ''))
          .map((each) => (
            <tr key={each.type}>
              <td>{each.type}</td>
              <td>
                <span class={`badge ${each.status === 'True' ? 'good' : each.status === 'False' ? 'bad' : ''}`}>
                  {each.status}
                </span>
              </td>
              <td>
                {each.lastTransitionTime
                  ? `${formatMs(Math.max(0, store.now.value - Date.parse(each.lastTransitionTime)))} ago`
                  : '–'}
              </td>
              <td>{each.reason}</td>
              <td>{each.message}</td>
            </tr>
          ))}
      </Table>
      <h2>Owners and owned objects</h2>
      <Graph answer={answer} of={ref} />
      <h2>Who owns which field</h2>
      <Table caption="Field managers" head={['Manager', 'Operation', 'Fields']} empty="No managed fields.">
        {(object?.metadata.managedFields ?? []).map((each) => (
          <tr key={`${each.manager} ${each.operation} ${each.subresource}`}>
            <td>
              {each.manager}
              {each.subresource && ` (${each.subresource})`}
            </td>
            <td>{each.operation}</td>
            <td>
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
            <td>{each.message}</td>
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
  );
}

function Write({ of }: { readonly of: LoggedWrite }) {
  return (
    <article class="diff">
      <h3>
        <time>{formatTime(of.at)}</time> {of.verb}
        {of.subresource && ` ${of.subresource}`}
        {of.compared === 'sent' && <span class="dim"> (as sent: the version before is not known)</span>}
      </h3>
      {of.changes.length === 0 && <p class="empty">No field differs.</p>}
      <dl>
        {of.changes.map(({ path, before, after }) => (
          <div key={path}>
            <dt>
              <code>{path}</code>
            </dt>
            {before !== undefined && (
              <dd class="before">
                <span class="sign">−</span> {formatValue(before)}
              </dd>
            )}
            {after !== undefined && (
              <dd class="after">
                <span class="sign">+</span> {formatValue(after)}
              </dd>
            )}
          </div>
        ))}
      </dl>
      {of.moreChanges > 0 && <p>and {of.moreChanges} more</p>}
    </article>
  );
}

function Graph({ answer, of }: { readonly answer: ObjectAnswer | undefined; readonly of: ObjectRef }) {
  const { owners = [], owned = [] } = answer ?? {};
  const below = (uid: string, level: number): unknown => {
    const nodes = owned.filter((node) => node.of === uid);
    if (nodes.length === 0 || level > 5) return null;
    return (
      <ul>
        {nodes.map((node) => (
          <li key={node.uid}>
            <a href={objectHref(node)}>
              {node.kind} {formatKey(node)}
            </a>
            {below(node.uid, level + 1) as never}
          </li>
        ))}
      </ul>
    );
  };
  return (
    <ul class="graph">
      {[...owners].reverse().map((node) => (
        <li key={`${node.uid} ${node.of}`}>
          owned by{' '}
          {node.isKnown ? (
            <a href={objectHref(node)}>
              {node.kind} {formatKey(node)}
            </a>
          ) : (
            <span>
              {node.kind} {formatKey(node)} (not cached)
            </span>
          )}
        </li>
      ))}
      <li>
        <strong>
          {of.kind} {formatKey(of)}
        </strong>
        {answer?.object && (below(answer.object.metadata.uid, 0) as never)}
      </li>
    </ul>
  );
}
