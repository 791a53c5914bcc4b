import type { LoggedWrite } from 'riata/manager';
import { formatTime, formatValue } from './format.js';

/** One write of the operator, field by field. */
export function WriteDiff({ of }: { readonly of: LoggedWrite }) {
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
