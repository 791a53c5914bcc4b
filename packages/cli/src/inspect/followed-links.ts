import { isAbortOf, type Scheduler } from 'riata/runtime';
import type { LinkSource } from './dashboard-server.js';
import { forwardedRequest, jsonOf } from './forwarded-request.js';
import type { OperatorLink } from './operator-link.js';
import type { OperatorPods } from './operator-pods.js';

/** A link, and the Pods among which it was chosen. */
export interface OpenedLink {
  readonly link: OperatorLink;
  readonly pods: Pick<OperatorPods, 'found' | 'names' | 'refresh' | typeof Symbol.asyncDispose>;
}

/** What {@link FollowedLinks} need. */
export interface FollowedLinksParts {
  /** Finds the Pods, and links to the leader, else to the first one. */
  readonly open: () => Promise<OpenedLink>;
  /** Whether the user named the Pod: then another leader makes no difference. */
  readonly isChosen: boolean;
  readonly clock: Pick<Scheduler, 'sleep'>;
  readonly signal: AbortSignal;
  /** Called when a link to another Pod replaces one. */
  readonly onMoved: (link: OperatorLink) => void;
}

/** How often the Pods are looked at, and whether the linked one still leads. */
const lookMs = 5_000;

interface Opened extends OpenedLink {
  /** Names are used again by StatefulSets; undefined if the Pod was gone right after. */
  readonly uid: string | undefined;
}

/**
 * One link at a time, to the Pod that leads: follows a change of the leader, and Pods that replace others. Requests on a
 * link that is replaced are cut, so that the page connects again, with the new one.
 */
export class FollowedLinks implements LinkSource, AsyncDisposable {
  readonly #parts: FollowedLinksParts;
  readonly #stop = new AbortController();
  #opened: Promise<Opened> | undefined;
  #last: string | undefined;
  #looking: Promise<void> | undefined;
  /** Of the Pods that were found last. */
  names: readonly string[] = [];

  constructor(parts: FollowedLinksParts) {
    this.#parts = parts;
  }

  async get(): Promise<OperatorLink> {
    this.#opened ??= this.#open();
    const opened = this.#opened;
    try {
      const { link } = await opened;
      this.#looking ??= this.#look();
      return link;
    } catch (error) {
      if (this.#opened === opened) this.#opened = undefined;
      throw error;
    }
  }

  async drop(link: OperatorLink): Promise<void> {
    const opened = this.#opened;
    if (opened === undefined || (await opened).link !== link || this.#opened !== opened) return;
    this.#opened = undefined;
    await close(await opened);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stop.abort();
    await this.#looking;
    const opened = await this.#opened?.catch(() => undefined);
    if (opened !== undefined) await close(opened);
  }

  async #open(): Promise<Opened> {
    const opened = await this.#parts.open();
    this.#moved(opened);
    return withUid(opened);
  }

  #moved({ link, pods }: OpenedLink): void {
    this.names = pods.names;
    if (this.#last !== undefined && this.#last !== link.pod) this.#parts.onMoved(link);
    this.#last = link.pod;
  }

  async #look(): Promise<void> {
    const signal = AbortSignal.any([this.#parts.signal, this.#stop.signal]);
    while (!signal.aborted) {
      try {
        await this.#parts.clock.sleep(lookMs, { signal });
        const opened = await this.#opened;
        if (opened !== undefined) await this.#check(opened, signal);
      } catch (error) {
        if (isAbortOf(signal, error)) return;
        // The cluster cannot be asked, or no Pod runs: what is open stays, and requests report what is wrong.
      }
    }
  }

  async #check(opened: Opened, signal: AbortSignal): Promise<void> {
    const { link, pods, uid } = opened;
    await pods.refresh();
    this.names = pods.names;
    if (!pods.found.some((pod) => pod.uid === uid)) return this.drop(link);
    if (this.#parts.isChosen || pods.found.length === 1) return;
    const isLeader = await leads(link, signal);
    if (isLeader === 'unknown') return this.drop(link);
    if (isLeader !== false) return;
    const next = await this.#parts.open();
    const current = await this.#opened;
    // While no Pod leads, and where the link was dropped in between, this one is not needed.
    if (next.link.isLeader !== true || current !== opened) return close(next);
    this.#opened = Promise.resolve(withUid(next));
    this.#moved(next);
    await close(opened);
  }
}

function withUid(opened: OpenedLink): Opened {
  return { ...opened, uid: opened.pods.found.find(({ name }) => name === opened.link.pod)?.uid };
}

/** Undefined for an operator without an election; `unknown` if it does not answer. */
async function leads({ url, token }: OperatorLink, signal: AbortSignal): Promise<boolean | undefined | 'unknown'> {
  try {
    const headers: Record<string, string> = token === undefined ? {} : { authorization: `Bearer ${token}` };
    const answer = await forwardedRequest(`${url}/debug/process`, { headers, signal });
    const body = (await jsonOf(answer)) as { readonly leader?: { readonly isLeader: boolean } } | undefined;
    return answer.statusCode === 200 ? body?.leader?.isLeader : 'unknown';
  } catch {
    signal.throwIfAborted();
    return 'unknown';
  }
}

async function close({ pods, link }: OpenedLink): Promise<void> {
  await link[Symbol.asyncDispose]();
  await pods[Symbol.asyncDispose]();
}
