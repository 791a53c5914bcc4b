import { useEffect, useState } from 'preact/hooks';
import { formatCount, formatKey } from './format.js';
import { fetchObjects } from './object-data.js';
import { type ObjectRef, objectHref } from './route.js';
import { VirtualList } from './virtual-list.js';

/** Objects by name, across kinds or of one kind. */
export function SearchPage({
  q,
  kind,
  apiVersion,
  cluster,
}: {
  readonly q: string;
  readonly kind?: string;
  readonly apiVersion?: string;
  readonly cluster?: string;
}) {
  const [found, setFound] = useState<Awaited<ReturnType<typeof fetchObjects>>>();
  const [problem, setProblem] = useState<string>();
  const [filter, setFilter] = useState('');
  useEffect(() => {
    let isCurrent = true;
    const names = { ...(q && { q }), ...(kind && { kind }), ...(apiVersion && { apiVersion }) };
    const query = new URLSearchParams({ ...names, ...(cluster && { cluster }) });
    fetchObjects(query).then(
      (answer) => isCurrent && setFound(answer),
      (error: unknown) => isCurrent && setProblem(error instanceof Error ? error.message : String(error)),
    );
    return () => {
      isCurrent = false;
    };
  }, [q, kind, apiVersion, cluster]);
  const needle = filter.toLowerCase();
  const objects = (found?.objects ?? []).filter(
    (each) => needle === '' || formatKey(each).toLowerCase().includes(needle),
  );
  return (
    <>
      <h1>{kind ? `Objects of kind ${kind}${cluster ? ` in cluster ${cluster}` : ''}` : `Objects named “${q}”`}</h1>
      {problem !== undefined && (
        <p role="alert" class="notice bad">
          {problem}
        </p>
      )}
      {kind && (
        <p>
          <label>
            Filter <input type="search" value={filter} onInput={(event) => setFilter(event.currentTarget.value)} />
          </label>
        </p>
      )}
      <p role="status">
        {found === undefined
          ? 'Searching…'
          : `${formatCount(objects.length)} found${found.isWhole ? '' : ', the first ones'}`}
        {found !== undefined && found.hidden.length > 0 && ` · hidden: ${found.hidden.join('; ')}`}
      </p>
      {objects.length > 0 && (
        <VirtualList
          items={objects}
          label="Objects"
          heightPx={600}
          row={(each: ObjectRef) => (
            <a href={objectHref(each)}>
              <span class="dim">{each.kind}</span> {formatKey(each)}
            </a>
          )}
        />
      )}
    </>
  );
}
