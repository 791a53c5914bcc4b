import { formatKey } from './format.js';
import type { GraphNode, ObjectAnswer } from './object-data.js';
import { type ObjectRef, objectHref } from './route.js';

/** From the topmost owners down to the last owned objects, as a tree. */
export function OwnerGraph({ answer, of }: { readonly answer: ObjectAnswer; readonly of: ObjectRef }) {
  const { object, owners = [], owned = [] } = answer;
  if (object === null) return null;
  const { uid } = object.metadata;
  const own = (
    <>
      <strong>
        {of.kind} {formatKey(of)}
      </strong>
      <Below uid={uid} owned={owned} level={0} />
    </>
  );
  const above = owners.filter((node) => node.of === uid);
  return (
    <section aria-label="Owners and owned objects">
      <ul class="graph">
        {above.length === 0 ? (
          <li>{own}</li>
        ) : (
          // The object stands below its controller; other owners are beside it.
          [...above]
            .sort((a, b) => Number(a.controller) - Number(b.controller))
            .map((node, at) => (
              <Above key={node.uid} node={node} owners={owners} level={0}>
                {at === above.length - 1 ? own : <span class="dim">owns it, too</span>}
              </Above>
            ))
        )}
      </ul>
    </section>
  );
}

/** An owner with its own owners around it. */
function Above(props: {
  readonly node: GraphNode;
  readonly owners: readonly GraphNode[];
  readonly level: number;
  // biome-ignore lint/suspicious/noExplicitAny: JSX of Preact
  readonly children: any;
}) {
  const { node, owners, level, children } = props;
  const [next] = level < 5 ? owners.filter((each) => each.of === node.uid) : [];
  const shown = (
    <>
      {node.isKnown ? (
        <NodeLink of={node} />
      ) : (
        <span>
          {node.kind} {formatKey(node)} <span class="dim">(not cached, or not yours to see)</span>
        </span>
      )}
      <ul>
        <li>{children}</li>
      </ul>
    </>
  );
  if (next === undefined) return <li>{shown}</li>;
  return (
    <Above node={next} owners={owners} level={level + 1}>
      {shown}
    </Above>
  );
}

function Below(props: { readonly uid: string; readonly owned: readonly GraphNode[]; readonly level: number }) {
  const { uid, owned, level } = props;
  const nodes = owned.filter((node) => node.of === uid);
  if (nodes.length === 0 || level > 5) return null;
  return (
    <ul>
      {nodes.map((node) => (
        <li key={node.uid}>
          <NodeLink of={node} />
          <Below uid={node.uid} owned={owned} level={level + 1} />
        </li>
      ))}
    </ul>
  );
}

function NodeLink({ of }: { readonly of: GraphNode }) {
  return (
    <a href={objectHref(of)}>
      {of.kind} {formatKey(of)}
    </a>
  );
}
