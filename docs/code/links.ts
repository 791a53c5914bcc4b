import { posix } from 'node:path';

/** What a page says about the repository that can be checked: where its links lead, and which files it names. */
export interface PageReferences {
  /** Targets of relative links and pictures, with their `#anchor`. */
  readonly links: readonly string[];
  /** Paths in inline code: files (`queue/work-queue.ts`) and folders (`rest/transport/`). */
  readonly paths: readonly string[];
  /** The anchors of its headings, as GitHub forms them. */
  readonly anchors: ReadonlySet<string>;
}

export function pageReferences(markdown: string): PageReferences {
  const prose = markdown.replace(/^```[\s\S]*?^```$/gm, '').replace(/<!--[\s\S]*?-->/g, '');
  const text = prose.replace(/`[^`\n]*`/g, '');
  const links = [...text.matchAll(/\]\((?![a-z]+:)([^)\s]+)/g)].map(([, target = '']) => target);
  const code = [...prose.matchAll(/`([^`\n]+)`/g)].map(([, span = '']) => span);
  const anchors = [...prose.matchAll(/^#+ +(.+)$/gm)].map(([, heading = '']) => anchorOf(heading));
  return { links, paths: code.filter(isSourcePath), anchors: new Set(anchors) };
}

/** Whether a piece of inline code names a file or folder of this repository, and not something of the reader's. */
function isSourcePath(span: string): boolean {
  if (/[\s(){}<>…=:"'$]|^@|^\/|^~|^\.\./.test(span)) return false;
  if (/^(?:packages|tools|bench|examples|docs|designs|\.ci|\.github|\.changeset)\//.test(span)) return true;
  return /^[\w.*-]+(?:\/[\w.*-]+)*\.(?:ts|mjs|md|svg)$/.test(span) || /^[a-z][\w-]*(?:\/[\w-]+)*\/$/.test(span);
}

function anchorOf(heading: string): string {
  const plain = heading.replace(/\[([^\]]*)\]\([^)]*\)/g, '$1').toLowerCase();
  return plain.replace(/[^\p{L}\p{N}\s_-]/gu, '').replace(/\s/g, '-');
}

/**
 * Whether the repository has a file or folder of this name: from its root, beside the page, or at the end of any path,
 * so that a page about a layer can say `cache/` or `reflector.ts`. A `*` stands for any part of a name.
 */
export function isKnownPath(path: string, page: string, files: readonly string[]): boolean {
  const pattern = path.replace(/\/$/, '').split('*').map(escapeRegExp).join('[^/]*');
  const beside = escapeRegExp(posix.dirname(page));
  const known = new RegExp(`(?:^|/)${pattern}(?:/|$)|^${beside}/${pattern}(?:/|$)`);
  return files.some((file) => known.test(file));
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');
}
