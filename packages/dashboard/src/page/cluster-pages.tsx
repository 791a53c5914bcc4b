import { useEffect, useState } from 'preact/hooks';
import type { CacheLag } from 'riata/manager';
import { formatBytes, formatCount, formatMs, formatTime } from './format.js';
import { fetchLags } from './object-data.js';
import { Table } from './parts.js';
import { kindHref } from './route.js';
import type { Store } from './store.js';
import { VirtualList } from './virtual-list.js';

/** Each time, the operator opens a watch for each cache. */
const lagMs = 10_000;

/** Has lags measured for as long as the page is shown. */
function useLags(): ReadonlyMap<string, CacheLag> {
  const [lags, setLags] = useState<ReadonlyMap<string, CacheLag>>(new Map());
  useEffect(() => {
    let isCurrent = true;
    let timer: ReturnType<typeof setTimeout>;
    const ask = async () => {
      // What is not known shows as such; the stream says if the operator cannot be reached.
      if (!document.hidden)
        await fetchLags().then(
          (found) => isCurrent && setLags(found),
          () => {},
        );
      if (isCurrent) timer = setTimeout(ask, lagMs);
    };
    void ask();
    return () => {
      isCurrent = false;
      clearTimeout(timer);
    };
  }, []);
  return lags;
}

function Lag({ of }: { readonly of: CacheLag | undefined }) {
  if (of?.lagMs === undefined) return <span title={of?.problem}>–</span>;
  if (of.lagMs === 0) return <span>none</span>;
  return of.isAtLeast ? <span class="badge bad">≥ {formatMs(of.lagMs)}</span> : <span>{formatMs(of.lagMs)}</span>;
}

/** What is cached, and how well it follows the server. */
export function CachesPage({ store }: { readonly store: Store }) {
  const caches = store.state.value?.caches ?? [];
  const now = store.now.value;
  const lags = useLags();
  return (
    <>
      <h1>Caches</h1>
      <p class="dim">
        Lag is how much later the cache gets a change than a watch that is opened now; measured every 10 seconds while
        you look. Last event is the time since the server gave a list, an event or a bookmark. Bytes are estimated by 20
        objects of each cache as JSON.
      </p>
      <Table
        caption="Caches"
        head={[
          'Kind',
          'Objects',
          'Bytes',
          'State',
          'Watch age',
          'Lag',
          'Last event',
          'Pending',
          'Restarts',
          'Problems',
        ]}
        empty="Nothing is cached."
      >
        {caches.map((each) => (
          <tr key={each.id}>
            <td>
              {each.cluster !== undefined && <span class="dim">{each.cluster}: </span>}
              <a href={kindHref(each.kind, each.cluster)}>
                {each.cluster === undefined ? each.id : each.id.slice(each.cluster.length + 1)}
              </a>
            </td>
            <td>{formatCount(each.objects)}</td>
            <td>{formatBytes(each.bytes)}</td>
            <td>
              <span class={`badge ${each.synced && each.consecutiveFailures === 0 ? 'good' : 'bad'}`}>
                {each.synced ? each.phase : `${each.phase}, not synced`}
              </span>
            </td>
            <td>{formatMs(now - each.phaseSince)}</td>
            <td>
              <Lag of={lags.get(each.id)} />
            </td>
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
            <td class="text">
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
