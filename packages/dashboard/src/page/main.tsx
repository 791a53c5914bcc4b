import { render } from 'preact';
import { CachesPage, ClustersPage, WebhooksPage } from './cluster-pages.js';
import { ControllerPage } from './controller-page.js';
import { ObjectPage } from './object-page.js';
import { OverviewPage } from './overview-page.js';
import { objectHref, parseRoute, titleOf } from './route.js';
import { SearchPage } from './search-page.js';
import { Store } from './store.js';
import 'uplot/dist/uPlot.min.css';
import './style.css';

const pages = [
  { page: 'overview', href: '#/', label: 'Overview', key: 'o' },
  { page: 'caches', href: '#/caches', label: 'Caches', key: 'c' },
  { page: 'webhooks', href: '#/webhooks', label: 'Webhooks', key: 'w' },
  { page: 'clusters', href: '#/clusters', label: 'Clusters', key: 'l' },
] as const;

const keys: readonly (readonly [string, string])[] = [
  ['/', 'search objects by name'],
  ...pages.map(({ key, label }) => [key, label] as const),
  ['j', 'next link'],
  ['k', 'previous link'],
  ['Esc', 'leave a field, close this'],
];

function Page({ store }: { readonly store: Store }) {
  const route = store.route.value;
  switch (route.page) {
    case 'caches':
      return <CachesPage store={store} />;
    case 'webhooks':
      return <WebhooksPage store={store} />;
    case 'clusters':
      return <ClustersPage store={store} />;
    case 'controller':
      return <ControllerPage store={store} name={route.name} />;
    case 'object':
      return <ObjectPage key={objectHref(route.ref)} store={store} of={route.ref} />;
    case 'search':
      return <SearchPage {...route} />;
    default:
      return <OverviewPage store={store} />;
  }
}

function App({ store }: { readonly store: Store }) {
  const connection = store.connection.value;
  const route = store.route.value;
  const current = route.page;
  const query = route.page === 'search' ? route.q : '';
  return (
    <>
      <header>
        <strong class="brand">Riata</strong>
        <nav aria-label="Pages">
          {pages.map(({ page, href, label, key }) => (
            <a key={page} href={href} aria-current={current === page ? 'page' : undefined} title={`${label} (${key})`}>
              {label}
            </a>
          ))}
        </nav>
        <search>
          <form
            onSubmit={(event) => {
              event.preventDefault();
              const { value } = event.currentTarget.elements.namedItem('q') as HTMLInputElement;
              location.hash = `#/search?${new URLSearchParams({ q: value })}`;
            }}
          >
            <input
              type="search"
              name="q"
              defaultValue={query}
              placeholder="Search objects ( / )"
              aria-label="Search objects by name"
            />
          </form>
        </search>
        <span role="status" class={`badge ${connection === 'live' ? 'good' : 'bad'}`}>
          {connection}
        </span>
      </header>
      <main>
        <Page store={store} />
      </main>
      <dialog aria-labelledby="keys">
        <h2 id="keys">Keys</h2>
        <dl>
          {keys.map(([key, words]) => (
            <div key={key}>
              <dt>
                <kbd>{key}</kbd>
              </dt>
              <dd>{words}</dd>
            </div>
          ))}
        </dl>
        <form method="dialog">
          <button type="submit">Close</button>
        </form>
      </dialog>
    </>
  );
}

const store = new Store(location.hash);
document.title = titleOf(store.route.value);
addEventListener('hashchange', () => {
  store.route.value = parseRoute(location.hash);
  document.title = titleOf(store.route.value);
  scrollTo(0, 0);
});
addEventListener('keydown', (event) => {
  const isTyping = event.target instanceof HTMLInputElement;
  if (event.key === 'Escape' && isTyping) event.target.blur();
  const dialog = document.querySelector('dialog');
  // Behind an open dialog nothing moves.
  if (isTyping || dialog?.open === true || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === '/') {
    event.preventDefault();
    document.querySelector<HTMLInputElement>('input[name=q]')?.focus();
  }
  if (event.key === 'j' || event.key === 'k') focusLink(event.key === 'j' ? 1 : -1);
  if (event.key === '?') dialog?.showModal();
  const page = pages.find(({ key }) => key === event.key);
  if (page !== undefined) location.hash = page.href;
});

/** Goes to the next link of the page, or the previous one. */
function focusLink(by: 1 | -1): void {
  const links = [...document.querySelectorAll<HTMLAnchorElement>('main a[href]')];
  const at = links.indexOf(document.activeElement as HTMLAnchorElement);
  links[at < 0 ? (by > 0 ? 0 : links.length - 1) : Math.min(links.length - 1, Math.max(0, at + by))]?.focus();
}

/** After an answer that ended the stream: who is not signed in any more gets the page to do so, others try again. */
async function followAgain(): Promise<void> {
  const status = await fetch('/debug/process').then(
    (answer) => answer.status,
    () => 0,
  );
  if (status === 401 || status === 403) location.reload();
  else setTimeout(follow, 2_000);
}

function follow(): void {
  store.follow(new EventSource('/debug/stream'), followAgain);
}

follow();
render(<App store={store} />, document.getElementById('app') as HTMLElement);
