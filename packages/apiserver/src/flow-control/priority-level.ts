/** What a PriorityLevelConfiguration says. */
export interface LevelSpec {
  readonly name: string;
  /** Its requests never wait. */
  readonly exempt: boolean;
  /** Its part of the server's seats, relative to the other levels'. */
  readonly shares: number;
  /** How much of its seats other levels may use. */
  readonly lendablePercent: number;
  /** How many seats it may use beyond its own, in percent of those. @default all that are lent */
  readonly borrowingLimitPercent: number | undefined;
  /** How many requests may wait. @default none: they are rejected */
  readonly queuing: Queuing | undefined;
}

/** The queues of a level, by upstream's numbers. */
export interface Queuing {
  readonly queues: number;
  /** Queues that one flow is spread over. */
  readonly handSize: number;
  readonly queueLengthLimit: number;
}

/** Why a request was not executed, in upstream's words. */
export type RejectReason = 'queue-full' | 'concurrency-limit' | 'time-out';

/** A request that waits for a seat. */
export interface Waiting {
  readonly flow: string;
  /** Called when the request has a seat. */
  readonly start: () => void;
}

const noSpec: LevelSpec = {
  ...{ name: '', exempt: false, shares: 0, lendablePercent: 0 },
  ...{ borrowingLimitPercent: undefined, queuing: undefined },
};

/** The seats of one priority level, and the requests that wait for them. */
export class PriorityLevel {
  #spec: LevelSpec = noSpec;
  #seats = 0;
  #executing = 0;
  #waiting = 0;
  /** By flow. The flow whose turn is next comes first. */
  readonly #flows = new Map<string, Waiting[]>();

  /** Sets the configuration, and the seats that follow from it. */
  configure(spec: LevelSpec, seats: number): void {
    this.#spec = spec;
    this.#seats = seats;
  }

  get exempt(): boolean {
    return this.#spec.exempt;
  }

  /** The seats of its own. */
  get seats(): number {
    return this.#seats;
  }

  get executing(): number {
    return this.#executing;
  }

  get waiting(): number {
    return this.#waiting;
  }

  /** Seats that other levels may use at present. */
  get lendable(): number {
    const most = Math.round((this.#seats * this.#spec.lendablePercent) / 100);
    return Math.min(most, Math.max(0, this.#seats - this.#executing));
  }

  /** Seats of other levels that it uses. */
  get borrowed(): number {
    return this.exempt ? 0 : Math.max(0, this.#executing - this.#seats);
  }

  /** Whether it may use one more seat, if another level lends it. */
  get mayBorrow(): boolean {
    const { borrowingLimitPercent } = this.#spec;
    if (borrowingLimitPercent === undefined) return true;
    return this.borrowed < Math.round((this.#seats * borrowingLimitPercent) / 100);
  }

  /** Whether a seat of its own is free. */
  get hasFreeSeat(): boolean {
    return this.exempt || this.#executing < this.#seats;
  }

  enter(): void {
    this.#executing += 1;
  }

  leave(): void {
    this.#executing -= 1;
  }

  /** Lets a request wait, or returns why it must not. */
  wait(request: Waiting): RejectReason | undefined {
    const { queuing } = this.#spec;
    if (queuing === undefined) return 'concurrency-limit';
    const { queues, handSize, queueLengthLimit } = queuing;
    const flow = this.#flows.get(request.flow);
    const isFull = (flow?.length ?? 0) >= handSize * queueLengthLimit || this.#waiting >= queues * queueLengthLimit;
    if (isFull) return 'queue-full';
    if (flow === undefined) this.#flows.set(request.flow, [request]);
    else flow.push(request);
    this.#waiting += 1;
    return undefined;
  }

  /** Takes the next request from its queue: the flows have turns. */
  next(): Waiting | undefined {
    for (const [name, flow] of this.#flows) {
      const request = flow.shift();
      this.#flows.delete(name);
      if (flow.length > 0) this.#flows.set(name, flow);
      if (request === undefined) continue;
      this.#waiting -= 1;
      return request;
    }
    return undefined;
  }

  /** Removes a request that does not wait any longer. */
  remove(request: Waiting): void {
    const flow = this.#flows.get(request.flow);
    const at = flow?.indexOf(request) ?? -1;
    if (flow === undefined || at < 0) return;
    flow.splice(at, 1);
    this.#waiting -= 1;
    if (flow.length === 0) this.#flows.delete(request.flow);
  }
}
