import type { Client, StreamFrame } from "stepfold/client";

/** Somebody who watches an execution, and takes down what comes. */
export class StreamWatcher {
  /** The versions of the events in the order in which they came. */
  readonly versions: number[] = [];
  /** All frames that are no event. */
  readonly others: Exclude<StreamFrame, { type: "event" }>[] = [];
  /** How long after its commit each event came, in milliseconds. */
  readonly latenessMs: number[] = [];
  /** Rejects with the error that has ended the stream. */
  readonly ended: Promise<void>;
  readonly #stop = new AbortController();

  constructor(client: Client, workflowId: string) {
    this.ended = this.#follow(client, workflowId);
    // it is looked at later
    this.ended.catch(() => undefined);
  }

  /** The last version that has come; -1: none. */
  get last(): number {
    return this.versions.at(-1) ?? -1;
  }

  /** How often there was a connection. */
  get connections(): number {
    return this.others.filter((frame) => frame.type === "link" && frame.isLive).length;
  }

  /** The codes of the problems that were told. */
  get problems(): readonly string[] {
    return this.others.flatMap((frame) => (frame.type === "problem" ? [frame.code] : []));
  }

  stop(): void {
    this.#stop.abort();
  }

  async #follow(client: Client, workflowId: string): Promise<void> {
    for await (const frame of client.executions.watch(workflowId, { signal: this.#stop.signal })) {
      if (frame.type !== "event") this.others.push(frame);
      else {
        this.versions.push(frame.event.version);
        this.latenessMs.push(Date.now() - frame.event.at);
      }
    }
  }
}

/** How many of the events 0 to `last` did not come, and how many came once more or in a wrong place. */
export function lostAndDoubled(versions: readonly number[], last: number): { readonly lost: number; readonly doubled: number } {
  const came = new Set(versions.filter((version) => version >= 0 && version <= last));
  const isInOrder = (version: number, index: number): boolean => index === 0 || version > versions[index - 1]!;
  return { lost: last + 1 - came.size, doubled: versions.length - versions.filter(isInOrder).length };
}
