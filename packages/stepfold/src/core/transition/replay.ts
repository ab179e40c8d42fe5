import type { CompiledWorkflow } from "../definition/compiled.ts";
import type { Event } from "../snapshot/event.ts";
import type { Snapshot } from "../snapshot/snapshot.ts";
import { begin } from "./begin.ts";
import { closeDraft } from "./draft/close-draft.ts";
import type { Draft } from "./draft/draft.ts";
import { openDraft } from "./draft/open-draft.ts";
import { evolve } from "./evolve.ts";

/**
 * An execution that is followed event by event: the past of one, or one that goes on. To add an event costs what it changes, and only
 * `snapshot` what the execution holds; so a page that shows an execution adds all events, and asks for a snapshot a few times a second.
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
  #draft: Draft | null;

  /** @param from goes on from here. Default: from the first event */
  constructor(workflow: CompiledWorkflow, from: Snapshot | null = null) {
    this.#workflow = workflow;
    this.#draft = from && openDraft(workflow, from);
  }

  /** That of the last event; -1 before the first. */
  get version(): number {
    return this.#draft?.version ?? -1;
  }

  /**
   * Takes the next event.
   *
   * @returns false if it does not follow, because it is not the next one or the execution has ended: then nothing is changed
   */
  add(event: Event): boolean {
    if (this.#draft) return event.type !== "started" && evolve(this.#draft, event);
    if (event.type !== "started") return false;
    this.#draft = begin(this.#workflow, event);
    return true;
  }

  /** The execution as it was after the last event; null before the first. */
  snapshot(): Snapshot | null {
    return this.#draft && closeDraft(this.#draft);
  }
}
