import { Chart } from './chart.js';
import { formatBytes, formatCount, formatMs } from './format.js';
import { controllerHref } from './route.js';
import type { Store } from './store.js';

/** All controllers and the process. */
export function OverviewPage({ store }: { readonly store: Store }) {
  const state = store.state.value;
  if (state === undefined) return <p>Connecting…</p>;
  const { process, leader, shards, controllers } = state;
  const points = store.charts.value.get('') ?? [];
  return (
    <>
      <h1>Overview</h1>
      <section class="cards" aria-label="Process">
        <div class="card wide">
          <h2>Process</h2>
          <p>
            Riata {process.riata}, Node {process.node}, up {formatMs(store.now.value - process.startedAt)},{' '}
            {formatBytes(process.rssBytes)}
          </p>
          <div class="charts">
            <Chart
              title="Event-loop lag"
              unit="ms"
              points={points}
              series={[{ name: 'loopLagMs', label: '', color: '--line' }]}
            />
            <Chart
              title="CPU"
              unit="% of a core"
              points={points}
              series={[{ name: 'cpuPercent', label: '', color: '--line' }]}
            />
            <Chart title="Memory" unit="MB" points={points} series={[{ name: 'rss', label: '', color: '--line' }]} />
          </div>
        </div>
        <div class="card wide">
          <h2>Leader</h2>
          {leader === undefined ? (
            <p>No leader election: this replica always runs.</p>
          ) : (
            <p>
              <span class={`badge ${leader.isLeader ? 'good' : ''}`}>{leader.isLeader ? 'leads' : 'waits'}</span>{' '}
              {leader.identity}
              {!leader.isLeader && leader.holder && ` (leader: ${leader.holder})`}
            </p>
          )}
          {shards !== undefined && <ShardMap shards={shards} />}
        </div>
      </section>
      <h2>Controllers</h2>
      {controllers.length === 0 && <p class="empty">No controller runs yet.</p>}
      <div class="cards">
        {controllers.map((each) => {
          const own = store.charts.value.get(each.id) ?? [];
          const oldest = each.waiting.reduce((first, { since = first }) => Math.min(first, since), store.now.value);
          return (
            <article class="card" key={each.id}>
              <h3>
                <a href={controllerHref(each.id)}>{each.id}</a>{' '}
                <span class={`badge ${each.phase === 'running' ? 'good' : ''}`}>{each.phase}</span>{' '}
                {each.failing > 0 && <span class="badge bad">{formatCount(each.failing)} failing</span>}
              </h3>
              <p>
                {formatCount(each.queued)} queued
                {each.queued > 0 && `, oldest ${formatMs(store.now.value - oldest)}`}, {formatCount(each.delayed)}{' '}
                delayed, {each.active.length} in flight
              </p>
              <Chart
                title="Reconciles"
                unit="per s"
                points={own}
                series={[
                  { name: 'rate', label: 'all', color: '--line' },
                  { name: 'errors', label: 'failed', color: '--bad', isRare: true },
                ]}
              />
              <Chart
                title="Latency"
                unit="ms"
                points={own}
                series={[
                  { name: 'p50', label: 'p50', color: '--line' },
                  { name: 'p95', label: 'p95', color: '--warn' },
                ]}
              />
              <Chart
                title="Queue"
                unit="keys"
                points={own}
                series={[{ name: 'queued', label: 'depth', color: '--line' }]}
              />
              <Chart
                title="Queue age"
                unit="ms"
                points={own}
                series={[{ name: 'ageMs', label: 'oldest key', color: '--line' }]}
              />
            </article>
          );
        })}
      </div>
    </>
  );
}

function ShardMap({
  shards,
}: {
  readonly shards: { readonly identity: string; members: readonly string[]; owners: readonly (string | null)[] };
}) {
  const { identity, members, owners } = shards;
  const count = (member: string) => owners.filter((owner) => owner === member).length;
  return (
    <>
      <h3>Shards</h3>
      <div
        class="slots"
        role="img"
        aria-label={`${owners.length} slots: ${members.map((m) => `${m} ${count(m)}`).join(', ')}`}
      >
        {owners.map((owner, slot) => (
          <span key={slot} class={`slot member-${owner === null ? 'none' : members.indexOf(owner) % 6}`} />
        ))}
      </div>
      <ul>
        {members.map((member) => (
          <li key={member}>
            {member}: {count(member)} slots{member === identity && ' (this replica)'}
          </li>
        ))}
      </ul>
    </>
  );
}
