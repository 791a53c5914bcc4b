import { formatBytes, formatCount, formatMs, formatTime } from './format.js';
import { Table } from './parts.js';
import { kindHref } from './route.js';
import type { Store } from './store.js';
import { VirtualList } from './virtual-list.js';

/** What is cached, and how well it follows the server. */
export function CachesPage({ store }: { readonly store: Store }) {
  const caches = store.state.value?.caches ?? [];
  const now = store.now.value;
  return (
    <>
      <h1>Caches</h1>
      <p class="dim">
        Bytes are estimated by 20 objects of each cache as JSON. Silence is the time since the server last gave a list,
        an event or a bookmark.
      </p>
      <Table
        caption="Caches"
        head={['Kind', 'Objects', 'Bytes', 'State', 'Watch age', 'Silence', 'Pending', 'Restarts', 'Problems']}
        empty="Nothing is cached."
      >
        {caches.map((each) => (
          <tr key={each.id}>
            <td>
              <a href={kindHref(each.kind, each.cluster)}>{each.id}</a>
            </td>
            <td>{formatCount(each.objects)}</td>
            <td>{formatBytes(each.bytes)}</td>
            <td>
              <span class={`badge ${each.synced && each.consecutiveFailures === 0 ? 'good' : 'bad'}`}>
                {each.synced ? each.phase : `${each.phase}, not synced`}
              </span>
            </td>
            <td>{formatMs(now - each.phaseSince)}</td>
            <td>{each.lastEventAt === undefined ? '–' : formatMs(Math.max(0, now - each.lastEventAt))}</td>
            <td>{formatCount(each.pending)}</td>
            <td>{each.restarts}</td>
            <td class="error">
              {each.consecutiveFailures > 0 && `${each.consecutiveFailures} failures in a row: ${each.lastError}`}
              {each.failingObjects > 0 && ` ${each.failingObjects} failing objects`}
            </td>
          </tr>
        ))}
      </Table>
    </>
  );
}

/** Requests, denials, latency and the certificate of webhooks. */
export function WebhooksPage({ store }: { readonly store: Store }) {
  const { webhookServer, webhooks = [] } = store.state.value ?? {};
  const expires = webhookServer?.certificateExpiresAt;
  const calls = [...store.calls.value].reverse();
  return (
    <>
      <h1>Webhooks</h1>
      {webhookServer === undefined ? (
        <p class="empty">This operator serves no webhooks.</p>
      ) : (
        <p>
          {webhookServer.url ?? 'no address'} ·{' '}
          {expires === undefined
            ? 'no certificate of its own'
            : `certificate expires in ${formatMs(expires - store.now.value)}`}
        </p>
      )}
      <Table
        caption="Webhooks, by their newest calls"
        head={['Webhook', 'Path', 'Requests', 'Allowed', 'Denied', 'Failed', 'p50', 'p95']}
        empty="No calls yet."
      >
        {webhooks.map((each) => (
          <tr key={each.id}>
            <td>{each.id}</td>
            <td>
              <code>{each.path}</code>
            </td>
            <td>{formatCount(each.allowed + each.denied + each.failed)}</td>
            <td>{formatCount(each.allowed)}</td>
            <td>{formatCount(each.denied)}</td>
            <td>{formatCount(each.failed)}</td>
            <td>{formatMs(each.p50)}</td>
            <td>{formatMs(each.p95)}</td>
          </tr>
        ))}
      </Table>
      <h2>Newest calls</h2>
      {calls.length === 0 ? (
        <p class="empty">None yet.</p>
      ) : (
        <VirtualList
          items={calls}
          label="Calls"
          row={(call) => (
            <span class="record">
              <time>{formatTime(call.startedAt)}</time>{' '}
              <span class={`badge ${call.outcome === 'allowed' ? 'good' : 'bad'}`}>{call.outcome}</span>{' '}
              {call.operation} {call.object?.kind} {call.object?.namespace && `${call.object.namespace}/`}
              {call.object?.name} by {call.user} in {formatMs(call.durationMs)}{' '}
              <span class="dim">{call.details.join(', ')}</span>
            </span>
          )}
        />
      )}
    </>
  );
}

/** The clusters that the operator works on. */
export function ClustersPage({ store }: { readonly store: Store }) {
  return (
    <>
      <h1>Clusters</h1>
      <Table caption="Clusters" head={['Cluster', 'State', 'Caches', 'Objects', 'Problem']} empty="None.">
        {(store.state.value?.clusters ?? []).map((each) => (
          <tr key={each.id}>
            <td>{each.id === '' ? 'its own' : each.id}</td>
            <td>
              <span class={`badge ${each.healthy ? 'good' : 'bad'}`}>{each.healthy ? 'healthy' : 'unhealthy'}</span>
            </td>
            <td>{each.caches}</td>
            <td>{formatCount(each.objects)}</td>
            <td class="error">{each.problem}</td>
          </tr>
        ))}
      </Table>
    </>
  );
}
