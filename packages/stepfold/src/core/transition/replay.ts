import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Event } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { draftAfter, workflowAt } from "./apply.ts";
import { begin } from "./begin.ts";
import { closeDraft } from "./draft/close-draft.ts";
import type { Draft } from "./draft/draft.ts";
import { openDraft } from "./draft/open-draft.ts";

/**
 * Rebuilds an execution event by event, to look at its past or to follow it while it runs. The cost of `add` depends mostly on the size of
 * the change, but the cost of `snapshot` on the size of the execution. So a page that shows an execution adds every event, and asks for a
 * snapshot only a few times a second.
 *
 * ```ts
 * const replay = new Replay(workflow);
 * for (const { event } of await store.events("order-7", -1, 500)) replay.add(event);
 * replay.version; // of the last event
 * replay.snapshot().status; // "paused"
 * ```
 */
export class Replay {
  readonly #workflow: CompiledWorkflow;
  readonly #workflowOf: (hash: string) => CompiledWorkflow;
  #draft: Draft | null;

  /**
   * @param from the snapshot from which the events go on. Default: null, the first event is `started`
   * @param workflowOf returns the definition with a hash, for later runs and restarts that follow another one. Default: always `workflow`
   */
  constructor(workflow: CompiledWorkflow, from: Snapshot | null = null, workflowOf: (hash: string) => CompiledWorkflow = () => workflow) {
    this.#workflow = workflow;
    this.#workflowOf = workflowOf;
    this.#draft = from && openDraft(workflow, from);
  }

  /** The version of the last event; -1 before the first event. */
  get version(): number {
    return this.#draft?.version ?? -1;
  }

  /**
   * Applies the next event. After `started`, events of earlier runs may be missing, because they were trimmed.
   *
   * @returns false if the event does not apply, for example because it is not the next one or the execution has ended; nothing changes then
   */
  add(event: Event): boolean {
    if (!this.#draft) {
      if (event.type !== "started") return false;
      this.#draft = begin(this.#workflow, event);
      return true;
    }
    if (event.type === "started") return false;
    const after = draftAfter(this.#draft, event, workflowAt(this.#draft, event, this.#workflowOf));
    if (after) this.#draft = after;
    return after !== null;
  }

  /** Returns the execution as it was after the last event; null before the first event. */
  snapshot(): Snapshot | null {
    return this.#draft && closeDraft(this.#draft);
  }
}
