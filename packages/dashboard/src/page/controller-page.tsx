import { formatCount, formatMs } from './format.js';
import { KeyLink, RecordRow, reasonsOf, Table } from './parts.js';
import { kindHref } from './route.js';
import type { Store } from './store.js';
import { VirtualList } from './virtual-list.js';

/** One controller: its queue, what is in flight, what fails, what has ended. */
export function ControllerPage({ store, name }: { readonly store: Store; readonly name: string }) {
  const state = store.state.value?.controllers.find(({ id }) => id === name);
  if (state === undefined) return <p class="empty">Controller “{name}” is not running here.</p>;
  const { kind } = state;
  const now = store.now.value;
  const own = store.records.value.filter(({ controller }) => controller === name).reverse();
  const { seen, sent } = store.sampling.value;
  return (
    <>
      <h1>{name}</h1>
      <p>
        <span class={`badge ${state.phase === 'running' ? 'good' : ''}`}>{state.phase}</span>{' '}
        {kind && <a href={kindHref(kind)}>all objects of kind {kind.kind}</a>}
        {state.waitingFor.length > 0 && ` · waits for ${state.waitingFor.join(', ')}`}
      </p>
      <h2>Failing keys ({formatCount(state.failing + state.notEnqueued.length)})</h2>
      <Table caption="Failing keys" head={['Key', 'Attempt', 'Error', 'At', 'Next retry']} empty="Nothing fails.">
        {[
          ...state.failingKeys.map((each) => (
            <tr key={JSON.stringify(each.key)}>
              <td>
                <KeyLink kind={kind} of={each.key} />
              </td>
              <td>{each.attempt}</td>
              <td class="error">{each.error}</td>
              <td class="text">
                <code>{each.errorAt ?? '–'}</code>
              </td>
              <td>
                {each.retryAt === undefined
                  ? 'when it changes'
                  : each.retryAt <= now
                    ? 'now'
                    : `in ${formatMs(each.retryAt - now)}`}
              </td>
            </tr>
          )),
          ...state.notEnqueued.map((each) => (
            <tr key={`${each.source} ${each.key}`}>
              <td>
                {each.source}: {each.key}
              </td>
              <td>{each.attempts}</td>
              <td class="error">
                {each.function}: {each.error}
              </td>
              <td class="text">
                <code>{each.at ?? '–'}</code>
              </td>
              <td>{each.retryMs === undefined ? 'when it changes' : `in ${formatMs(each.retryMs)}`}</td>
            </tr>
          )),
        ]}
      </Table>
      <h2>In flight ({state.active.length})</h2>
      <Table caption="Keys in flight" head={['Key', 'Running for', 'State']} empty="Nothing is in flight.">
        {state.active.map((each) => (
          <tr key={each.reconcileID}>
            <td>
              <KeyLink kind={kind} of={each.key} />
            </td>
            <td>{formatMs(now - each.startedAt)}</td>
            <td>{each.isOverdue ? <span class="badge bad">overdue</span> : 'runs'}</td>
          </tr>
        ))}
      </Table>
      <h2>
        Queue ({formatCount(state.queued)} ready, {formatCount(state.delayed)} delayed)
      </h2>
      <Table caption="Queue by priority" head={['Priority', 'Ready', 'Delayed']} empty="The queue is empty.">
        {state.priorities.map(({ priority, ready, delayed }) => (
          <tr key={priority}>
            <td>{priority}</td>
            <td>{ready}</td>
            <td>{delayed}</td>
          </tr>
        ))}
      </Table>
      <Table caption="The first keys that wait" head={['Key', 'Priority', 'Waits', 'Why']} empty="No key waits.">
        {state.waiting.map((each) => (
          <tr key={JSON.stringify(each.key)}>
            <td>
              <KeyLink kind={kind} of={each.key} />
            </td>
            <td>{each.priority}</td>
            <td>
              {each.dueAt === undefined
                ? `since ${formatMs(now - (each.since ?? now))}`
                : `due in ${formatMs(Math.max(0, each.dueAt - now))}`}
            </td>
            <td class="text">{reasonsOf(each.reasons)}</td>
          </tr>
        ))}
      </Table>
      <h2>Reconciles</h2>
      {seen > sent && (
        <p role="status" class="notice">
          Sampled: {formatCount(sent)} of {formatCount(seen)} reconciles of the last second are shown, failures first.
          Counts and charts have all of them.
        </p>
      )}
      {own.length === 0 ? (
        <p class="empty">None yet.</p>
      ) : (
        <VirtualList items={own} label="Reconciles" row={(record) => <RecordRow record={record} kind={kind} />} />
      )}
    </>
  );
}
