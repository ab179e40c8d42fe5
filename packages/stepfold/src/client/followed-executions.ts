import type { StreamFrame } from "./wire/frames.ts";

/**
 * Knows what a stream has told of its executions. After a reconnection the server may tell an event once more, and a caller that
 * counts events must not count it twice.
 */
export class FollowedExecutions {
  /** The version of the last event, by the id of the execution. */
  readonly #versions: Map<string, number>;

  constructor(ids: readonly string[]) {
    this.#versions = new Map(ids.map((id) => [id, -1]));
  }

  /** True if there is nothing more to tell of any execution. */
  get areAllEnded(): boolean {
    return this.#versions.size === 0;
  }

  /** Takes the next frame. False: it is to be dropped, because it is an event once more, or about an execution that is not followed. */
  take(frame: StreamFrame): boolean {
    const id = "execution" in frame ? frame.execution : undefined;
    if (id === undefined) return true;
    const last = this.#versions.get(id);
    if (last === undefined) return false;
    if (frame.type === "event") {
      const version = frame.event?.version;
      if (!(version > last)) return false;
      this.#versions.set(id, version);
    }
    if (frame.type === "reset") this.#versions.set(id, -1);
    if (frame.type === "end") this.#versions.delete(id);
    return true;
  }
}
